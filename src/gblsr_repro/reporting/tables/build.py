"""Build every table by name, alone and beside the paper's, and write them as LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ...analysis.reader import Aggregates
from ...config import Item
from ...errors import UserError
from ...evaluation import OURS
from ...files import write_text
from ..captions import (
    compose_caption,
    list_conditions,
    point_to_conditions,
    print_caption,
)
from ..items import build_item, list_differences
from ..layout import Table, View
from ..rendering import join_labels, render_template
from .comparison import OWN_PATH, interleave
from .published import build_published, times_the_papers_sets

BESIDE_PAPER = "_vs_paper"
LEAD = "The paper's value, with the paper's bold numbers, stands above the value measured here"
LEAD_OWN_PATH = (
    f"“{OWN_PATH}”: this package's own path, the fast call that its users get, which is no part of "
    "the paper and is not judged"
)
LEAD_OTHER_SETS = (
    "The paper's speed-ups and memory reductions here are computed from its times on the sets that "
    "were timed, and are not the means over its own sets that it prints"
)

Builder = Callable[[Aggregates], list[Table]]


def list_builders(item: Item) -> dict[str, Builder]:
    """List the builders of a table by name: alone and, if it is compared, beside the paper's."""
    builders: dict[str, Builder] = {item.item: partial(build_tables, item=item)}
    if item.compared == "yes":
        builders[item.item + BESIDE_PAPER] = partial(build_beside_paper, item=item)
    return builders


def build_tables(source: Aggregates, item: Item) -> list[Table]:
    """Build the tables of an item with their captions; `UserError` names what is missing."""
    return [_add_caption(table, source, item) for table in build_item(item, source, View())]


def _add_caption(
    table: Table, source: Aggregates, item: Item, title: str = "", lead: Sequence[str] = ()
) -> Table:
    """Add title (default: the item's), caption, conditions and differences from the paper."""
    provenance = source.provenance
    return replace(
        table,
        title=title or item.title,
        caption=compose_caption(item, provenance, table.notes, lead),
        conditions=list_conditions(item, provenance),
        differences=list_differences(provenance, item, table.evaluation_columns),
    )


def _print_caption(table: Table, source: Aggregates) -> str:
    """Return the caption of a table that leaves the page, with a pointer to its conditions."""
    pointer = point_to_conditions(source.provenance, table.differences)
    return print_caption(table.title, f"{table.caption} {pointer}")


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
    # By this package's clock, of which the paper has no times.
    own = build_item(item, source, View(OURS)) if any(table.timed for table in measured) else []
    tables = [*map(interleave, measured, published, own or measured)]
    rows = [row for table in tables for row in table.rows]
    lead = [LEAD]
    if any(OWN_PATH in row.cells for row in rows):
        lead.append(LEAD_OWN_PATH)
    if "asr_latency" in item.needs.split() and not times_the_papers_sets(source.config):
        lead.append(LEAD_OTHER_SETS)
    title = f"{item.title}, beside the paper's values"
    return [_add_caption(table, source, item, title, lead) for table in tables]


def write_table(item: Item, source: Aggregates, folder: Path) -> list[Path]:
    """Write a table as LaTeX, also beside the paper's values; return the paths.

    Raises `UserError` naming what is missing, before anything is written.
    """
    texts = {}
    for name, build in list_builders(item).items():
        tables = [(join_labels(table), _print_caption(table, source)) for table in build(source)]
        texts[folder / f"{name}.tex"] = render_template("table.tex.j2", tables=tables)
    for path, text in texts.items():
        write_text(path, text)
    return [*texts]
