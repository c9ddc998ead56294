"""Every table by name, and rendering them from a folder of aggregates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..config import Config, items
from ..errors import UserError
from ..evaluation import GRAPH, OURS
from ..files import write_text
from . import printed, table_asr, table_cost, table_native  # noqa: F401 (register)
from .aggregates import Aggregates
from .captions import with_readings
from .layout import TABLES, Float, Maker, Table, beside, render

Builder = Callable[[Aggregates], Table]
VERSUS = "_vs_paper"
OTHER_CLOCKS = {OURS: "own path", GRAPH: "CUDA graph"}
CLOCK_NOTES = {
    "own path": "“own path”: this package's own path, the fast call that its users get, which is "
    "no part of the paper and is not judged",
    "CUDA graph": "“CUDA graph”: that call replayed as one graph",
}


def builders(config: Config) -> dict[str, Builder]:
    """Return the maker of every table: one main table per evaluation column, then the others.

    Those that config/items.tsv says to compare also come as `<name>_vs_paper`, with the published
    value above the measured one.
    """
    columns = config["native"]["data"]["evaluate"]
    made = {f"main_{column}": partial(table_native.main, column=column) for column in columns}
    made |= {name: entry.make for name, entry in TABLES.items()}
    alone = {name for name, item in items().items() if item.compared == "no"}
    versus = {
        name + VERSUS: partial(_versus, name=name, make=make)
        for name, make in made.items()
        if name not in alone
    }
    return {name: partial(_table, name=name, make=make) for name, make in made.items()} | versus


def _table(source: Aggregates, name: str, make: Maker) -> Table:
    made = make(source)
    return Table(name, [made] if isinstance(made, Float) else made)


def _versus(source: Aggregates, name: str, make: Maker) -> Table:
    """Build a table from the aggregates and put the paper's rows above the measured ones."""
    # The paper has no bicubic row, so it stands where the measured numbers have company only.
    fuller = partial(make, bicubic=True) if name in TABLES and TABLES[name].bicubic else make
    measured = _table(source, name, fuller)
    notes = [printed.NOTES[measured.name]] if measured.name in printed.NOTES else []
    others: dict[str, Sequence[Float]] = {}
    if any(part.timed for part in measured.floats):
        others = {
            told: _table(Aggregates(source.folder, source.config, clock), name, make).floats
            for clock, told in OTHER_CLOCKS.items()
        }
    floats = [
        beside(part, published, {told: other[i] for told, other in others.items()})
        for i, (part, published) in enumerate(
            zip(measured.floats, _published(source, measured, make), strict=True)
        )
    ]
    notes += [
        note
        for told, note in CLOCK_NOTES.items()
        if any(line[1:2] == [told] for part in floats for group in part.groups for line in group)
    ]
    return Table(
        measured.name + VERSUS, [replace(f, caption=_both(f.caption, notes)) for f in floats]
    )


def _published(source: Aggregates, measured: Table, make: Maker) -> Sequence[Float]:
    """Return the floats with the paper's rows.

    Columns that are all one's own get dashes; a main table of such a column is refused.
    """
    try:
        return printed.paper_floats(
            partial(_table, name=measured.name, make=make), source, measured
        )
    except UserError as error:
        if not measured.name.startswith("main_"):
            return [replace(part, groups=[]) for part in measured.floats]
        raise UserError(
            f"The paper has no values to put beside {measured.name}; ask for the table itself."
        ) from error


def _both(caption: str, notes: Iterable[str]) -> str:
    title, end, rest = caption.partition(".**")
    return (
        f"{title}, beside the paper's values{end} The paper's value stands above the one measured "
        f"here, with its own bold numbers.{''.join(f' {note}.' for note in notes)}{rest}"
    )


def write(
    aggregates: Path, output: Path, config: Config, only: Sequence[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """Render tables to `output`/<name>.tex; return the names rendered and why others were not.

    Without `only` every table whose aggregates are there is rendered. Raises `UserError` for an
    unknown name, for a table of `only` that cannot be made, and when nothing could be.
    """
    known = builders(config)
    stranger = next((name for name in only if name not in known), None)
    if stranger is not None:
        raise UserError(f"There is no table {stranger!r}; known are {', '.join(known)}.")
    if not only and not aggregates.is_dir():
        raise UserError(f"{aggregates} is not a folder; name one that holds aggregates.")
    source = Aggregates(aggregates, config)
    rendered, skipped = [], {}
    for name in only or known:
        try:
            table = known[name](source)
        except UserError as error:
            if only:
                raise
            skipped[name] = str(error)
            continue
        item = name.removesuffix(VERSUS)
        floats = [replace(f, caption=with_readings(f.caption, item)) for f in table.floats]
        write_text(output / f"{name}.tex", render(replace(table, floats=floats)))
        rendered.append(name)
    if not rendered:
        raise UserError(f"{aggregates} holds nothing that a table can be made from.")
    return rendered, skipped
