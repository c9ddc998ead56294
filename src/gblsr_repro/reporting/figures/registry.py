"""Every figure by name: `@figure` beside the function that draws it says what its caption needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from ...config import Config, guess, items
from ...errors import UserError
from ..aggregates import Aggregates
from ..captions import (
    not_canonical,
    paragraph,
    run_notes,
    seeds_said,
    titled,
    trained_seeds,
    with_readings,
)
from ..compare import Scope, compare_all
from ..conditions import Conditions, Half, of_paper
from .style import save, styled

Draw = Callable[[Aggregates, Sequence[str]], Figure]


@dataclass(frozen=True)
class Drawing:
    """A figure: the function that draws it, the scopes of its numbers, and its caption.

    Title and caption are those of config/items.tsv but for a figure that the paper lacks; the flags
    add sentences about LPIPS, the spread over seeds, and the baselines.
    """

    draw: Draw
    scopes: tuple[Scope, ...]
    title: str = ""
    caption: str = ""
    perceptual: bool = False
    spread: bool = False
    baselines: bool = False


FIGURES: dict[str, Drawing] = {}


def figure(*scopes: Scope, **more: Any) -> Callable[[Draw], Draw]:
    """Register a function under its own name as that of a figure (see `Drawing`)."""

    def register(draw: Draw) -> Draw:
        FIGURES[draw.__name__] = Drawing(draw, scopes, **more)
        return draw

    return register


def note(run: Conditions, scopes: Iterable[Scope]) -> list[str]:
    """Return in few words what the note inside a figure says: how the run differs."""
    return list(dict.fromkeys(d.short for d in compare_all(run, of_paper(), scopes)))


def captions(name: str, run: Conditions) -> str:
    """Return the caption of a figure, ending in how its run differs from the paper's.

    The text is in the marks of `reporting.markup`. Raises `KeyError` for a name that is no figure.
    """
    drawing = FIGURES[name]
    told = items().get(name, drawing)
    caption = paragraph(
        told.caption,
        _spread(run, drawing.scopes[0]) if drawing.spread else None,
        not_canonical() if drawing.baselines else None,
        *run_notes(run, drawing.scopes, perceptual=drawing.perceptual),
    )
    return with_readings(titled(told.title, caption), name)


def _spread(run: Conditions, scope: Scope) -> str:
    """Say over how many seeds the means are and what error bars show."""
    half = run.half(scope.half) or Half()
    # The record counts no seeds of the arms beside the main tables, which these figures draw.
    beside = scope in (Scope.LOCALITY, Scope.ABLATION)
    counts = {} if beside else trained_seeds(half, scope.half)
    seeds = [n for row in counts.values() for n in row] or [len(half.all_seeds)]
    if max(seeds) == 1:
        return "One training seed, so there are no error bars"
    bars = "Error bars: one sample standard deviation over training seeds, to either side"
    said = seeds_said(counts)
    return f"Means over {said}. {bars}" if said else bars


def render(name: str, source: Aggregates, output: Path) -> tuple[Path, Path]:
    """Draw one figure into `output`; return the paths of the PDF and the PNG.

    Raises `UserError` for an unknown name, and naming what is missing for a known one.
    """
    if name not in FIGURES:
        raise UserError(f"There is no figure {name!r}; {guess(name, FIGURES)}")
    drawing = FIGURES[name]
    with styled():
        made = drawing.draw(source, note(source.conditions, drawing.scopes))
        return save(made, Path(output), name)


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
    source = Aggregates(aggregates, config, results=results)
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
