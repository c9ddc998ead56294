"""Build every table, alone and beside the paper's, and write them as LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...analysis.reader import Aggregates
from ...config import Item
from ...errors import UserError
from ...evaluation import FAST
from ...files import write_text
from ..captions import compose_caption, point_to_conditions
from ..items import build_item
from ..layout import DASH, Cells, Row, Span, Table, View
from ..rendering import render_template
from .published import build_published, times_the_papers_sets

BESIDE_PAPER = "_vs_paper"
FAST_PATH = "fast path"
"""The name of rows with times by this package's clock."""
LEAD = "The paper's value, with the paper's bold numbers, stands above the value measured here"
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
    return [_add_caption(table, source, item) for table in build_item(item, source, View())]


def _add_caption(
    table: Table, source: Aggregates, item: Item, title: str = "", lead: Sequence[str] = ()
) -> Table:
    """Add the caption; its title is the item's where none is given."""
    columns = table.evaluation_columns
    caption = compose_caption(item, source.provenance, title, lead, table.notes, columns)
    return replace(table, caption=caption)


def build_beside_paper(source: Aggregates, item: Item) -> list[Table]:
    """Build the tables of an item with the paper's rows above the measured ones.

    Columns that the paper does not have get dashes. `UserError` names what is missing.
    """
    # The paper has no bicubic row, so it stands where the measured numbers have company only.
    measured = build_item(item, source, View(bicubic=True))
    try:
        published = build_published(source, item, measured)
    except UserError:
        published = [replace(table, groups=[]) for table in measured]
    # By the clock of the fast path, of which the paper has no times.
    fast = build_item(item, source, View(FAST)) if any(table.timed for table in measured) else []
    tables = [*map(interleave, measured, published, fast or measured)]
    rows = [row for table in tables for row in table.rows]
    lead = [LEAD]
    if any(FAST_PATH in row.cells for row in rows):
        lead.append(LEAD_FAST_PATH)
    if "asr_latency" in item.needs and not times_the_papers_sets(source.config):
        lead.append(LEAD_OTHER_SETS)
    title = f"{item.title}, beside the paper's values"
    return [_add_caption(table, source, item, title, lead) for table in tables]


def interleave(measured: Table, published: Table, own: Table) -> Table:
    """Set the published rows of a table above the measured ones of the same key.

    Below them stand the `timed` cells of `own`, the same table by this package's clock, in the rows
    where they have any. Rows of one spanning cell head their group. A measured row without a
    published counterpart gets dashes. Text that both rows share in a paragraph column stands once.
    """
    groups = []
    for number, group in enumerate(measured.groups):
        paper_group = published.groups[number] if number < len(published.groups) else []
        paper_cells = {row.key: row.cells[1:] for row in paper_group if row.key}
        rows: list[Row] = []
        for row, own_row in zip(group, own.groups[number], strict=True):
            rows += _stack_rows(row, paper_cells, own_row, measured)
        groups.append(rows)
    return replace(
        measured,
        label=f"{measured.label}-vs-paper",
        columns=[measured.columns[0], "l", *measured.columns[1:]],
        header=[[cells[0], "", *cells[1:]] for cells in measured.header],
        groups=groups,
        size="scriptsize",
        paired=True,
    )


def _stack_rows(row: Row, paper_cells: Mapping[str, Cells], own: Row, table: Table) -> list[Row]:
    """Stack the published row of a key, the measured one, and the times of the fast path."""
    heading = row.cells[0]
    if isinstance(heading, Span):
        return [Row(row.key, [replace(heading, columns=heading.columns + 1)])]
    above = paper_cells.get(row.key, [DASH] * (len(table.columns) - 1))
    types = table.columns[1:]
    below = [
        "" if column_type.startswith("p") and measured == published else measured
        for measured, published, column_type in zip(row.cells[1:], above, types, strict=True)
    ]
    rows = [Row(row.key, [heading, "paper", *above]), Row(row.key, ["", "here", *below])]
    times = {place: own.cells[place] for place in table.timed}
    if {*times.values()} - {DASH}:
        cells = [times.get(place, "") for place in range(1, len(table.columns))]
        rows.append(Row(row.key, ["", FAST_PATH, *cells]))
    return rows


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
