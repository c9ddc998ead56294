"""Figures of super-resolution: quality against time, quality against scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ...evaluation import PAPER
from ..tidy import scale_key
from .placement import Label, place_labels
from .source import FigureSource, ordered
from .style import INK, TEXT_WIDTH, Look, broken, marker_handle, new_figure, time_axis

TIMED_SET = "urban100"
MARKER = 6.5  # points


def asr_quality_latency_x4(source: FigureSource, note: Sequence[str]) -> Figure:
    """Draw PSNR-Y against the time per image of every method, Urban100 at the timed scale."""
    scale = scale_key(source.config["asr"]["timing"]["scale"])
    quality = source.frame("asr_quality")
    quality = quality[
        (quality["dataset"] == TIMED_SET)
        & (quality["scale"] == scale)
        & (quality["metric"] == "psnr_y")
    ].set_index("method")
    times = {
        method: source.asr_latency.get((TIMED_SET, method, scale, PAPER, "mean_ms"))
        for method in quality.index
    }
    methods = [m for m in ordered(quality.index, source.methods) if times[m] is not None]
    title = source.title("asr", TIMED_SET)
    source.require(quality.loc[methods], "asr_latency", f"timed method with a PSNR-Y on {title}")
    figure = new_figure(TEXT_WIDTH, 3.1, note)
    axes = figure.subplots()
    axes.set_xlabel(f"Time (ms per image, batch 1){source.on_device('asr')} ↓")
    axes.set_ylabel("PSNR-Y (dB) ↑")
    axes.set_title(f"{title} ×{scale}")
    labels = []
    for method in methods:
        look, row, time = source.looks[method], quality.loc[method], times[method]
        axes.errorbar(
            time.mean,
            row["mean"],
            xerr=math.nan if time.std is None else time.std,
            yerr=row["std"],
            **_points(look),
            markersize=MARKER,
            linestyle="none",
        )
        base = method == source.config["asr"]["base_method"]
        label = source.label(method) + (" (base)" if base else "")
        labels.append(Label(time.mean, row["mean"], label, MARKER, base))
    axes.margins(0.12, 0.15)
    time_axis(axes)
    labels.sort(key=lambda label: not label.bold)
    place_labels(axes, labels, lines=_whiskers(quality, times, methods))
    return figure


def _whiskers(quality: pd.DataFrame, times: dict, methods: list[str]) -> list:
    """Return the error bars as segments, for labels to keep clear of."""
    segments = []
    for method in methods:
        x, y = times[method].mean, quality.loc[method, "mean"]
        dx, dy = times[method].std or 0.0, quality.loc[method, "std"]
        segments += [((x - dx, y), (x + dx, y))] if dx else []
        segments += [((x, y - dy), (x, y + dy))] if dy > 0 else []
    return segments


def asr_psnr_vs_scale(source: FigureSource, note: Sequence[str]) -> Figure:
    """Draw PSNR-Y of the baselines and the base method against the scale, a column per data set.

    Above the values, below the differences to the base method, which the range of the values
    hides. Scales beyond the trained ones are shaded.
    """
    table = source.frame("asr_quality")
    table = table[table["metric"] == "psnr_y"].assign(factor=lambda t: t["scale"].astype(float))
    table = table[table["method"].isin(source.methods_where("baseline", "base"))]
    source.require(table, "asr_quality", "PSNR-Y of a baseline or the base method")
    sets = ordered(table["dataset"], source.config["asr"]["evaluate"])
    methods = ordered(table["method"], source.methods)
    base = source.config["asr"]["base_method"]
    compared = base in methods and len(methods) > 1
    figure = new_figure(TEXT_WIDTH, 3.9 if compared else 2.5, note)
    trained = source.config["asr"]["trained_scales"]
    beyond = sorted(f for f in table["factor"].unique() if f > max(trained))
    _legend(source, figure, methods, bool(beyond))
    grid = figure.subplots(1 + compared, len(sets), sharex=True, sharey="row", squeeze=False)
    factors = sorted(table["factor"].unique())
    for column, name in enumerate(sets):
        rows = table[table["dataset"] == name]
        upper = grid[0, column]
        upper.set_title(broken(source.title("asr", name)))
        _curves(source, upper, rows, methods)
        if compared:
            own = rows[rows["method"] == base].set_index("factor")["mean"]
            gap = rows.assign(mean=rows["mean"] - rows["factor"].map(own)).dropna(subset=["mean"])
            _curves(source, grid[1, column], gap, methods)
        for axes in grid[:, column]:
            if beyond:
                edge = (max(trained) + beyond[0]) / 2
                axes.axvspan(edge, factors[-1] + 0.5, color="#ececec", linewidth=0, zorder=0)
            axes.set_xticks(factors, [f"{f:g}" for f in factors])
            axes.set_xlim(factors[0] - 0.5, factors[-1] + 0.5)
    for axes in grid[-1]:
        axes.set_xlabel("Scale factor")
    grid[0, 0].set_ylabel("PSNR-Y (dB) ↑")
    if compared:
        grid[1, 0].set_ylabel(f"Difference to\n{source.label(base)} (dB)")
    return figure


def _legend(source: FigureSource, figure: Figure, methods: list[str], beyond: bool) -> None:
    handles = [marker_handle(source.looks[m], source.label(m), line=True) for m in methods]
    if beyond:
        handles.append(Patch(facecolor="#ececec", edgecolor="#bbbbbb", label="beyond training"))
    lengths = [len(handle.get_label()) for handle in handles]
    fits = len(handles) <= 5 and sum(lengths) <= 60
    columns = len(handles) if fits else 4 if max(lengths) <= 22 else 3
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, handlelength=2.6)


def _curves(source: FigureSource, axes: Axes, rows: pd.DataFrame, methods: list[str]) -> None:
    """Draw the means of `rows` over the scale factor with their standard deviations."""
    for method in methods:
        own = rows[rows["method"] == method].sort_values("factor")
        if not own.empty:
            look = source.looks[method]
            axes.errorbar(
                own["factor"],
                own["mean"],
                yerr=own["std"],
                **_points(look),
                markersize=3.6,
                linestyle=look.dash,
                linewidth=0.9,
            )


def _points(look: Look) -> dict[str, object]:
    return {
        "color": look.colour,
        "marker": look.marker,
        "markeredgecolor": INK,
        "markeredgewidth": 0.4,
        "ecolor": INK,
        "elinewidth": 0.7,
    }
