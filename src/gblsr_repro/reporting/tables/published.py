"""Build the paper's tables from its published numbers, in the columns of a measured table.

config/paper/printed.csv has the cells that the other published numbers do not determine: speed
ratios over a set whose times are not listed, and numbers that were computed before rounding. Rows
of training time are those of config/paper/compute.csv.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...analysis.reader import Aggregates, read_rows
from ...config import Config, Item, find_repository_root, load_protocol
from ..items import build_item
from ..layout import Row, Table
from .training_time import build_training_time, format_clock, group_runs

ANY_ROW = "*"  # of printed.csv


def build_published(source: Aggregates, item: Item, measured: Sequence[Table] = ()) -> list[Table]:
    """Build a table with the paper's rows, in the columns of the measured one.

    Rows and cells that the paper lacks are absent or dashes. Raises `UserError` when it has none.
    """
    if item.maker == build_training_time.__name__:
        return [_build_training_time(source, item.part, measured[0])]
    config = _adapt_protocol(source.config)
    timing, paper_timing = source.config["asr"]["timing"], load_protocol()["asr"]["timing"]
    same_sets = all(timing[key] == paper_timing[key] for key in ("datasets", "scale"))
    printed = _read_printed(item.item)
    tables = []
    for table in build_item(item, Aggregates.paper(config)):
        # Means over timed sets stand only where the sets are the paper's.
        fixed = [] if same_sets else table.timed
        groups = [
            [_insert_printed(row, table, printed, fixed) for row in group] for group in table.groups
        ]
        tables.append(replace(table, groups=groups))
    return tables


def _adapt_protocol(config: Config) -> Config:
    """Return the paper's configuration with the columns and rows of a run's tables."""
    paper = copy.deepcopy(load_protocol())
    paper["native"]["data"]["evaluate"] = config["native"]["data"]["evaluate"]
    paper["native"]["arms"] = config["native"]["arms"]
    for key in ("evaluate", "scales", "trained_scales", "timing", "methods"):
        paper["asr"][key] = config["asr"][key]
    return paper


def _read_printed(table: str) -> dict[tuple[str, str], str]:
    """Read the printed cells of a table, by the key of their row and the heading of the column."""
    rows = read_rows(find_repository_root() / "config" / "paper" / "printed.csv", ("table", "row"))
    return {(row["row"], row["column"]): row["text"] for row in rows if row["table"] == table}


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


def _build_training_time(source: Aggregates, benchmark: str, measured: Table) -> Table:
    """Build the rows of training time (Tables 16 and 17) of the groups that are measured here."""
    groups = group_runs(source, benchmark)
    path = find_repository_root() / "config" / "paper" / "compute.csv"
    published = [
        row for row in read_rows(path, ("benchmark", "subjects")) if row["benchmark"] == benchmark
    ]
    body, bottom = measured.groups
    rows: list[Row] = []
    runs = 0
    total = 0.0
    for row in body:
        members = {*groups[row.key]}
        paper = next((p for p in published if {*p["subjects"].split()} <= members), None)
        if paper is None:
            continue
        span = "–".join(
            format_clock(float(paper[f"{end}_seconds"])) for end in ("shortest", "longest")
        )
        seconds = float(paper["total_seconds"])
        rows.append(Row(row.key, [row.cells[0], paper["runs"], span, format_clock(seconds)]))
        runs += int(paper["runs"])
        total += seconds
    last = bottom[0]
    sums = Row(last.key, [last.cells[0], f"**{runs}**", "", f"**{format_clock(total)}**"])
    return replace(measured, groups=[rows, [sums] if rows else []])
