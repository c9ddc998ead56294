"""Labels beside points, placed so that they hide neither each other nor any marker."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation
from numpy.typing import NDArray

from .style import BOX, FAINT, INK

DIRECTIONS = 24
DISTANCES = (5.0, 8.0, 12.0, 17.0, 24.0, 32.0, 42.0, 54.0, 68.0, 84.0, 104.0)  # points
LEADER_FROM = 12.0  # points: labels farther away get a line to their point
CLEARANCE = 1.5  # pixels kept free on both sides of a label

# Costs in points of distance. Covering something costs more than any distance.
LEFT_OF_POINT = 1.5
OFF_LEVEL = 2.0  # straight above or below
COVERS_LINE = 18.0
CROSSES_LEADER = 1e3
COVERS_THING = 1e4
OUTSIDE = 1e5

Point = tuple[float, float]
Floats = NDArray[np.float64]  # boxes are rows x0, y0, x1, y1 in pixels


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
    that a label covers only when it must. Every label, in the order given, takes the cheapest of
    the spots around its point; the axes' limits, scales and layout must be final.
    """
    axes.figure.get_figure(root=True).draw_without_rendering()
    pixels = axes.figure.dpi / 72  # per point
    spots = [(x, y, size) for x, y, size in markers] + [(m.x, m.y, m.size) for m in labels]
    taken = []
    for x, y, size in spots:
        center = axes.transData.transform((x, y))
        taken.append(np.concatenate([center - size * pixels / 2, center + size * pixels / 2]))
    covered = [_samples(*axes.transData.transform(line)) for line in lines]
    leaders: list[Floats] = []
    placed = []
    for label in labels:
        note = axes.annotate(
            label.text, (label.x, label.y), xytext=(0, 0), textcoords="offset points", ha="center",
            va="center", fontsize=7, fontweight="bold" if label.bold else "normal", color=INK,
            bbox=BOX | {"alpha": 0.7, "pad": 0.3}, zorder=6,
        )  # fmt: skip
        note.set_in_layout(False)
        extent = note.get_window_extent()
        origin = axes.transData.transform((label.x, label.y))
        room = np.array([extent.width + 2 * CLEARANCE, extent.height])
        boxes, costs = _candidates(origin, room, label.size, pixels)
        ends = np.clip(origin, boxes[:, :2], boxes[:, 2:])
        paths = _samples(np.broadcast_to(origin, ends.shape), ends)
        led = np.hypot(*(ends - origin).T) > (LEADER_FROM + label.size / 2) * pixels
        frame, others = axes.get_window_extent().extents, np.array(taken)
        outside = (boxes[:, :2] < frame[:2]) | (boxes[:, 2:] > frame[2:])
        apart = (boxes[:, None, 2:] <= others[:, :2]) | (others[:, 2:] <= boxes[:, None, :2])
        elsewhere = others[~_inside(origin, others)]
        through = _inside(paths[:, :, None], elsewhere).any(axis=1).sum(axis=1)
        costs = costs + OUTSIDE * outside.any(axis=1)
        costs = costs + COVERS_THING * (~apart.any(axis=2)).sum(axis=1)
        costs = costs + COVERS_LINE * _covers(boxes, covered)
        costs = costs + CROSSES_LEADER * (_covers(boxes, leaders) + led * through)
        best = int(np.argmin(costs))
        middle = (boxes[best, :2] + boxes[best, 2:]) / 2
        note.set_position(tuple((middle - origin) / pixels))
        if led[best]:
            leaders.append(paths[best])
            xs, ys = axes.transData.inverted().transform([origin, ends[best]]).T
            axes.plot(xs, ys, color=FAINT, linewidth=0.5, zorder=2.5, scalex=False, scaley=False)
        taken.append(boxes[best])
        placed.append(note)
    return placed


def _candidates(
    origin: Floats, size: Floats, marker: float, pixels: float
) -> tuple[Floats, Floats]:
    """Return the boxes (n, 4) around a point at which a text of that size may stand, and costs."""
    angles = 2 * math.pi * np.arange(DIRECTIONS) / DIRECTIONS
    distance, angle = (each.ravel() for each in np.meshgrid(DISTANCES, angles, indexing="ij"))
    direction = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    # The nearest edge of the box, not its middle, lies at the distance.
    reach = (marker / 2 + distance[:, None]) * pixels
    middle = origin + direction * (reach + size / 2)
    costs = distance + OFF_LEVEL * np.abs(direction[:, 1]) + LEFT_OF_POINT * (direction[:, 0] < 0)
    return np.concatenate([middle - size / 2, middle + size / 2], axis=1), costs


def _samples(start: Floats, end: Floats, count: int = 24) -> Floats:
    """Return `count` points along each segment: (..., count, 2)."""
    share = np.linspace(0, 1, count)[:, None]
    return start[..., None, :] * (1 - share) + end[..., None, :] * share


def _inside(points: Floats, boxes: Floats) -> NDArray[np.bool_]:
    """Say which points (..., 2) lie in which boxes, whose shape goes with that of the points."""
    inside = (boxes[..., :2] <= points) & (points <= boxes[..., 2:])
    return inside[..., 0] & inside[..., 1]


def _covers(boxes: Floats, paths: Sequence[Floats]) -> NDArray[np.int_]:
    """Count for each box how many of the sampled paths run through it."""
    through = [_inside(path, boxes[:, None]).any(axis=1) for path in paths]
    return np.sum(through, axis=0, dtype=int) if through else np.zeros(len(boxes), int)
