"""Draw the figures of super-resolution: quality against time, quality against scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

from ...analysis.derived import psnr_gaps, read_value
from ...analysis.metrics import PSNR_Y
from ...analysis.reader import Aggregates
from ...analysis.schemas import format_scale
from ...analysis.statistics import Summary
from ...evaluation import PAPER
from ..names import format_device, name_dataset, name_subject, sort_by_order
from . import style

TIMED_SET = "urban100"
MARKER = 6.5  # points
TICKS = 5  # numbers that fit under a panel
THIN_MARKERS: dict[str, Any] = {"markeredgewidth": 0.4, "ecolor": style.INK, "elinewidth": 0.7}


def draw_asr_quality_latency(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw PSNR-Y against the time per image of every method, Urban100 at the timed scale.

    A message stands for the points where there are none, as where the set fits into no memory.
    """
    scale = format_scale(source.config["asr"]["timing"]["scale"])
    cells = _read_times_and_quality(source, scale)
    title = name_dataset(source, "asr", TIMED_SET)
    figure = style.create_figure(style.TEXT_WIDTH, 3.1, differences)
    axes = figure.subplots()
    if not cells:
        style.draw_message(axes, f"no method has a time and a PSNR-Y on {title}")
        return figure
    axes.set_xlabel(f"Time (ms per image, batch 1){format_device(source, 'asr')} ↓", wrap=True)
    axes.set_ylabel(PSNR_Y.arrowed_heading)
    axes.set_title(f"{title} ×{scale}")
    looks, names = style.read_looks(source), {}
    base = source.config["asr"]["base_method"]
    for method in sorted(cells, key=base.__eq__):  # the base method last, and above all others
        (x, dx), (y, dy) = ((cell.mean, max(cell.std, 0.0)) for cell in cells[method])
        look, is_base = looks[method], method == base
        names[method] = name_subject(source, method) + " (base)" * is_base
        marker = style.style_marker(
            look, MARKER, **THIN_MARKERS, linestyle="none", zorder=3 + is_base
        )
        axes.errorbar(x, y, xerr=dx or math.nan, yerr=dy or math.nan, **marker)
    axes.margins(0.1, 0.1)
    style.scale_time_axis(axes)
    entries = [
        style.build_legend_entry(names[method], **style.style_marker(looks[method], MARKER))
        for method in cells
    ]
    figure.legend(handles=entries, loc=style.ABOVE, ncols=3)
    return figure


def _read_times_and_quality(source: Aggregates, scale: str) -> dict[str, tuple[Summary, Summary]]:
    """Read the time by the paper's clock and the PSNR-Y of every method that has both."""
    cells = {}
    for method in source.methods:
        time = source.cell("asr_latency", TIMED_SET, method, scale, PAPER, "mean_ms")
        psnr = source.cell("asr_quality", TIMED_SET, method, scale, "psnr_y")
        if time.measured and psnr.measured:
            cells[method] = time, psnr
    return cells


def draw_asr_psnr_vs_scale(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw PSNR-Y of every method against the scale, a column per data set.

    Above the values with their deviations over seeds, below the differences of means to the base
    method, which the range of the values hides. Scales beyond the trained ones are shaded.
    """
    table = source.frame("asr_quality")
    table = table[table["metric"] == "psnr_y"].assign(factor=lambda t: t["scale"].astype(float))
    table = table[table["method"].isin(source.methods)]
    source.require(table, "asr_quality", "PSNR-Y of a method that the config runs")
    sets = sort_by_order(table["dataset"], source.config["asr"]["evaluate"])
    methods = sort_by_order(table["method"], source.methods)
    base = source.config["asr"]["base_method"]
    compared = base in methods and len(methods) > 1
    gaps = [
        read_value(source, psnr_gaps, row.method, base, [(row.dataset, row.scale)])
        for row in table.itertuples()
    ]
    table = table.assign(gap=gaps)
    figure = style.create_figure(style.TEXT_WIDTH, 3.9 if compared else 2.5, differences)
    factors = sorted(table["factor"].unique())
    trained = max(source.config["asr"]["trained_scales"])
    _draw_legend(source, figure, methods, beyond=factors[-1] > trained)
    grid = figure.subplots(1 + compared, len(sets), sharex=True, sharey="row", squeeze=False)
    for column, name in enumerate(sets):
        rows = table[table["dataset"] == name]
        grid[0, column].set_title(name_dataset(source, "asr", name).replace(" ", "\n"))
        _draw_curves(source, grid[0, column], rows, methods)
        if compared:
            gaps_to_base = rows.dropna(subset=["gap"]).assign(mean=rows["gap"], std=math.nan)
            _draw_curves(source, grid[1, column], gaps_to_base, methods)
    for axes in grid.flat:
        _set_scales(axes, factors, trained)
    for axes in grid[-1]:
        axes.set_xlabel("Scale factor")
    grid[0, 0].set_ylabel(PSNR_Y.arrowed_heading)
    if compared:
        grid[1, 0].set_ylabel(f"Difference to\n{name_subject(source, base)} (dB)")
    return figure


def _set_scales(axes: Axes, factors: Sequence[float], trained: float) -> None:
    """Set scale factors as ticks, as many as fit; shade those beyond the largest trained one."""
    beyond = [factor for factor in factors if factor > trained]
    low, high = factors[0] - 0.5, factors[-1] + 0.5
    if factors[-1] / factors[0] > style.LOG_FROM:
        axes.set_xscale("log")
        low, high = factors[0] / 1.2, factors[-1] * 1.2
    if beyond:
        edge = (trained + beyond[0]) / 2
        axes.axvspan(edge, high, color="#ececec", linewidth=0, zorder=0)
    axes.xaxis.set_major_locator(FixedLocator(factors, nbins=TICKS))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(low, high)


def _draw_legend(source: Aggregates, figure: Figure, methods: list[str], beyond: bool) -> None:
    """Draw the legend of the methods, and of the shade where scales lie `beyond` training."""
    entries: list[Artist] = [
        style.build_legend_entry(
            name_subject(source, method), **style.style_marker(look, 5), linestyle=look.line
        )
        for method, look in style.read_looks(source).items()
        if method in methods
    ]
    if beyond:
        entries.append(Patch(facecolor="#ececec", edgecolor="#bbbbbb", label="beyond training"))
    figure.legend(handles=entries, loc=style.ABOVE, ncols=3, handlelength=2.6)


def _draw_curves(source: Aggregates, axes: Axes, rows: pd.DataFrame, methods: list[str]) -> None:
    """Draw the means of `rows` over the scale factor with their standard deviations.

    The base method lies below, with larger markers, so that others almost at its values are seen.
    """
    looks, base = style.read_looks(source), source.config["asr"]["base_method"]
    for method in sorted(methods, key=base.__ne__):
        curve = rows[rows["method"] == method].sort_values("factor")
        if not curve.empty:
            look = looks[method]
            size = 5.0 if method == base else 3.2
            line = style.style_marker(
                look, size, **THIN_MARKERS, linestyle=look.line, linewidth=0.9
            )
            axes.errorbar(curve["factor"], curve["mean"], yerr=curve["std"], **line)
