"""Build the paper's tables from its published numbers, in the columns of a measured table.

config/paper/printed.csv has the cells that the other published numbers do not determine: speed
ratios over a set whose times are not listed, and numbers that were computed before rounding. Rows
of training time are those of config/paper/compute.csv, of the groups that were measured.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from ...analysis.reader import Aggregates, read_paper_aggregates, read_rows
from ...analysis.schemas import RUNS
from ...config import Config, Item, find_repository_root, load_protocol
from ..items import build_item
from ..layout import Row, Table, View
from .training_time import build_published_times

ANY_ROW = "*"  # of printed.csv


@cache
def read_printed() -> dict[tuple[str, str, str], str]:
    """Read the printed cells by table, row and heading of the column."""
    rows = read_rows(find_repository_root() / "config" / "paper" / "printed.csv", ("table", "row"))
    return {(row["table"], row["row"], row["column"]): row["text"] for row in rows}


def build_published(source: Aggregates, item: Item, measured: Sequence[Table] = ()) -> list[Table]:
    """Build a table with the paper's rows, in the columns of the measured one.

    Rows and cells that the paper lacks are absent or dashes. Raises `UserError` when it has none.
    """
    config = _adapt_protocol(source.config)
    printed = {key[1:]: text for key, text in read_printed().items() if key[0] == item.item}
    if item.needs in [(runs,) for runs in RUNS.values()]:
        shown = [row.key for row in measured[0].groups[0]]
        built = build_published_times(item.part, shown)
    else:
        built = build_item(item, read_paper_aggregates(config), View())
    tables = []
    for table in built:
        # Printed means over timed sets stand only where the sets are the paper's.
        fixed = [] if times_the_papers_sets(source.config) else table.timed
        groups = [
            [_insert_printed(row, table, printed, fixed) for row in group] for group in table.groups
        ]
        tables.append(replace(table, groups=groups))
    return tables


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
    row: Row, table: Table, printed: Mapping[tuple[str, str], str], fixed: Sequence[int]
) -> Row:
    """Insert the printed cells into a row, but for the columns `fixed`."""
    cells = list(row.cells)
    for place, heading in enumerate(table.header[-1]):
        text = printed.get((row.key, str(heading)), printed.get((ANY_ROW, str(heading))))
        if text is not None and place not in fixed:
            cells[place] = f"**{text}**" if str(cells[place]).startswith("**") else text
    return Row(row.key, cells)
