"""The figure of measured against published values, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ...analysis.reader import Aggregates
from ...analysis.schemas import SCHEMAS
from ...config import protocol
from ...errors import UserError
from ..items import item
from ..names import name_subject, sort_by_order
from . import style

COLUMNS = 4
PANELS = (  # kind of aggregate, metric, title, unit
    ("native", "psnr", "PSNR (dB)", 1),
    ("native", "ssim", "SSIM", 1),
    ("native", "lpips", "LPIPS", 1),
    ("native", "edge_lpips", "Edge-LPIPS", 1),
    ("native", "lse", "LSE", 1),
    ("native", "inference_ms", "Inference (ms)", 1),
    ("native", "params", "Parameters (M)", 1e6),
    ("ablation", "psnr", "Validation PSNR", 1),
    ("asr_quality", "psnr_y", "SR: PSNR-Y (dB)", 1),
    ("asr_quality", "ssim_y", "SR: SSIM-Y", 1),
    ("asr_latency", "mean_ms", "SR: time (ms)", 1),
)


@item
def measured_vs_published(source: Aggregates, note: Sequence[str]) -> Figure:
    """Draw every cell that the paper publishes against its measured value, a panel per metric.

    On the diagonal both agree. Metrics of aggregates that are not there are left out. Raises
    `UserError` when nothing published was measured.
    """
    paper = Aggregates.paper(protocol())
    panels = {
        title: _cells(paper, source, kind, metric) / unit
        for kind, metric, title, unit in PANELS
        if source.has(kind)
    }
    shown = [name for cells in panels.values() for name in cells.dropna().index]
    if not shown:
        raise UserError(f"{source.folder} holds no value that the paper publishes.")
    names = sort_by_order(shown, [*source.arms, *source.methods])
    columns = min(COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = style.new_figure(style.TEXT_WIDTH, 0.75 + 1.45 * rows, note)
    looks = style.looks_of(source)
    style.legend(
        figure,
        [style.handle(name_subject(source, name), **style.point(looks[name], 5)) for name in names],
        4,
    )
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.axis("off")
    for axes, (title, cells) in zip(grid.flat, panels.items(), strict=False):
        axes.set_box_aspect(1)
        _panel(looks, axes, title, cells)
    for axes in grid[:, 0]:
        axes.set_ylabel("measured")
    for axes in grid.flat[len(panels) - columns : len(panels)]:
        axes.set_xlabel("published")
    return figure


def _cells(paper: Aggregates, measured: Aggregates, kind: str, metric: str) -> pd.DataFrame:
    """Return what the paper publishes (x) and what was measured (y, NaN: not), by arm or method."""
    keys = list(SCHEMAS[kind].keys)
    both = paper.frame(kind).merge(measured.frame(kind), "left", on=keys)
    both = both[both["metric"] == metric].set_index(keys[0 if kind == "ablation" else 1])
    return both[["mean_x", "mean_y"]]


def _panel(looks: dict[str, style.Look], axes: Axes, title: str, cells: pd.DataFrame) -> None:
    drawn = cells.dropna()
    if drawn.empty:
        axes.set_title(f"{title}\n", fontsize=7)
        style.message(axes, "not measured")
        return
    gap = (drawn["mean_y"] - drawn["mean_x"]).abs().median()
    distance = f"{gap:,.0f}" if gap >= 100 else f"{gap:.2g}"
    axes.set_title(f"{title}\n{len(drawn)}/{len(cells)}, |Δ| {distance}", fontsize=7)
    low, high = _limits(axes, drawn.min(axis=None), drawn.max(axis=None))
    axes.plot([low, high], [low, high], color=style.FAINT, linewidth=0.8, zorder=1)
    for key, x, y in drawn.itertuples():
        axes.plot(x, y, **style.point(looks[key], 3.8), markeredgewidth=0.4, zorder=3)


def _limits(axes: Axes, low: float, high: float) -> tuple[float, float]:
    """Give both axes the same limits and ticks, logarithmic for a wide ratio; return the limits."""
    ticks: Sequence[float]
    if low > 0 and high / low > style.LOG_FROM:
        room = (high / low) ** 0.08
        low, high = low / room, high * room
        axes.set(xscale="log", yscale="log")
        ticks = style.log_ticks(low, high, 3)
    else:
        # Not so narrow that the ticks' labels are long and alike.
        room = max(0.08 * (high - low), 0.02 * abs(high)) or 1.0
        low, high = low - room, high + room
        ticks = MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
        ticks = [round(float(tick), 10) for tick in ticks if low <= tick <= high]
    for axis in (axes.xaxis, axes.yaxis):
        style.set_ticks(axis, ticks)
    axes.set(xlim=(low, high), ylim=(low, high))
    return low, high
