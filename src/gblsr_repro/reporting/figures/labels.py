"""Place names beside the markers of a figure, each nearest to the marker that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from numpy.typing import NDArray

from .style import INK

DIRECTIONS = np.deg2rad(np.arange(0, 360, 5))  # from a marker to its label
GAPS = np.array([2.0, 3, 5, 8, 12, 17, 23, 30, 40])  # points from a marker's edge to its label
NEXT_TO = 5.0  # points: a label further off than this is joined to its marker by a line
APART = 1.5  # points between a label and what it must not touch
STEPS = 60  # points at which a line is looked at
HARDLY, CLEARLY = 0.3, 5.0  # points by which other markers must, and should, be further off
# The costs of a place besides its distance in points; one outweighs all that follow it.
OUTSIDE, ON_LABEL, NEARER_TO_OTHER, ON_MARKER, NOT_CLEAR, ON_LINE = 1e9, 1e8, 1e6, 1e4, 16.0, 12.0

Array = NDArray[np.float64]
Marker = tuple[float, float, float]  # x and y in data coordinates, width in points
Line = tuple[Sequence[float], Sequence[float]]  # its two x and its two y in data coordinates


@dataclass(frozen=True)
class Label:
    """The name of the marker of `size` points at (x, y) in data coordinates.

    `further` are the other markers of the same arm or method.
    """

    x: float
    y: float
    text: str
    size: float
    bold: bool = False
    further: Sequence[Marker] = ()


def place_labels(
    figure: Figure, axes: Axes, labels: Sequence[Label], lines: Sequence[Line] = ()
) -> None:
    """Place `labels` beside their markers, with a line to a marker that is not next to its label.

    A label stands inside the axes, clear of other labels, where the marker that it names is nearer
    than those that others name, and some marker of its arm nearer than any of another arm. It
    rather covers no marker, is near, covers few of `lines` and keeps off the markers of others.
    Bold labels choose first. The axes' limits and scales must be final.
    """
    for _ in range(2):  # legends and tick labels move once more after a first pass
        figure.draw_without_rendering()
    plan = _Plan(axes, labels, lines)
    for number in sorted(range(len(labels)), key=lambda number: not labels[number].bold):
        text = _draw_label(axes, labels[number])
        box = plan.choose_place(number, np.array(text.get_window_extent().size) / plan.pixels)
        text.xyann = (box[0], box[1])
        _draw_leader(axes, labels[number], box)


def _draw_label(axes: Axes, label: Label) -> Annotation:
    """Draw a label; its position is counted in points from its marker's center."""
    text = axes.annotate(
        label.text, (label.x, label.y), (0, 0), textcoords="offset points", ha="left", va="bottom",
        fontsize=7, fontweight="bold" if label.bold else "normal", color=INK, zorder=9,
    )  # fmt: skip
    text.set_in_layout(False)
    return text


def _draw_leader(axes: Axes, label: Label, box: Array) -> None:
    """Draw a line from a marker to its label unless that is next to it."""
    end = np.clip(0, box[:2], box[2:])
    if np.linalg.norm(end) - label.size / 2 <= NEXT_TO:
        return
    thin = {"arrowstyle": "-", "color": INK, "linewidth": 0.5, "shrinkA": 0}
    line = axes.annotate("", (label.x, label.y), (end[0], end[1]), textcoords="offset points",
                         arrowprops=thin | {"shrinkB": label.size / 2}, zorder=8)  # fmt: skip
    line.set_in_layout(False)


class _Plan:
    """The places of markers, lines and labels so far, in points; a box is x0, y0, x1, y1."""

    def __init__(self, axes: Axes, labels: Sequence[Label], lines: Sequence[Line]) -> None:
        self.pixels = axes.figure.dpi / 72
        groups = [[(label.x, label.y, label.size), *label.further] for label in labels]
        x, y, width = np.concatenate(groups).T
        ends = [axes.transData.transform(np.column_stack(line)) / self.pixels for line in lines]
        self.inside = np.array(axes.bbox.extents) / self.pixels
        self.markers = axes.transData.transform(np.column_stack([x, y])) / self.pixels
        self.radii = width / 2
        self.owners = np.repeat(np.arange(len(labels)), [len(group) for group in groups])
        self.named = np.searchsorted(self.owners, np.arange(len(labels)))
        self.lines = np.array([np.linspace(pair[0], pair[1], STEPS) for pair in ends]).reshape(
            -1, STEPS, 2
        )
        self.boxes = np.empty((0, 4))

    def choose_place(self, label: int, size: Array) -> Array:
        """Choose the place of a label that costs least; return its box from its marker's center."""
        named = self.named[label]
        gaps, turns = np.repeat(GAPS, len(DIRECTIONS)), np.tile(DIRECTIONS, len(GAPS))
        way = np.column_stack([np.cos(turns), np.sin(turns)])
        centers = self.markers[named] + way * (self.radii[named] + gaps[:, None] + size / 2)
        boxes = np.hstack([centers - size / 2, centers + size / 2])
        # Of places that cost the same argmin takes the first, which is to the right.
        box = boxes[np.argmin(self._compute_costs(label, boxes) + gaps)]
        self.boxes = np.vstack([self.boxes, box])
        return box - np.tile(self.markers[named], 2)

    def _compute_costs(self, label: int, boxes: Array) -> Array:
        """Compute the costs of each box as a label's place, but for its distance."""
        away = _measure_distances(boxes, self.markers)
        mine, foreign = away[:, self.owners == label], away[:, self.owners != label]
        nearest = mine.min(axis=1, keepdims=True)
        named = np.delete(away[:, self.named], label, axis=1)
        apart = np.array([-APART, -APART, APART, APART])
        outside = (boxes[:, :2] < self.inside[:2]) | (boxes[:, 2:] > self.inside[2:])
        hidden = _test_inside(boxes, self.lines).any(axis=-1)
        return (
            OUTSIDE * outside.any(axis=1)
            + ON_LABEL * _test_overlap(boxes, self.boxes + apart).sum(axis=1)
            + NEARER_TO_OTHER * (named <= mine[:, :1] + HARDLY).sum(axis=1)
            + NEARER_TO_OTHER * (foreign <= nearest + HARDLY).sum(axis=1)
            + ON_MARKER * (away < self.radii + APART).sum(axis=1)
            + NOT_CLEAR * (foreign < nearest + CLEARLY).sum(axis=1)
            + ON_LINE * hidden.sum(axis=1)
        )


def _measure_distances(boxes: Array, points: Array) -> Array:
    """Measure how far each box (row) is from each point (column), 0 for a point inside."""
    off = np.maximum(boxes[:, None, :2] - points, points - boxes[:, None, 2:])
    return np.linalg.norm(off.clip(min=0), axis=-1)


def _test_overlap(boxes: Array, others: Array) -> NDArray[np.bool_]:
    """Test whether each box (row) shares any area with each of the others (column)."""
    low = boxes[:, None, :2] < others[:, 2:]
    high = boxes[:, None, 2:] > others[:, :2]
    return np.all(low & high, axis=-1)


def _test_inside(boxes: Array, lines: Array) -> NDArray[np.bool_]:
    """Test whether each box (first axis) holds each point (last) of each line (middle)."""
    boxes = boxes[:, None, None]
    return np.all((boxes[..., :2] <= lines) & (lines <= boxes[..., 2:]), axis=-1)
