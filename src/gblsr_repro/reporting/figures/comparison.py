"""The figure of measured against published values, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ...errors import UserError
from .. import published
from ..tidy import Summaries
from .source import FigureSource, ordered
from .style import FAINT, INK, LOG_FROM, TEXT_WIDTH, log_ticks, marker_handle, message, new_figure

COLUMNS = 4


@dataclass(frozen=True)
class Panel:
    """One metric of one aggregate; `place` is the key's part that names the arm or method."""

    aggregate: str
    metric: str
    title: str
    unit: float = 1.0

    @property
    def place(self) -> int:
        """Position of the arm or method in the aggregate's keys."""
        return 0 if self.aggregate == "ablation" else 1


PANELS = (
    Panel("native", "psnr", "PSNR (dB)"),
    Panel("native", "ssim", "SSIM"),
    Panel("native", "lpips", "LPIPS"),
    Panel("native", "edge_lpips", "Edge-LPIPS"),
    Panel("native", "lse", "LSE"),
    Panel("native", "inference_ms", "Inference (ms)"),
    Panel("native", "params", "Parameters (M)", 1e6),
    Panel("ablation", "psnr", "Validation PSNR"),
    Panel("asr_quality", "psnr_y", "SR: PSNR-Y (dB)"),
    Panel("asr_quality", "ssim_y", "SR: SSIM-Y"),
    Panel("asr_latency", "mean_ms", "SR: time (ms)"),
)
Cell = tuple[str, float, float | None]  # arm or method, published, measured


def measured_vs_published(source: FigureSource, note: Sequence[str]) -> Figure:
    """Draw every cell that the paper publishes against its measured value, a panel per metric.

    On the diagonal both agree. Metrics of aggregates that are not there are left out. Raises
    `UserError` when nothing published was measured.
    """
    paper = published.aggregates().summaries
    aggregates = dict.fromkeys(panel.aggregate for panel in PANELS)
    measured = {a: getattr(source, a) for a in aggregates if source.path(a).is_file()}
    cells = {
        panel: list(_cells(panel, paper[panel.aggregate], measured[panel.aggregate]))
        for panel in PANELS
        if panel.aggregate in measured
    }
    shown = {key for found in cells.values() for key, _, value in found if value is not None}
    if not shown:
        raise UserError(f"{source.folder} holds no value that the paper publishes.")
    names = ordered(shown, [*source.arms, *source.methods])
    rows = math.ceil(len(cells) / COLUMNS)
    figure = new_figure(TEXT_WIDTH, 0.75 + 1.45 * rows, note)
    handles = [marker_handle(source.looks[name], source.label(name)) for name in names]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    grid = figure.subplots(rows, COLUMNS, squeeze=False)
    for axes in grid.flat[len(cells) :]:
        axes.axis("off")
    for axes, (panel, found) in zip(grid.flat, cells.items(), strict=False):
        axes.set_box_aspect(1)
        _panel(source, axes, panel, found)
    for axes in grid[:, 0]:
        axes.set_ylabel("measured")
    for axes in grid.flat[max(0, len(cells) - COLUMNS) : len(cells)]:
        axes.set_xlabel("published")
    return figure


def _cells(panel: Panel, paper: Summaries, measured: Summaries) -> Iterable[Cell]:
    for key, summary in paper.items():
        if key[-1] == panel.metric:
            found = measured.get(key)
            yield key[panel.place], summary.mean, None if found is None else found.mean


def _panel(source: FigureSource, axes: Axes, panel: Panel, cells: list[Cell]) -> None:
    drawn = [(key, x / panel.unit, y / panel.unit) for key, x, y in cells if y is not None]
    if not drawn:
        axes.set_title(f"{panel.title}\n", fontsize=7)
        message(axes, "not measured")
        return
    gap = float(np.median([abs(y - x) for _, x, y in drawn]))
    axes.set_title(f"{panel.title}\n{len(drawn)}/{len(cells)}, |Δ| {gap:.2g}", fontsize=7)
    values = [value for _, x, y in drawn for value in (x, y)]
    low, high = _limits(axes, min(values), max(values))
    axes.plot([low, high], [low, high], color=FAINT, linewidth=0.8, zorder=1)
    for key, x, y in drawn:
        look = source.looks[key]
        axes.plot(
            x,
            y,
            marker=look.marker,
            markersize=3.8,
            color=look.colour,
            markeredgecolor=INK,
            markeredgewidth=0.4,
            zorder=3,
        )


def _limits(axes: Axes, low: float, high: float) -> tuple[float, float]:
    """Give both axes the same limits and ticks, logarithmic for a wide ratio; return the limits."""
    if low > 0 and high / low > LOG_FROM:
        room = (high / low) ** 0.08
        low, high = low / room, high * room
        axes.set_xscale("log")
        axes.set_yscale("log")
        ticks = log_ticks(low, high, 3)
        texts = [f"{tick:g}" for tick in ticks]
    else:
        room = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
        low, high = low - room, high + room
        ticks = MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
        ticks = [round(float(tick), 10) for tick in ticks if low <= tick <= high]
        texts = [f"{tick:g}" for tick in ticks]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, texts)
        axis.set_ticks([], minor=True)
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    return low, high
