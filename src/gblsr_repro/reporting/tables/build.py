"""Every table by name, alone and beside the paper's, and writing them as LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ...analysis.reader import Aggregates
from ...config import Config, Item
from ...errors import UserError
from ...evaluation import OURS
from ...files import write_text
from .. import captions
from ..items import make, make_each, select_items
from ..layout import Table
from ..rendering import render
from . import cost, criteria, native, superres  # noqa: F401 (they register what makes tables)
from .comparison import interleave
from .published import build_published

VERSUS = "_vs_paper"
OTHER_CLOCKS = {OURS: "own path"}
"""How the rows of times by the clocks that the paper does not have are called."""

Builder = Callable[[Aggregates], list[Table]]


def builders(config: Config) -> dict[str, Builder]:
    """Return what builds each table that a config can make, by name.

    Each stands alone, and then those that the paper has once more with its values beside.
    """
    items = select_items("table", config)
    alone: dict[str, Builder] = {name: partial(build, item=item) for name, item in items.items()}
    beside: dict[str, Builder] = {
        name + VERSUS: partial(build_beside_paper, item=item)
        for name, item in items.items()
        if item.compared == "yes"
    }
    return alone | beside


def build(source: Aggregates, item: Item) -> list[Table]:
    """Build a table with its caption; `UserError` names what is missing."""
    return [_with_caption(table, source, item) for table in make(item, source)]


def _with_caption(
    table: Table, source: Aggregates, item: Item, clocks: Sequence[str] | None = None
) -> Table:
    title = item.title if clocks is None else f"{item.title}, beside the paper's values"
    return replace(
        table,
        title=title,
        caption=captions.caption(item, source.provenance, table.notes, clocks),
        differences=captions.differences(item, source.provenance, table.columns_shown),
    )


def build_beside_paper(source: Aggregates, item: Item) -> list[Table]:
    """Build a table with the paper's rows above the measured ones; `UserError` as `build`.

    Columns that are all one's own get dashes.
    """
    folder, config = source.folder, source.config
    # The paper has no bicubic row, so it stands where the measured numbers have company only.
    measured = make(item, Aggregates(folder, config, bicubic=True))
    try:
        published = build_published(source, item, measured)
    except UserError:
        published = [replace(table, groups=[]) for table in measured]
    clocks = OTHER_CLOCKS if any(table.timed for table in measured) else {}
    by_clock = {
        label: make(item, Aggregates(folder, config, clock)) for clock, label in clocks.items()
    }
    tables = []
    for number, table in enumerate(measured):
        others = {label: made[number] for label, made in by_clock.items()}
        tables.append(interleave(table, published[number], others))
    labels = {row.cells[1] for table in tables for row in table.rows if len(row.cells) > 1}
    shown = [clock for clock, label in clocks.items() if label in labels]
    return [_with_caption(table, source, item, shown) for table in tables]


def write(
    aggregates: Path, output: Path, config: Config, only: Sequence[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """Render tables to `output`/<name>.tex, see `items.make_each`."""
    source = Aggregates(aggregates, config)
    known = builders(config)

    def write_one(name: str) -> None:
        write_text(output / f"{name}.tex", render("table.tex.j2", tables=known[name](source)))

    return make_each("table", known, only, write_one, aggregates)
