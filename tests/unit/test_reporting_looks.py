"""Markers are named in a legend, the main arm is on top, and looks differ."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest
from made_up_runs import build_demo_run, build_paper_run
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.testing.compare import compare_images

from gblsr_repro.analysis.reader import Aggregates, read_paper_aggregates
from gblsr_repro.config import load_protocol, read_items
from gblsr_repro.reporting import figures
from gblsr_repro.reporting.figures import style
from gblsr_repro.reporting.items import build_item
from gblsr_repro.reporting.names import name_subject

IMAGES = Path(__file__).parents[2] / "docs" / "images"
NAMED = ("frontier", "infcost", "asr_quality_latency_x4")


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


def get_color(marker: Line2D) -> tuple[float, ...]:
    return to_rgb(marker.get_color())


@pytest.mark.parametrize("figure", NAMED)
def test_every_marker_is_named_in_a_legend_and_the_main_arm_is_on_top(figure, source):
    with style.apply_style():
        drawn = build_item(read_items()[figure], source, [])
    markers = list_markers(drawn.axes[0])
    named = {
        get_color(entry): text.get_text()
        for legend in drawn.legends
        for entry, text in zip(legend.get_lines(), legend.get_texts(), strict=True)
    }
    assert {get_color(marker) for marker in markers} <= set(named)
    subjects = {**source.arms, **source.methods}
    looks = style.read_looks(source)
    for key in subjects:  # each color has the name of its arm or method
        if to_rgb(looks[key].color) in map(get_color, markers):
            told = named[to_rgb(looks[key].color)].removesuffix(" (main)").removesuffix(" (base)")
            alike = [k for k in subjects if looks[k].color == looks[key].color]
            assert told in {name_subject(source, k) for k in alike}

    (main,) = [color for color, name in named.items() if name.endswith(("(main)", "(base)"))]
    for size in {m.get_markersize() for m in markers if get_color(m) == main}:
        alike = [m for m in markers if m.get_markersize() == size]  # of one data set, or all
        others = [m.get_zorder() for m in alike if get_color(m) != main]
        assert min(m.get_zorder() for m in alike if get_color(m) == main) > max(others)


def test_looks_differ_in_gray():
    source = read_paper_aggregates(load_protocol())
    looks = style.read_looks(source)
    for rows in (source.arms, source.methods):
        drawn = [looks[name].marker for name, row in rows.items() if row.group != "own"]
        assert len({*drawn}) == len(drawn)


@pytest.mark.skipif(
    matplotlib.__version_info__ < (3, 11), reason="older versions of matplotlib set text otherwise"
)
def test_the_frontier_in_the_documentation_is_what_is_drawn_now(tmp_path):
    kept = IMAGES / "frontier.png"
    _, drawn = figures.draw("frontier", read_paper_aggregates(load_protocol()), tmp_path)
    differ = compare_images(str(kept), str(drawn), tol=2)
    assert differ is None, f"{differ}\nIf the new one is right: cp {drawn} {kept}"
