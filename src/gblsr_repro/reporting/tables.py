"""Every table by name, and rendering them from a folder of aggregates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..config import Config
from ..errors import UserError
from ..files import write_text
from . import table_asr, table_cost, table_native
from .layout import Table, beside, render
from .source import Source

Builder = Callable[[Source], Table]
VERSUS = "_vs_paper"


def builders(config: Config) -> dict[str, Builder]:
    """Return the maker of every table: one main table per evaluation column, then the others.

    Tables whose cells the paper publishes one by one also come as `<name>_vs_paper`, with the
    published value above the measured one.
    """
    columns = config["native"]["data"]["evaluate"]
    compared: dict[str, Builder] = {
        f"main_{column}": partial(table_native.main, column=column) for column in columns
    }
    compared |= {
        "lse": table_native.lse,
        "asr_quality_x2_x3_x4_main": table_asr.quality_trained,
        "asr_quality_x6_x8_appendix": table_asr.quality_beyond,
        "asr_full_all_scales_appendix": table_asr.quality_full,
    }
    others: dict[str, Builder] = {
        "winners": table_native.winners,
        "gates": table_native.gates,
        "fairness": table_native.fairness,
        "locality": table_native.locality,
        "compute_native": table_cost.compute_native,
        "licenses": table_cost.licenses,
        "asr_latency_main": table_asr.latency,
        "asr_pareto_main": table_asr.pareto_main,
        "asr_pareto_appendix": table_asr.pareto_appendix,
        "compute_asr": table_cost.compute_asr,
    }
    versus = {name + VERSUS: partial(_versus, make=make) for name, make in compared.items()}
    return compared | others | versus


def _versus(source: Source, make: Builder) -> Table:
    """Build a table from the aggregates and from the published values, and put them together."""
    measured = make(source)
    try:
        published = make(Source.published(source.config))
    except UserError as error:
        raise UserError(
            f"The paper has no values to put beside {measured.name}; ask for the table itself."
        ) from error
    floats = map(beside, measured.floats, published.floats)
    return Table(measured.name + VERSUS, [replace(f, caption=_both(f.caption)) for f in floats])


def _both(caption: str) -> str:
    title, end, rest = caption.partition(".**")
    return (
        f"{title}, beside the paper's values{end} The paper's value stands above the one measured "
        f"here, with its own bold numbers.{rest}"
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
            text = render(known[name](source))
        except UserError as error:
            if only:
                raise
            skipped[name] = str(error)
            continue
        write_text(output / f"{name}.tex", text)
        rendered.append(name)
    if not rendered:
        raise UserError(f"{aggregates} holds nothing that a table can be made from.")
    return rendered, skipped
