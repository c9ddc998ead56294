"""Draw the figures of the native benchmark: quality, inference time, and metrics per data set."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ...analysis.derived import mean_over_sets, read_value
from ...analysis.metrics import LPIPS, PSNR, list_shown
from ...analysis.reader import Aggregates
from ..names import format_device, name_dataset, name_subject, sort_by_order
from . import style

SMALL, LARGE = 4.5, 9.0  # points: marker of one data set, of the mean over all
MEAN_MARKER = "o"
THIN_BARS = {"elinewidth": 0.7, "capthick": 0.7, "ecolor": "black"}


def read_means(source: Aggregates, description: str, metrics: list[str]) -> pd.DataFrame:
    """Read the means of `metrics` (columns, NaN: absent) by arm and data set.

    Arms are those of the main tables. Raises `UserError` with the `description` of the metrics
    where no mean was measured.
    """
    frame = source.frame("native").pivot(index=["arm", "dataset"], columns="metric", values="mean")
    wide = frame.reindex(columns=metrics)
    means = wide[wide.index.isin(source.benchmark_arms, level="arm")].dropna(how="all")
    return source.require(means, "native", description)


def draw_frontier(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw whole-image PSNR against LPIPS (inverted) of every arm; the best is upper right."""
    points = read_means(source, "PSNR", ["psnr", "lpips"]).dropna()
    source.require(points, "native", "arm with both PSNR and LPIPS")
    figure = style.create_figure(style.TEXT_WIDTH, 3.5, differences)
    axes = figure.subplots()
    axes.set_xlabel(PSNR.arrowed_heading)
    axes.set_ylabel(f"{LPIPS.arrowed_heading} (axis inverted)")
    axes.invert_yaxis()
    _draw_arms(source, axes, points)
    return figure


def draw_infcost(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw PSNR against the inference time per image of every arm; the best is upper left."""
    metrics = ["inference_ms", "psnr"]
    points = read_means(source, "inference time", metrics).dropna()
    source.require(points, "native", "arm with both PSNR and inference time")
    figure = style.create_figure(style.TEXT_WIDTH, 3.3, differences)
    axes = figure.subplots()
    device = format_device(source, "native")
    axes.set_xlabel(f"Inference time (ms per image, batch 1){device} ↓", wrap=True)
    axes.set_ylabel(PSNR.arrowed_heading)
    _draw_arms(source, axes, points)
    style.scale_time_axis(axes)
    return figure


def draw_per_dataset(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw every quality metric as bars grouped by data set, one bar per arm."""
    metrics = list_shown("main")
    means = read_means(source, "quality metric", [metric.name for metric in metrics])
    metrics = [metric for metric in metrics if means[metric.name].notna().any()]
    arms = sort_by_order(means.index.get_level_values("arm"), source.arms)
    sets = sort_by_order(means.index.get_level_values("dataset"), source.evaluate)
    titles = [name_dataset(source, "native", name).replace(" ", "\n") for name in sets]
    fills: dict[str, dict[str, Any]] = {
        arm: {"facecolor": look.color, "edgecolor": style.INK, "hatch": look.hatch}
        for arm, look in style.read_looks(source).items()
    }
    figure = style.create_figure(style.TEXT_WIDTH, 4.3, differences)
    entries = [Patch(**fills[arm], label=_format_name(source, arm)) for arm in arms]
    figure.legend(handles=entries, loc=style.ABOVE, ncols=4, handleheight=1.1)
    width, places = min(0.86 / len(arms), 0.2), np.arange(len(sets))
    panels = figure.subplots(math.ceil(len(metrics) / 2), 2).flat
    for axes, metric in itertools.zip_longest(panels, metrics):
        if metric is None:
            axes.axis("off")
            continue
        axes.set_title(metric.arrowed_heading)
        for k, arm in enumerate(arms):
            cells = [source.cell("native", name, arm, metric.name) for name in sets]
            left = places + (k - (len(arms) - 1) / 2) * width
            axes.bar(left, [cell.mean for cell in cells], width, yerr=[cell.std for cell in cells],
                     error_kw=THIN_BARS, **fills[arm])  # fmt: skip
        axes.set_xticks(places, titles)
        axes.set_xlim(-0.5, len(sets) - 0.5)
        axes.tick_params(axis="x", length=0)
        axes.grid(False, axis="x")
    return figure


def _format_name(source: Aggregates, arm: str) -> str:
    return name_subject(source, arm) + " (main)" * (arm == source.main_arm.arm)


def _draw_arms(source: Aggregates, axes: Axes, points: pd.DataFrame) -> None:
    """Draw per arm a small marker for each data set, joined to a large one at their mean.

    `points` has the index (arm, dataset) and two columns, x then y. One legend names the shapes of
    the data sets, another the colors of the arms.
    """
    sets = sort_by_order(points.index.get_level_values("dataset"), source.evaluate)
    shapes = dict(zip(sets, itertools.cycle(style.DATASET_MARKERS), strict=False))
    _draw_shape_legend(source, axes, shapes)
    arms = sort_by_order(points.index.get_level_values("arm"), source.arms)
    looks = style.read_looks(source)
    entries = [
        style.build_legend_entry(
            _format_name(source, arm),
            **style.style_marker(looks[arm], LARGE - 2, marker=MEAN_MARKER),
            linestyle=looks[arm].line,
        )
        for arm in arms
    ]
    axes.figure.legend(handles=entries, loc="outside right center")
    main = source.main_arm.arm
    for arm in sorted(arms, key=main.__eq__):  # the main arm last, and above all others
        _draw_arm(source, axes, arm, points.loc[arm], shapes)
    axes.margins(0.09, 0.09)


def _draw_shape_legend(source: Aggregates, axes: Axes, shapes: dict[str, str]) -> None:
    """Draw the legend of the markers of data sets and of their mean."""
    entries = [
        (name_dataset(source, "native", name), shape, SMALL) for name, shape in shapes.items()
    ]
    entries.append(("Mean over the data sets", MEAN_MARKER, LARGE - 1))
    gray = {"color": style.FAINT, "markeredgecolor": style.INK}
    lines = [
        style.build_legend_entry(label, marker=shape, markersize=size, **gray)
        for label, shape, size in entries
    ]
    axes.figure.legend(handles=lines, loc=style.ABOVE, ncols=4)


def _draw_arm(
    source: Aggregates, axes: Axes, arm: str, points: pd.DataFrame, shapes: dict[str, str]
) -> None:
    """Draw the markers of one arm and, where it has all data sets, their mean and its lines.

    A mean over fewer sets would be that of other images.
    """
    main = arm == source.main_arm.arm
    look, above = style.read_looks(source)[arm], 2 * main
    center = [read_value(source, mean_over_sets, arm, metric, [*shapes]) for metric in points]
    has_mean = not any(map(math.isnan, center))
    if has_mean:
        marker = style.style_marker(look, LARGE, marker=MEAN_MARKER, zorder=3 + above)
        axes.plot(*center, **marker, markeredgewidth=0.7)
    for dataset, x, y in points.itertuples():
        # Above the large circles, which would hide it.
        axes.plot(x, y, **style.style_marker(look, SMALL, marker=shapes[dataset], zorder=7 + main))
        if has_mean:
            axes.plot((x, center[0]), (y, center[1]), color=look.color, linestyle=look.line,
                      linewidth=0.6, alpha=0.7, zorder=2 + above)  # fmt: skip
