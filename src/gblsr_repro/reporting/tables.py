"""Every table by name, and rendering them from a folder of aggregates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..config import Config
from ..errors import UserError
from ..evaluation import GRAPH, OURS
from ..files import write_text
from . import printed, table_asr, table_cost, table_native
from .aggregates import Aggregates
from .captions import with_readings
from .layout import Float, Table, beside, render

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

    All but the licences also come as `<name>_vs_paper`, with the published value above the
    measured one.
    """
    columns = config["native"]["data"]["evaluate"]
    grids = {
        "asr_quality_x2_x3_x4_main": table_asr.quality_trained,
        "asr_quality_x6_x8_appendix": table_asr.quality_beyond,
        "asr_full_all_scales_appendix": table_asr.quality_full,
    }
    compared: dict[str, Builder] = {
        **{f"main_{column}": partial(table_native.main, column=column) for column in columns},
        "lse": table_native.lse,
        **grids,
        "winners": table_native.winners,
        "gates": table_native.gates,
        "fairness": table_native.fairness,
        "locality": table_native.locality,
        "compute_native": table_cost.compute_native,
        "asr_latency_main": table_asr.latency,
        "asr_pareto_main": table_asr.pareto_main,
        "asr_pareto_appendix": table_asr.pareto_appendix,
        "compute_asr": table_cost.compute_asr,
    }
    # The paper has no bicubic row, so it stands where the measured numbers have company only.
    fuller = {name: partial(make, bicubic=True) for name, make in grids.items()}
    versus = {
        name + VERSUS: partial(_versus, make=fuller.get(name, make), paper=make)
        for name, make in compared.items()
    }
    return compared | {"licenses": table_cost.licenses} | versus


def _versus(source: Aggregates, make: Builder, paper: Builder) -> Table:
    """Build a table from the aggregates and put the paper's rows above the measured ones."""
    measured = make(source)
    notes = [printed.NOTES[measured.name]] if measured.name in printed.NOTES else []
    others: dict[str, Sequence[Float]] = {}
    if any(part.timed for part in measured.floats):
        others = {
            name: make(Aggregates(source.folder, source.config, clock)).floats
            for clock, name in OTHER_CLOCKS.items()
        }
    floats = [
        beside(part, published, {name: other[i] for name, other in others.items()})
        for i, (part, published) in enumerate(
            zip(measured.floats, _published(source, measured, paper), strict=True)
        )
    ]
    notes += [
        note
        for name, note in CLOCK_NOTES.items()
        if any(line[1:2] == [name] for part in floats for group in part.groups for line in group)
    ]
    return Table(
        measured.name + VERSUS, [replace(f, caption=_both(f.caption, notes)) for f in floats]
    )


def _published(source: Aggregates, measured: Table, make: Builder) -> Sequence[Float]:
    """Return the floats with the paper's rows.

    Columns that are all one's own get dashes; a main table of such a column is refused.
    """
    try:
        return printed.paper_floats(make, source, measured)
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
