"""Build the paper's tables from its published numbers, in the columns of a measured table.

config/paper/printed.csv has the cells that the other published numbers do not determine: speed
ratios over a set whose times are not listed, and numbers that were computed before rounding. Rows
of training time are those of config/paper/compute.csv, of the groups that were measured.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

from ...analysis.reader import Aggregates, read_paper_aggregates, read_printed
from ...analysis.schemas import RUN_AGGREGATES
from ...config import Config, Item, load_protocol
from ..items import build_item
from .sheet import Sheet
from .training_time import build_published_times


def build_published(source: Aggregates, item: Item, measured: Sequence[Sheet]) -> list[Sheet]:
    """Build the paper's table, of super-resolution with the run's scales and timed sets.

    Raises `UserError` when the paper has none.
    """
    if item.needs in [(runs,) for runs in RUN_AGGREGATES.values()]:
        shown = [row.about[-1] for row in measured[0].groups[0].rows]
        return build_published_times(item.part, shown)
    paper = copy.deepcopy(load_protocol())
    for name in ("scales", "trained_scales", "timing"):
        paper["asr"][name] = source.config["asr"][name]
    sheets: list[Sheet] = build_item(item, read_paper_aggregates(paper))
    # Printed means over timed sets stand only where the sets are the paper's.
    left_out: set[str] = set()
    if not times_the_papers_sets(source.config):
        left_out = {column.key for sheet in sheets for column in sheet.columns if column.timed}
    printed = {
        (row, column): text
        for (table, row, column), text in read_printed().items()
        if table == item.item and column not in left_out
    }
    return [replace(sheet, printed=printed) for sheet in sheets]


def times_the_papers_sets(config: Config) -> bool:
    """Return whether super-resolution is timed on the paper's sets, at its scale factor."""
    timing, published = config["asr"]["timing"], load_protocol()["asr"]["timing"]
    return all(timing[key] == published[key] for key in ("datasets", "scale"))
