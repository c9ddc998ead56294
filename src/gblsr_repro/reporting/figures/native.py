"""Figures of the native benchmark: quality against quality, against time, and per data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .placement import Label, place_labels
from .source import FigureSource, ordered
from .style import (
    DATASET_MARKERS,
    FAINT,
    INK,
    TEXT_WIDTH,
    Look,
    bar_handle,
    broken,
    message,
    new_figure,
    time_axis,
    wrap_text,
)

SMALL, LARGE = 4.5, 9.0  # points: marker of one data set, of the mean over all
MEAN_MARKER = "o"
METRICS = {
    "psnr": "PSNR (dB) ↑",
    "ssim": "SSIM ↑",
    "lpips": "LPIPS ↓",
    "edge_lpips": "Edge-LPIPS ↓",
}


def benchmark(source: FigureSource, what: str, metrics: Iterable[str]) -> pd.DataFrame:
    """Return the rows of `metrics` (in words: `what`) of the arms that the main tables show."""
    table = source.frame("native")
    chosen = table[table["arm"].isin(source.benchmark) & table["metric"].isin(list(metrics))]
    return source.require(chosen, "native", what)


def means(table: pd.DataFrame, metrics: list[str]) -> pd.DataFrame:
    """Return the mean of each of `metrics` (columns; NaN: absent) per arm and data set."""
    wide = table.pivot_table(index=["arm", "dataset"], columns="metric", values="mean")
    return wide.reindex(columns=metrics)


def frontier(source: FigureSource, note: Sequence[str]) -> Figure:
    """Draw whole-image PSNR against LPIPS (inverted) of every arm; the best is upper right.

    Where LPIPS was not measured the arms stand in rows and the figure says why.
    """
    metrics = ["psnr", "lpips"]
    points = means(benchmark(source, "PSNR", metrics), metrics).dropna(subset=["psnr"])
    source.require(points, "native", "PSNR")
    both = points.dropna()
    shown = points[["psnr"]] if both.empty else both
    figure = new_figure(TEXT_WIDTH, 3.5, note)
    axes = figure.subplots()
    sets = _sets(source, shown)
    _dataset_legend(source, figure, sets)
    axes.set_xlabel("PSNR (dB) ↑")
    if both.empty:
        _rows(source, axes, shown, sets)
        title = axes.set_title(" ", fontsize=7)
        reason = f"LPIPS not measured: {source.lpips_reason()}"
        wrap_text(title, reason, 0.9 * figure.get_window_extent().width)
    else:
        axes.invert_yaxis()
        axes.set_ylabel("LPIPS ↓ (axis inverted)")
        _constellation(source, axes, shown, sets)
    return figure


def infcost(source: FigureSource, note: Sequence[str]) -> Figure:
    """Draw PSNR against the inference time per image of every arm; the best is upper left."""
    metrics = ["inference_ms", "psnr"]
    points = means(benchmark(source, "inference time", metrics), metrics).dropna()
    source.require(points, "native", "arm with both PSNR and inference time")
    figure = new_figure(TEXT_WIDTH, 3.3, note)
    axes = figure.subplots()
    sets = _sets(source, points)
    _dataset_legend(source, figure, sets)
    axes.set_xlabel(f"Inference time (ms per image, batch 1){source.on_device('native')} ↓")
    axes.set_ylabel("PSNR (dB) ↑")
    _constellation(source, axes, points, sets)
    return figure


def per_dataset(source: FigureSource, note: Sequence[str]) -> Figure:
    """Draw PSNR, SSIM, LPIPS and edge-LPIPS as bars grouped by data set, one bar per arm."""
    table = benchmark(source, "quality metric", METRICS)
    arms = ordered(table["arm"], source.arms)
    sets = ordered(table["dataset"], source.evaluate)
    figure = new_figure(TEXT_WIDTH, 4.3, note)
    handles = [bar_handle(source.looks[arm], source.label(arm)) for arm in arms]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, handleheight=1.1)
    for axes, (metric, title) in zip(figure.subplots(2, 2).flat, METRICS.items(), strict=True):
        axes.set_title(title)
        rows = table[table["metric"] == metric].set_index(["arm", "dataset"])
        if rows.empty:
            reason = source.lpips_reason() if "lpips" in metric else "the aggregates have no value"
            message(axes, f"{title[:-2]} not measured: {reason}")
        else:
            _bars(source, axes, rows.reindex(pd.MultiIndex.from_product([arms, sets])), arms, sets)
    return figure


def _sets(source: FigureSource, points: pd.DataFrame) -> list[str]:
    found = points.index.get_level_values("dataset")
    return ordered(found, source.evaluate)


def _bars(
    source: FigureSource, axes: Axes, rows: pd.DataFrame, arms: list[str], sets: list[str]
) -> None:
    """Draw `rows`, indexed by (arm, dataset), as one group of bars per data set."""
    width = min(0.86 / len(arms), 0.2)
    places = np.arange(len(sets))
    for k, arm in enumerate(arms):
        look, own = source.looks[arm], rows.loc[arm]
        axes.bar(
            places + (k - (len(arms) - 1) / 2) * width,
            own["mean"],
            width,
            yerr=own["std"],
            color=look.colour,
            edgecolor=INK,
            hatch=look.hatch,
            error_kw={"elinewidth": 0.7, "capthick": 0.7, "ecolor": "black"},
        )
    axes.set_xticks(places, [broken(source.title("native", name)) for name in sets])
    axes.set_xlim(-0.5, len(sets) - 0.5)
    axes.tick_params(axis="x", length=0)
    axes.grid(False, axis="x")


def _marker(sets: list[str], dataset: str) -> str:
    return DATASET_MARKERS[sets.index(dataset) % len(DATASET_MARKERS)]


def _dataset_legend(source: FigureSource, figure: Figure, sets: list[str]) -> None:
    """Explain above the axes which shape stands for which data set."""

    def entry(size: float, marker: str, label: str) -> Line2D:
        return Line2D(
            [],
            [],
            linestyle="none",
            marker=marker,
            markersize=size,
            color=FAINT,
            markeredgecolor=INK,
            label=label,
        )

    handles = [entry(SMALL, _marker(sets, name), source.title("native", name)) for name in sets]
    handles.append(entry(LARGE - 1, MEAN_MARKER, "Mean over the data sets"))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))


def _small_marker(axes: Axes, x: float, y: float, look: Look, marker: str) -> None:
    axes.plot(
        x,
        y,
        marker=marker,
        markersize=SMALL,
        color=look.colour,
        markeredgecolor=INK,
        zorder=3,
    )


def _large_marker(axes: Axes, x: float, y: float, look: Look) -> None:
    axes.plot(
        x,
        y,
        marker=MEAN_MARKER,
        markersize=LARGE,
        color=look.colour,
        markeredgecolor=INK,
        markeredgewidth=0.7,
        zorder=4,
    )


def _rows(source: FigureSource, axes: Axes, points: pd.DataFrame, sets: list[str]) -> None:
    """Draw one quantity, indexed by (arm, dataset), as a row of markers per arm."""
    quantity = points.iloc[:, 0]
    arms = ordered(points.index.get_level_values("arm"), source.arms)
    for place, arm in enumerate(arms):
        own, look = quantity.loc[arm], source.looks[arm]
        axes.plot([own.min(), own.max()], [place] * 2, color=look.colour, linewidth=0.8, zorder=2)
        for dataset, value in own.items():
            _small_marker(axes, value, place, look, _marker(sets, dataset))
        if set(own.index) == set(sets):
            _large_marker(axes, own.mean(), place, look)
    axes.set_yticks(range(len(arms)), [_name(source, arm) for arm in arms])
    axes.set_ylim(len(arms) - 0.5, -0.5)
    axes.margins(x=0.06)


def _name(source: FigureSource, arm: str) -> str:
    main = arm == source.config["native"]["main_arm"]
    return source.label(arm) + (" (main)" if main else "")


def _constellation(source: FigureSource, axes: Axes, points: pd.DataFrame, sets: list[str]) -> None:
    """Draw per arm a small marker for each data set, joined to a large one at their mean.

    `points` has the index (arm, dataset) and two columns, x then y; the axes' labels and the
    figure's legends must be there already, as the arms' names are placed around the markers. An
    arm that lacks a data set which others have gets no mean: it would be that of other images.
    """
    x, y = points.columns
    labels, small, spokes = [], [], []
    for arm in ordered(points.index.get_level_values("arm"), source.arms):
        own, look = points.loc[arm], source.looks[arm]
        complete, centre = set(own.index) == set(sets), own.mean()
        for dataset, row in own.iterrows():
            if complete:
                spokes.append(((row[x], row[y]), (centre[x], centre[y])))
                axes.plot(
                    *zip(*spokes[-1], strict=True),
                    color=look.colour,
                    linewidth=0.6,
                    alpha=0.7,
                    zorder=2,
                )
            _small_marker(axes, row[x], row[y], look, _marker(sets, dataset))
            small.append((row[x], row[y], SMALL))
        if complete:
            _large_marker(axes, centre[x], centre[y], look)
        anchor = centre if complete else own.iloc[0]
        size = LARGE if complete else SMALL
        main = arm == source.config["native"]["main_arm"]
        labels.append(Label(anchor[x], anchor[y], _name(source, arm), size, main))
    axes.margins(0.09, 0.09)
    if x == "inference_ms":
        time_axis(axes)
    labels.sort(key=lambda label: not label.bold)
    place_labels(axes, labels, small, spokes)
