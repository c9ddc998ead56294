"""Build every table, alone and beside the paper's, and write them as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ...analysis.reader import Aggregates
from ...config import Item
from ...errors import UserError
from ...evaluation import FAST
from ...files import write_text
from ..captions import Caption, compose_caption, point_to_conditions
from ..items import build_item
from ..layout import DASH, BodyRow, Span, Table
from ..rendering import render_template
from .published import build_published, times_the_papers_sets
from .sheet import Sheet, SheetGroup, Texts

BESIDE_PAPER = "_vs_paper"
FAST_PATH = "fast path"
"""The name of rows with times by this package's clock."""
BESIDE_LEAD = (
    "The paper's value, with the paper's bold numbers, stands above the value measured here"
)
LEAD_FAST_PATH = (
    f"“{FAST_PATH}”: the faster call that users of this package get, which is no part of the paper "
    "and is not judged"
)
LEAD_OTHER_SETS = (
    "The paper's speed-ups and memory reductions here are computed from its times on the sets that "
    "were timed, and are not the means over its own sets that it prints"
)


def build_tables(source: Aggregates, item: Item) -> list[Table]:
    """Build the tables of an item with their captions; `UserError` names what is missing."""
    sheets: list[Sheet] = [sheet.leave_out_beside_rows() for sheet in build_item(item, source)]
    return [
        replace(set_table(sheet), caption=_compose_caption(sheet, source, item)) for sheet in sheets
    ]


def build_beside_paper(source: Aggregates, item: Item) -> list[Table]:
    """Build the tables of an item with the paper's rows above the measured ones.

    Columns that the paper does not have get dashes. `UserError` names what is missing.
    """
    measured: list[Sheet] = build_item(item, source)
    paper: Texts = {}
    with suppress(UserError):  # a table that the paper does not have
        for sheet in build_published(source, item, measured):
            paper |= sheet.format_cells()
    timed = any(column.timed for sheet in measured for column in sheet.columns)
    fast = build_item(item, source.choose_clock(FAST)) if timed else measured
    tables = [set_table_beside(*sheets, paper) for sheets in zip(measured, fast, strict=True)]
    lead = [BESIDE_LEAD]
    if any(FAST_PATH in row.cells for table in tables for row in table.rows):
        lead.append(LEAD_FAST_PATH)
    if "asr_latency" in item.needs and not times_the_papers_sets(source.config):
        lead.append(LEAD_OTHER_SETS)
    title = f"{item.title}, beside the paper's values"
    return [
        replace(table, caption=_compose_caption(sheet, source, item, title, lead))
        for table, sheet in zip(tables, measured, strict=True)
    ]


def _compose_caption(
    sheet: Sheet, source: Aggregates, item: Item, title: str = "", lead: Sequence[str] = ()
) -> Caption:
    """Compose the caption of a table; its title is the item's where none is given."""
    columns = sheet.evaluation_columns
    return compose_caption(item, source.provenance, title, lead, sheet.notes, columns)


def set_table(sheet: Sheet) -> Table:
    """Set a table from one side alone."""
    texts, groups = sheet.format_cells(), []
    for group in sheet.groups:
        rows = _set_heading(group, len(sheet.columns) + 1)
        for row in group.rows:
            cells = [texts[row.about, column.key] for column in sheet.columns]
            rows.append(BodyRow([row.name, *cells]))
        groups.append(rows)
    return Table(
        sheet.label,
        [sheet.name_type, *(column.type for column in sheet.columns)],
        sheet.header,
        groups,
    )


def set_table_beside(measured: Sheet, fast: Sheet, paper: Texts) -> Table:
    """Set a table with the published cells of a row above the measured ones, and its fast path.

    Cells that the paper does not have are dashes. Text that both have in a paragraph column stands
    once. The fast path has a row of its times where there are any.
    """
    columns, groups = measured.columns, []
    here, timed = measured.format_cells(), fast.format_cells()
    for group in measured.groups:
        rows = _set_heading(group, len(columns) + 2)
        for row in group.rows:
            keys = [(row.about, column.key) for column in columns]
            above, below = [paper.get(key, DASH) for key in keys], [here[key] for key in keys]
            for place, column in enumerate(columns):
                if column.type.startswith("p") and below[place] == above[place]:
                    below[place] = ""
            times = [timed[key] if c.timed else "" for key, c in zip(keys, columns, strict=True)]
            rows += [BodyRow([row.name, "paper", *above]), BodyRow(["", "here", *below])]
            if not {DASH, ""}.issuperset(times):
                rows.append(BodyRow(["", FAST_PATH, *times]))
        groups.append(rows)
    return Table(
        f"{measured.label}-vs-paper",
        [measured.name_type, "l", *(column.type for column in columns)],
        [[cells[0], "", *cells[1:]] for cells in measured.header],
        groups,
    )


def _set_heading(group: SheetGroup, columns: int) -> list[BodyRow]:
    return [BodyRow([Span(group.heading, columns, "l")])] if group.heading else []


def write_table(item: Item, source: Aggregates, folder: Path) -> list[Path]:
    """Write a table as LaTeX, also beside the paper's values; return the paths.

    Raises `UserError` naming what is missing, before anything is written.
    """
    texts = {folder / f"{item.item}.tex": _render(build_tables(source, item), source)}
    if item.compared:
        path = folder / f"{item.item}{BESIDE_PAPER}.tex"
        texts[path] = _render(build_beside_paper(source, item), source)
    for path, text in texts.items():
        write_text(path, text)
    return [*texts]


def _render(tables: Sequence[Table], source: Aggregates) -> str:
    """Render tables as LaTeX, with captions that point to their conditions."""
    captions = [
        f"{table.caption.printed} {point_to_conditions(table.caption, source.provenance)}"
        for table in tables
    ]
    return render_template("table.tex.j2", tables=zip(tables, captions, strict=True))
