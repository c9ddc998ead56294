"""The paper's figures, drawn from aggregates."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from ...errors import UserError
from . import ablation, asr, comparison, locality, native, qualitative
from .needs import NEEDS
from .notes import note
from .source import FigureSource
from .style import save, styled

DRAW: dict[str, Callable[[FigureSource, str], Figure]] = {
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

    Raises `UserError` that names what is missing.
    """
    if name not in DRAW:
        close = difflib.get_close_matches(name, DRAW, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(DRAW)}."
        raise UserError(f"There is no figure {name!r}; {hint}")
    with styled():
        figure = DRAW[name](source, note(source.conditions, NEEDS[name]))
        return save(figure, Path(output), name)


def render_all(
    source: FigureSource, output: Path
) -> tuple[dict[str, tuple[Path, Path]], dict[str, str]]:
    """Draw every figure whose data is there; return the files made and why others were not."""
    made: dict[str, tuple[Path, Path]] = {}
    skipped: dict[str, str] = {}
    for name in DRAW:
        try:
            made[name] = render(name, source, output)
        except UserError as error:
            skipped[name] = str(error)
    return made, skipped
