"""The paper's figures, drawn from aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...config import Config, guess
from ...errors import UserError
from ..aggregates import Aggregates
from . import ablation, asr, comparison, locality, native, qualitative  # noqa: F401 (register)
from .registry import FIGURES, note
from .registry import captions as captions
from .style import save, styled


def render(name: str, source: Aggregates, output: Path) -> tuple[Path, Path]:
    """Draw one figure into `output`; return the paths of the PDF and the PNG.

    Raises `UserError` for an unknown name, and naming what is missing for a known one.
    """
    if name not in FIGURES:
        raise UserError(f"There is no figure {name!r}; {guess(name, FIGURES)}")
    drawing = FIGURES[name]
    with styled():
        figure = drawing.draw(source, note(source.conditions, drawing.scopes))
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
    source = Aggregates(aggregates, config, results)
    drawn, skipped = [], {}
    for name in only or FIGURES:
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
