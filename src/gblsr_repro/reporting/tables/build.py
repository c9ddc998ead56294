"""Build every table, alone and beside the paper's, and write them as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...analysis.reader import Aggregates
from ...config import Item
from ...errors import UserError
from ...evaluation import FAST
from ...files import write_text
from ..captions import compose_caption, point_to_conditions
from ..items import build_item
from ..layout import Table, View
from ..rendering import render_template
from .comparison import FAST_PATH, interleave
from .published import build_published, times_the_papers_sets

BESIDE_PAPER = "_vs_paper"
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
    if "asr_latency" in item.needs.split() and not times_the_papers_sets(source.config):
        lead.append(LEAD_OTHER_SETS)
    title = f"{item.title}, beside the paper's values"
    return [_add_caption(table, source, item, title, lead) for table in tables]


def write_table(item: Item, source: Aggregates, folder: Path) -> list[Path]:
    """Write a table as LaTeX, also beside the paper's values; return the paths.

    Raises `UserError` naming what is missing, before anything is written.
    """
    texts = {folder / f"{item.item}.tex": _render(build_tables(source, item), source)}
    if item.compared == "yes":
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
