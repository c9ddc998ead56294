"""Names stand nearest to their markers, the main arm is on top, and looks differ."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from paper_results import build_paper_run

from gblsr_repro.analysis.reader import Aggregates, read_paper_aggregates
from gblsr_repro.config import load_protocol, read_items
from gblsr_repro.reporting import figures
from gblsr_repro.reporting.figures import style
from gblsr_repro.reporting.items import build_item
from gblsr_repro.reporting.names import name_subject
from results import build_demo_run

IMAGES = Path(__file__).parents[2] / "docs" / "images"
NAMED = ("frontier", "infcost", "asr_quality_latency_x4")
SLACK = 1.0  # pixel, where two markers lie upon each other


@pytest.fixture(scope="module", params=[build_paper_run, build_demo_run])
def source(request, tmp_path_factory) -> Aggregates:
    run = request.param(tmp_path_factory.mktemp("run"))
    if request.param is build_paper_run:  # the paper prints the times of six methods
        run.rows["asr_latency"] = [r for r in run.rows["asr_latency"] if "nf48" not in r["method"]]
    return run.read()


def list_markers(axes: Axes) -> list[Line2D]:
    """List the lines that are one marker, but for the caps of error bars."""
    shapes = ("None", "|", "_")
    return [a for a in axes.lines if len(a.get_xdata()) == 1 and a.get_marker() not in shapes]


def measure_distance(box: Bbox, axes: Axes, marker: Line2D) -> float:
    """Measure the pixels from a box to the center of a marker."""
    x, y = axes.transData.transform(marker.get_xydata())[0]
    return float(np.hypot(max(box.x0 - x, 0, x - box.x1), max(box.y0 - y, 0, y - box.y1)))


def read_color(source: Aggregates, text: Text) -> tuple[float, ...]:
    """Read the color of the arm or method that a label names."""
    name = text.get_text().removesuffix(" (main)").removesuffix("\n(base)")
    (key,) = [key for key in (*source.arms, *source.methods) if name_subject(source, key) == name]
    return to_rgb(style.read_looks(source)[key].color)


@pytest.mark.parametrize("figure", NAMED)
def test_labels_are_nearest_to_the_marker_they_name_and_the_main_arm_is_on_top(figure, source):
    with style.apply_style():
        drawn = build_item(read_items()[figure], source, [])
    drawn.draw_without_rendering()
    axes = drawn.axes[0]
    boxes = {text: text.get_window_extent() for text in axes.texts if text.get_text()}
    assert len(boxes) >= 6
    largest = max(marker.get_markersize() for marker in list_markers(axes))
    for text, box in boxes.items():
        color = read_color(source, text)
        for size in (0, largest):  # among all markers, and among the large circles alone
            near = {True: [], False: []}
            for marker in list_markers(axes):
                if marker.get_markersize() >= size:
                    same = to_rgb(marker.get_color()) == color
                    near[same].append(measure_distance(box, axes, marker))
            assert min(near[True]) < min(near[False]) + SLACK, text
        assert axes.bbox.x0 <= box.x0 < box.x1 <= axes.bbox.x1, text
        assert axes.bbox.y0 <= box.y0 < box.y1 <= axes.bbox.y1, text
    assert not any(one.overlaps(other) for one, other in combinations(boxes.values(), 2))

    (main,) = [text for text in boxes if text.get_text().endswith(("(main)", "(base)"))]
    assert main.get_fontweight() == "bold"
    color = read_color(source, main)
    main_markers = [m for m in list_markers(axes) if to_rgb(m.get_color()) == color]
    for size in {
        marker.get_markersize() for marker in main_markers
    }:  # those of one data set, or all
        top = {m: m.get_zorder() for m in list_markers(axes) if m.get_markersize() == size}
        others = [zorder for marker, zorder in top.items() if marker not in main_markers]
        assert min(top[marker] for marker in top if marker in main_markers) > max(others)


def test_looks_differ_in_gray():
    source = read_paper_aggregates(load_protocol())
    looks = style.read_looks(source)
    for rows in (source.arms, source.methods):
        drawn = [looks[name].marker for name, row in rows.items() if row.group != "own"]
        assert len({*drawn}) == len(drawn)


def test_the_frontier_in_the_documentation_is_what_is_drawn_now(tmp_path):
    kept = IMAGES / "frontier.png"
    _, drawn = figures.draw("frontier", read_paper_aggregates(load_protocol()), tmp_path)
    differ = compare_images(str(kept), str(drawn), tol=2)
    assert differ is None, f"{differ}\nIf the new one is right: cp {drawn} {kept}"
