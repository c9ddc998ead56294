"""Labels beside points, placed so that they hide neither each other nor any marker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import textalloc
from matplotlib.axes import Axes

from .style import FAINT, INK


@dataclass(frozen=True)
class Label:
    """A text for the point (x, y) in data coordinates, whose marker is `size` points wide."""

    x: float
    y: float
    text: str
    size: float = 6.0
    bold: bool = False


def place_labels(
    axes: Axes,
    labels: Iterable[Label],
    markers: Iterable[tuple[float, float, float]] = (),
    lines: Sequence[tuple[Sequence[float], Sequence[float]]] = (),
) -> None:
    """Add `labels` to `axes`, the bold ones first, with a line to a point that is not near.

    `markers` are further (x, y, points wide) to keep clear, `lines` segments as two x and two y.
    The axes' limits, scales and layout must be final.
    """
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # the lines to the labels are no data
    placed = sorted(labels, key=lambda label: not label.bold)
    spots = [*markers, *((label.x, label.y, label.size) for label in placed)]
    xs, ys, widths = zip(*spots, strict=True)
    radius = axes.figure.dpi / 72 / 2  # pixels per point of a marker's width
    # Not in the call itself: textalloc's types know of no absent lines and no plain lists.
    drawn: dict[str, Any] = {
        "scatter_sizes": [width * radius for width in widths],
        "text_scatter_sizes": [label.size * radius for label in placed],
        "x_lines": [list(x) for x, _ in lines] or None,
        "y_lines": [list(y) for _, y in lines] or None,
    }
    textalloc.allocate(
        axes,
        [label.x for label in placed],
        [label.y for label in placed],
        [label.text for label in placed],
        x_scatter=list(xs),
        y_scatter=list(ys),
        textsize=7,
        fontweight=["bold" if label.bold else "normal" for label in placed],
        textcolor=INK,
        linecolor=FAINT,
        linewidth=0.5,
        max_distance=0.3,  # of the axes
        nbr_candidates=500,
        avoid_label_lines_overlap=True,
        zorder=6,
        **drawn,
    )
