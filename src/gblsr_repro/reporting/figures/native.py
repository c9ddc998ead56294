"""Figures of the native benchmark: quality against quality, against time, and per data set."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ...analysis.reader import Aggregates
from ...analysis.statistics import QUALITY
from ..items import item
from ..names import explain_missing_metric, format_device, name_dataset, name_subject, sort_by_order
from . import style
from .labels import Label, Line, Marker, place_labels

SMALL, LARGE = 4.5, 9.0  # points: marker of one data set, of the mean over all
MEAN_MARKER = "o"
WIDE = 90  # letters of a line as wide as the text


def means(source: Aggregates, what: str, metrics: list[str]) -> pd.DataFrame:
    """Return the means of `metrics` (in words: `what`; columns, NaN: absent) by arm and data set,
    of the arms that the main tables show.
    """
    wide = source.pivot("native", ["arm", "dataset"], "metric").reindex(columns=metrics)
    own = wide[wide.index.isin(source.benchmark, level="arm")].dropna(how="all")
    return source.require(own, "native", what)


@item
def frontier(source: Aggregates, note: Sequence[str]) -> Figure:
    """Draw whole-image PSNR against LPIPS (inverted) of every arm; the best is upper right.

    Where LPIPS was not measured the arms stand in rows and the figure says why.
    """
    metrics = ["psnr", "lpips"]
    points = means(source, "PSNR", metrics).dropna(subset=["psnr"])
    source.require(points, "native", "PSNR")
    both = points.dropna()
    figure = style.new_figure(style.TEXT_WIDTH, 3.5, note)
    axes = figure.subplots()
    axes.set_xlabel("PSNR (dB) ↑")
    if both.empty:
        arms = sort_by_order(points.index.get_level_values("arm"), source.arms)
        points["lpips"] = [arms.index(arm) for arm, _ in points.index]
        _constellation(source, axes, points)
        style.name_rows(axes, [_name(source, arm) for arm in arms], 0.5)
        axes.set_title(
            textwrap.fill(f"LPIPS {explain_missing_metric(source, 'lpips')}", WIDE), fontsize=7
        )
    else:
        axes.invert_yaxis()
        axes.set_ylabel("LPIPS ↓ (axis inverted)")
        place_labels(figure, axes, *_constellation(source, axes, both))
    return figure


@item
def infcost(source: Aggregates, note: Sequence[str]) -> Figure:
    """Draw PSNR against the inference time per image of every arm; the best is upper left."""
    metrics = ["inference_ms", "psnr"]
    points = means(source, "inference time", metrics).dropna()
    source.require(points, "native", "arm with both PSNR and inference time")
    figure = style.new_figure(style.TEXT_WIDTH, 3.3, note)
    axes = figure.subplots()
    axes.set_xlabel(f"Inference time (ms per image, batch 1){format_device(source, 'native')} ↓")
    axes.set_ylabel("PSNR (dB) ↑")
    drawn = _constellation(source, axes, points)
    style.time_axis(axes)
    place_labels(figure, axes, *drawn)
    return figure


@item
def per_dataset(source: Aggregates, note: Sequence[str]) -> Figure:
    """Draw every quality metric as bars grouped by data set, one bar per arm."""
    found = means(source, "quality metric", [metric.name for metric in QUALITY])
    arms = sort_by_order(found.index.get_level_values("arm"), source.arms)
    sets = sort_by_order(found.index.get_level_values("dataset"), source.evaluate)
    titles = [name_dataset(source, "native", name).replace(" ", "\n") for name in sets]
    drawn: dict[str, dict[str, Any]] = {
        arm: {"facecolor": look.color, "edgecolor": style.INK, "hatch": look.hatch}
        for arm, look in style.looks_of(source).items()
    }
    figure = style.new_figure(style.TEXT_WIDTH, 4.3, note)
    handles = [Patch(**drawn[arm], label=_name(source, arm)) for arm in arms]
    style.legend(figure, handles, 4, handleheight=1.1)
    width, places = min(0.86 / len(arms), 0.2), np.arange(len(sets))
    thin = {"elinewidth": 0.7, "capthick": 0.7, "ecolor": "black"}
    panels = figure.subplots(math.ceil(len(QUALITY) / 2), 2).flat
    for axes, metric in itertools.zip_longest(panels, QUALITY):
        if metric is None:
            axes.axis("off")
            continue
        axes.set_title(metric.title)
        if found[metric.name].isna().all():
            style.message(axes, f"{metric.heading} {explain_missing_metric(source, metric.name)}")
            continue
        for k, arm in enumerate(arms):
            own = [source.cell("native", name, arm, metric.name) for name in sets]
            left = places + (k - (len(arms) - 1) / 2) * width
            axes.bar(left, [cell.mean for cell in own], width, yerr=[cell.std for cell in own],
                     error_kw=thin, **drawn[arm])  # fmt: skip
        axes.set_xticks(places, titles)
        axes.set_xlim(-0.5, len(sets) - 0.5)
        axes.tick_params(axis="x", length=0)
        axes.grid(False, axis="x")
    return figure


def _name(source: Aggregates, arm: str) -> str:
    return name_subject(source, arm) + " (main)" * (arm == source.main_arm.arm)


def _constellation(
    source: Aggregates, axes: Axes, points: pd.DataFrame
) -> tuple[list[Label], list[Line]]:
    """Draw per arm a small marker for each data set, joined to a large one at their mean.

    `points` has the index (arm, dataset) and two columns, x then y. An arm that lacks a data set
    which others have gets no mean: it would be that of other images. Returns the labels that name
    the arms and the joining lines, as `place_labels` takes them.
    """
    sets = sort_by_order(points.index.get_level_values("dataset"), source.evaluate)
    shapes = dict(zip(sets, itertools.cycle(style.DATASET_MARKERS), strict=False))
    entries = [
        (name_dataset(source, "native", name), shape, SMALL) for name, shape in shapes.items()
    ]
    entries.append(("Mean over the data sets", MEAN_MARKER, LARGE - 1))
    gray = {"color": style.FAINT, "markeredgecolor": style.INK}
    handles = [
        style.handle(label, marker=shape, markersize=size, **gray) for label, shape, size in entries
    ]
    style.legend(axes.figure, handles, len(handles))
    main = source.main_arm.arm
    found = sort_by_order(points.index.get_level_values("arm"), source.arms)
    labels: list[Label] = []
    spokes: list[Line] = []
    for arm in sorted(found, key=main.__eq__):  # the main arm last, and above all others
        own, look, above = points.loc[arm], style.looks_of(source)[arm], 3 * (arm == main)
        small: list[Marker] = [(x, y, SMALL) for x, y in own.itertuples(index=False)]
        named = small[0]
        for dataset, (x, y, _) in zip(own.index, small, strict=True):
            drawn = style.point(look, SMALL, marker=shapes[dataset], zorder=3 + above)
            axes.plot(x, y, **drawn)
        if set(own.index) == set(shapes):
            named = (*own.mean(), LARGE)
            drawn = style.point(look, LARGE, marker=MEAN_MARKER, zorder=4 + above)
            axes.plot(*named[:2], **drawn, markeredgewidth=0.7)
            for x, y, _ in small:
                spokes.append(((x, named[0]), (y, named[1])))
                axes.plot(*spokes[-1], color=look.color, linestyle=look.line, linewidth=0.6,
                          alpha=0.7, zorder=2 + above)  # fmt: skip
        labels.append(Label(*named[:2], _name(source, arm), named[2], arm == main, small))
    axes.margins(0.09, 0.09)
    return labels, spokes
