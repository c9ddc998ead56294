"""Every table by name, and rendering them from a folder of aggregates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..config import Config, protocol
from ..errors import UserError
from ..evaluation import GRAPH, OURS
from ..files import write_text
from . import printed, table_asr, table_cost, table_native
from .captions import with_readings
from .layout import Float, Table, beside, render
from .source import Source

Builder = Callable[[Source], Table]
Published = Callable[[Source, Table], Iterable[Float]]
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
    rebuilt: dict[str, Builder] = {
        f"main_{column}": partial(table_native.main, column=column) for column in columns
    }
    grids = {
        "asr_quality_x2_x3_x4_main": table_asr.quality_trained,
        "asr_quality_x6_x8_appendix": table_asr.quality_beyond,
        "asr_full_all_scales_appendix": table_asr.quality_full,
    }
    rebuilt |= {"lse": table_native.lse, **grids}
    others: dict[str, tuple[Builder, Published]] = {
        "winners": (table_native.winners, printed.winners),
        "gates": (table_native.gates, _published_gates),
        "fairness": (table_native.fairness, printed.fairness),
        "locality": (table_native.locality, printed.locality),
        "compute_native": (table_cost.compute_native, printed.compute),
        "asr_latency_main": (table_asr.latency, printed.asr_latency),
        "asr_pareto_main": (table_asr.pareto_main, printed.asr_pareto),
        "asr_pareto_appendix": (table_asr.pareto_appendix, printed.asr_pareto),
        "compute_asr": (table_cost.compute_asr, printed.compute),
    }
    compared = {
        name: (make, partial(_rebuilt, make=make)) for name, make in rebuilt.items()
    } | others
    # The paper has no bicubic row, so it stands where the measured numbers have company only.
    fuller = {name: partial(make, bicubic=True) for name, make in grids.items()}
    versus = {
        name + VERSUS: partial(_versus, make=fuller.get(name, make), published=published)
        for name, (make, published) in compared.items()
    }
    measured = {name: make for name, (make, _) in compared.items()}
    return measured | {"licenses": table_cost.licenses} | versus


def _versus(source: Source, make: Builder, published: Published) -> Table:
    """Build a table from the aggregates and put the paper's rows above the measured ones."""
    measured = make(source)
    notes = [printed.NOTES[measured.name]] if measured.name in printed.NOTES else []
    others: dict[str, Sequence[Float]] = {}
    if any(part.timed for part in measured.floats):
        others = {
            name: make(Source(source.folder, source.config, clock)).floats
            for clock, name in OTHER_CLOCKS.items()
        }
    floats = [
        beside(part, paper, {name: other[i] for name, other in others.items()})
        for i, (part, paper) in enumerate(
            zip(measured.floats, published(source, measured), strict=True)
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


def _rebuilt(source: Source, measured: Table, make: Builder) -> Sequence[Float]:
    """Build a table from the published values, in the columns of the run.

    Columns that are all one's own get dashes; a main table of such a column is refused.
    """
    try:
        return make(Source.published(source.config)).floats
    except UserError as error:
        if not measured.name.startswith("main_"):
            return [replace(part, groups=[]) for part in measured.floats]
        raise UserError(
            f"The paper has no values to put beside {measured.name}; ask for the table itself."
        ) from error


def _published_gates(source: Source, measured: Table) -> Sequence[Float]:
    """Judge the published values by the paper's criteria, on its own data sets."""
    return table_native.gates(Source.published(protocol())).floats


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
    source = Source(aggregates, config)
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
