"""Labels beside points."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from gblsr_repro.reporting.figures.placement import Label, place_labels
from gblsr_repro.reporting.figures.style import new_figure, styled


@pytest.fixture
def axes() -> Axes:
    with styled():
        figure = new_figure(5.5, 3.3, "")
        made = figure.subplots()
        made.set_xlim(0, 10)
        made.set_ylim(0, 10)
        yield made


def marker_box(axes: Axes, label: Label) -> Bbox:
    x, y = axes.transData.transform((label.x, label.y))
    half = label.size * axes.figure.dpi / 72 / 2
    return Bbox.from_extents(x - half, y - half, x + half, y + half)


@pytest.mark.parametrize("seed", range(4))
def test_crowded_labels_stay_apart_and_off_the_markers(axes, seed):
    random = np.random.default_rng(seed)
    labels = [
        Label(*random.uniform(4, 6, 2), text=f"GB-LSR-Variant-{k}", size=9.0) for k in range(8)
    ]
    place_labels(axes, labels)
    boxes = [note.get_window_extent() for note in axes.texts]
    frame = axes.get_window_extent()
    for a, b in combinations(boxes, 2):
        assert not a.overlaps(b)
    for box in boxes:
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1
        assert frame.y0 <= box.y0
        assert box.y1 <= frame.y1
        assert not any(box.overlaps(marker_box(axes, label)) for label in labels)
