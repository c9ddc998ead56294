"""Figures of super-resolution: quality against time, quality against scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ...analysis.reader import Aggregates
from ...analysis.schemas import format_scale
from ...evaluation import PAPER
from ..items import item
from ..names import (
    format_device,
    name_dataset,
    name_subject,
    select_compared_methods,
    sort_by_order,
)
from . import style
from .labels import Label, place_labels

TIMED_SET = "urban100"
MARKER = 6.5  # points
THIN: dict[str, Any] = {"markeredgewidth": 0.4, "ecolor": style.INK, "elinewidth": 0.7}


@item
def asr_quality_latency_x4(source: Aggregates, note: Sequence[str]) -> Figure:
    """Draw PSNR-Y against the time per image of every method, Urban100 at the timed scale."""
    scale = format_scale(source.config["asr"]["timing"]["scale"])
    cells = {}
    for method in source.methods:
        time = source.cell("asr_latency", TIMED_SET, method, scale, PAPER, "mean_ms")
        psnr = source.cell("asr_quality", TIMED_SET, method, scale, "psnr_y")
        if time.measured and psnr.measured:
            cells[method] = time, psnr
    title = name_dataset(source, "asr", TIMED_SET)
    source.require(cells, "asr_latency", f"timed method with a PSNR-Y on {title}")
    figure = style.new_figure(style.TEXT_WIDTH, 3.1, note)
    axes = figure.subplots()
    axes.set_xlabel(f"Time (ms per image, batch 1){format_device(source, 'asr')} ↓")
    axes.set_ylabel("PSNR-Y (dB) ↑")
    axes.set_title(f"{title} ×{scale}")
    labels, whiskers = [], []
    main = source.config["asr"]["base_method"]
    for method in sorted(cells, key=main.__eq__):  # the base method last, and above all others
        (x, dx), (y, dy) = ((cell.mean, max(cell.std, 0.0)) for cell in cells[method])
        look, base = style.looks_of(source)[method], method == main
        drawn = style.point(look, MARKER, **THIN, linestyle="none", zorder=3 + base)
        axes.errorbar(x, y, xerr=dx or math.nan, yerr=dy or math.nan, **drawn)
        labels.append(Label(x, y, name_subject(source, method) + "\n(base)" * base, MARKER, base))
        whiskers += [((x - dx, x + dx), (y, y))] if dx else []
        whiskers += [((x, x), (y - dy, y + dy))] if dy else []
    axes.margins(0.2, 0.15)  # names are long
    style.time_axis(axes)
    place_labels(figure, axes, labels, whiskers)
    return figure


@item
def asr_psnr_vs_scale(source: Aggregates, note: Sequence[str]) -> Figure:
    """Draw PSNR-Y of the baselines and the base method against the scale, a column per data set.

    Above the values, below the differences to the base method, which the range of the values
    hides. Scales beyond the trained ones are shaded.
    """
    table = source.frame("asr_quality")
    table = table[table["metric"] == "psnr_y"].assign(factor=lambda t: t["scale"].astype(float))
    table = table[table["method"].isin(select_compared_methods(source))]
    source.require(table, "asr_quality", "PSNR-Y of a method that the config runs")
    sets = sort_by_order(table["dataset"], source.config["asr"]["evaluate"])
    methods = sort_by_order(table["method"], source.methods)
    base = source.config["asr"]["base_method"]
    compared = base in methods and len(methods) > 1
    figure = style.new_figure(style.TEXT_WIDTH, 3.9 if compared else 2.5, note)
    trained = source.config["asr"]["trained_scales"]
    beyond = sorted(f for f in table["factor"].unique() if f > max(trained))
    _legend(source, figure, methods, bool(beyond))
    grid = figure.subplots(1 + compared, len(sets), sharex=True, sharey="row", squeeze=False)
    factors = sorted(table["factor"].unique())
    for column, name in enumerate(sets):
        rows = table[table["dataset"] == name]
        upper = grid[0, column]
        upper.set_title(name_dataset(source, "asr", name).replace(" ", "\n"))
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
        grid[1, 0].set_ylabel(f"Difference to\n{name_subject(source, base)} (dB)")
    return figure


def _legend(source: Aggregates, figure: Figure, methods: list[str], beyond: bool) -> None:
    handles: list[Artist] = [
        style.handle(name_subject(source, m), **style.point(look, 5), linestyle=look.line)
        for m, look in style.looks_of(source).items()
        if m in methods
    ]
    if beyond:
        handles.append(Patch(facecolor="#ececec", edgecolor="#bbbbbb", label="beyond training"))
    lengths = [len(str(entry.get_label())) for entry in handles]
    fits = len(handles) <= 5 and sum(lengths) <= 60
    columns = len(handles) if fits else 4 if max(lengths) <= 22 else 3
    style.legend(figure, handles, columns, handlelength=2.6)


def _curves(source: Aggregates, axes: Axes, rows: pd.DataFrame, methods: list[str]) -> None:
    """Draw the means of `rows` over the scale factor with their standard deviations."""
    for method in methods:
        own = rows[rows["method"] == method].sort_values("factor")
        if not own.empty:
            look = style.looks_of(source)[method]
            drawn = style.point(look, 3.6, **THIN, linestyle=look.line, linewidth=0.9)
            axes.errorbar(own["factor"], own["mean"], yerr=own["std"], **drawn)
