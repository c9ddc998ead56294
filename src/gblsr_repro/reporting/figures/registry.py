"""Every figure by name: `@figure` beside the function that draws it says what its caption needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from ...config import items
from ..aggregates import Aggregates
from ..captions import (
    not_canonical,
    paragraph,
    run_notes,
    seeds_said,
    trained_seeds,
    with_readings,
)
from ..compare import Scope, compare_all
from ..conditions import Conditions, Half, of_paper

Draw = Callable[[Aggregates, Sequence[str]], Figure]


@dataclass(frozen=True)
class Drawing:
    """A figure: the function that draws it, the scopes of its numbers, and its caption.

    `says` are the caption's sentences after the title, which is that of config/items.tsv but for a
    figure that the paper lacks; the flags add sentences about LPIPS, the spread over seeds, and the
    baselines.
    """

    draw: Draw
    scopes: tuple[Scope, ...]
    says: tuple[str, ...]
    title: str
    perceptual: bool
    spread: bool
    baselines: bool


FIGURES: dict[str, Drawing] = {}


def figure(
    *scopes: Scope,
    says: tuple[str, ...],
    title: str = "",
    perceptual: bool = False,
    spread: bool = False,
    baselines: bool = False,
) -> Callable[[Draw], Draw]:
    """Register a function under its own name as that of a figure (see `Drawing`)."""

    def register(draw: Draw) -> Draw:
        FIGURES[draw.__name__] = Drawing(draw, scopes, says, title, perceptual, spread, baselines)
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
    scope = drawing.scopes[0]
    half = run.half(scope.half) or Half()
    # The record counts no seeds of the arms beside the main tables, which these figures draw.
    beside = scope in (Scope.LOCALITY, Scope.ABLATION)
    counts = {} if beside else trained_seeds(half, scope.half)
    caption = paragraph(
        drawing.title or items()[name].title,
        *drawing.says,
        _spread(half, counts) if drawing.spread else None,
        not_canonical() if drawing.baselines else None,
        *run_notes(run, drawing.scopes, perceptual=drawing.perceptual),
    )
    return with_readings(caption, name)


def _spread(run: Half, counts: dict[str, set[int]]) -> str:
    """Say over how many seeds the means are and what error bars show."""
    seeds = [n for row in counts.values() for n in row] or [len(run.all_seeds)]
    if max(seeds) == 1:
        return "One training seed, so there are no error bars"
    bars = "Error bars: one sample standard deviation over training seeds, to either side"
    said = seeds_said(counts)
    return f"Means over {said}. {bars}" if said else bars
