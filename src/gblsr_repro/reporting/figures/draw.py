"""Drawing the paper's figures from aggregates."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from ...config import Config
from ...errors import UserError
from . import ablation, asr, comparison, locality, native, qualitative
from .captions import note
from .needs import NEEDS
from .source import FigureSource
from .style import save, styled

DRAW: dict[str, Callable[[FigureSource, Sequence[str]], Figure]] = {
    "frontier": native.frontier,
    "per_dataset": native.per_dataset,
    "cov_hist": locality.cov_hist,
    "variance_decomp": locality.variance_decomp,
    "logspace_metrics": ablation.logspace_metrics,
    "logspace_loctests": locality.logspace_loctests,
    "infcost": native.infcost,
    "qualitative": qualitative.qualitative,
    "asr_quality_latency_x4": asr.asr_quality_latency_x4,
    "asr_psnr_vs_scale": asr.asr_psnr_vs_scale,
    "measured_vs_published": comparison.measured_vs_published,
}


def render(name: str, source: FigureSource, output: Path) -> tuple[Path, Path]:
    """Draw one figure into `output`; return the paths of the PDF and the PNG.

    Raises `UserError` for an unknown name, and naming what is missing for a known one.
    """
    if name not in DRAW:
        close = difflib.get_close_matches(name, DRAW, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(DRAW)}."
        raise UserError(f"There is no figure {name!r}; {hint}")
    with styled():
        figure = DRAW[name](source, note(source.conditions, NEEDS[name].scopes))
        return save(figure, Path(output), name)


def write(
    aggregates: Path,
    output: Path,
    config: Config,
    only: Sequence[str] = (),
    results: Path | None = None,
) -> tuple[list[str], dict[str, str]]:
    """Draw figures to `output`/<name>.pdf and .png; return the names drawn and why others were not.

    Without `only` every figure whose data are there is drawn. `results` is the run's folder, which
    qualitative and cov_hist read (default: the folder above `aggregates`). Raises `UserError` for
    an unknown name, for a figure of `only` that cannot be drawn, and when nothing could be.
    """
    source = FigureSource(aggregates, config, results)
    drawn, skipped = [], {}
    for name in only or DRAW:
        try:
            render(name, source, output)
        except UserError as error:
            if only:
                raise
            skipped[name] = str(error)
            continue
        drawn.append(name)
    if not drawn:
        raise UserError(f"{aggregates} holds nothing that a figure can be drawn from.")
    return drawn, skipped
