"""Build the paper's tables from its published numbers, in the columns of a measured table.

config/paper/printed.csv has the cells that the other published numbers do not determine: speed
ratios over a set whose times are not listed, and numbers that were computed before rounding. Rows
of training time are those of config/paper/compute.csv, of the groups that were measured.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...analysis.reader import Aggregates, read_paper_aggregates, read_printed
from ...analysis.schemas import RUN_FOLDERS
from ...analysis.statistics import Summary
from ...config import Config, Item, load_protocol
from ..items import build_item
from .sheet import Sheet, SheetRow
from .training_time import build_published_times

ANY_ROW = "*"  # of printed.csv


def build_published(source: Aggregates, item: Item, measured: Sequence[Sheet]) -> list[Sheet]:
    """Build a table with the paper's rows, in the columns of the measured one.

    Rows and cells that the paper lacks are absent or dashes. Raises `UserError` when it has none.
    """
    config = _adapt_protocol(source.config)
    if item.needs in [(runs,) for runs in RUN_FOLDERS.values()]:
        shown = [row.key for row in measured[0].groups[0].rows]
        built = build_published_times(item.part, shown)
    else:
        built = build_item(item, read_paper_aggregates(config))
    printed = {key[1:]: text for key, text in read_printed().items() if key[0] == item.item}
    # Printed means over timed sets stand only where the sets are the paper's.
    with_times = times_the_papers_sets(source.config)
    return [_insert_printed(sheet, printed, with_times) for sheet in built]


def times_the_papers_sets(config: Config) -> bool:
    """Return whether super-resolution is timed on the paper's sets, at its scale factor."""
    timing, published = config["asr"]["timing"], load_protocol()["asr"]["timing"]
    return all(timing[key] == published[key] for key in ("datasets", "scale"))


def _adapt_protocol(config: Config) -> Config:
    """Return the paper's configuration with the columns and rows of a run's tables."""
    paper = copy.deepcopy(load_protocol())
    paper["native"]["data"]["evaluate"] = config["native"]["data"]["evaluate"]
    paper["native"]["arms"] = config["native"]["arms"]
    for key in ("evaluate", "scales", "trained_scales", "timing", "methods"):
        paper["asr"][key] = config["asr"][key]
    return paper


def _insert_printed(
    sheet: Sheet, printed: Mapping[tuple[str, str], str], with_times: bool
) -> Sheet:
    """Insert the printed cells into a table, those that depend on the clock where asked to."""
    columns = [column for column in sheet.columns if with_times or not column.timed]

    def insert(row: SheetRow) -> SheetRow:
        cells = dict(row.cells)
        for column in columns:
            text = printed.get((row.key, column.key), printed.get((ANY_ROW, column.key)))
            if text is not None:
                cells[column.key] = Summary(float(text)) if column.form else text
        return replace(row, cells=cells)

    groups = [replace(group, rows=[*map(insert, group.rows)]) for group in sheet.groups]
    return replace(sheet, groups=groups)
