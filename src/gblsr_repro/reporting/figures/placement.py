"""Labels beside points, placed so that they hide neither each other nor any marker."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from .style import FAINT, INK

DIRECTIONS = 24
DISTANCES = (5.0, 8.0, 12.0, 17.0, 24.0, 32.0, 42.0, 54.0, 68.0, 84.0)  # points
LEADER_FROM = 12.0  # points: labels farther away get a line to their point
CLEARANCE = 1.5  # pixels kept free around a label
CROSSED_LINE = 18.0  # cost in points of distance
IN_THE_WAY = 1e4  # cost per overlapped thing: far above that of any distance

Point = tuple[float, float]


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
    labels: Sequence[Label],
    markers: Iterable[tuple[float, float, float]] = (),
    lines: Iterable[tuple[Point, Point]] = (),
) -> list[Annotation]:
    """Add `labels` to `axes` and return the annotations.

    `markers` are further (x, y, points wide) to keep clear, `lines` segments between two (x, y)
    that a label covers only when it must. Every label tries 24 directions at
    growing distance and takes the nearest spot inside the axes where it covers no marker, no
    label and no leader; the axes' limits, scales and layout must be final.
    """
    figure = axes.figure
    figure.draw_without_rendering()
    per_point = figure.dpi / 72
    frame = axes.get_window_extent()

    def box(x: float, y: float, size: float) -> Bbox:
        cx, cy = axes.transData.transform((x, y))
        half = size * per_point / 2
        return Bbox.from_extents(cx - half, cy - half, cx + half, cy + half)

    taken = [box(*marker) for marker in markers]
    taken += [box(label.x, label.y, label.size) for label in labels]
    strokes = [tuple(map(tuple, axes.transData.transform(line))) for line in lines]
    leaders: list[tuple[Point, Point]] = []
    placed = []
    for label in labels:
        note = axes.annotate(
            label.text,
            (label.x, label.y),
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=7,
            fontweight="bold" if label.bold else "normal",
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.3},
            zorder=6,
        )
        note.set_in_layout(False)
        extent = note.get_window_extent()
        width, height = extent.width + 2 * CLEARANCE, extent.height
        origin = axes.transData.transform((label.x, label.y))
        best = (math.inf, 0.0, 0.0, Bbox.unit())
        for distance in DISTANCES:
            for turn in range(DIRECTIONS):
                angle = 2 * math.pi * turn / DIRECTIONS
                reach = (label.size / 2 + distance) * per_point
                # The box's nearest edge, not its middle, lies at that distance.
                cx = origin[0] + math.cos(angle) * (reach + width / 2)
                cy = origin[1] + math.sin(angle) * (reach + height / 2)
                spot = Bbox.from_bounds(cx - width / 2, cy - height / 2, width, height)
                cost = distance + 2 * abs(math.sin(angle)) + (1.5 if math.cos(angle) < 0 else 0)
                cost += CROSSED_LINE * sum(_crosses(spot, *stroke) for stroke in strokes)
                cost += IN_THE_WAY * _hindrances(spot, frame, taken, leaders, origin, distance)
                if cost < best[0]:
                    best = (cost, cx - origin[0], cy - origin[1], spot)
            if best[0] < distance:  # nothing farther away can cost less
                break
        _, dx, dy, spot = best
        note.set_position((dx / per_point, dy / per_point))
        if _gap(spot, origin) / per_point - label.size / 2 > LEADER_FROM:
            end = _nearest(spot, origin)
            leaders.append((tuple(origin), end))
            inverse = axes.transData.inverted()
            xs, ys = zip(*inverse.transform([origin, end]), strict=True)
            axes.plot(xs, ys, color=FAINT, linewidth=0.5, zorder=2.5, scalex=False, scaley=False)
        taken.append(spot)
        placed.append(note)
    return placed


def _nearest(spot: Bbox, origin: Sequence[float]) -> tuple[float, float]:
    return (
        min(max(origin[0], spot.x0), spot.x1),
        min(max(origin[1], spot.y0), spot.y1),
    )


def _gap(spot: Bbox, origin: Sequence[float]) -> float:
    return math.dist(_nearest(spot, origin), origin)


def _hindrances(
    spot: Bbox,
    frame: Bbox,
    taken: Sequence[Bbox],
    leaders: Sequence[tuple[Point, Point]],
    origin: Sequence[float],
    distance: float,
) -> int:
    """Count what a label at `spot` would cover, and labels its own leader would cross."""
    outside = not (
        frame.x0 <= spot.x0 and spot.x1 <= frame.x1 and frame.y0 <= spot.y0 and spot.y1 <= frame.y1
    )
    covered = sum(spot.overlaps(other) for other in taken)
    crossed = sum(_crosses(spot, start, end) for start, end in leaders)
    if distance > LEADER_FROM:
        end = _nearest(spot, origin)
        around = [b for b in taken if not b.contains(origin[0], origin[1])]
        crossed += sum(_crosses(other, origin, end) for other in around)
    return 3 * outside + covered + crossed


def _crosses(box: Bbox, start: Sequence[float], end: Sequence[float]) -> bool:
    steps = 24
    return any(
        box.contains(
            start[0] + (end[0] - start[0]) * k / steps, start[1] + (end[1] - start[1]) * k / steps
        )
        for k in range(steps + 1)
    )
