"""Draw the figure of measured against published values, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...analysis.derived import median_distance, pair_with_published
from ...analysis.metrics import LSE, SUPERRES, list_shown
from ...analysis.reader import Aggregates, read_paper_aggregates
from ...config import load_protocol
from ...errors import UserError
from ..names import name_subject, sort_by_order
from . import style

PANEL_COLUMNS = 4
PANELS = (  # aggregate, metric, title, unit
    *(
        ("native", metric.name, metric.heading[0].upper() + metric.heading[1:], 1)
        for metric in (*list_shown("main"), LSE)
    ),
    ("native", "inference_ms", "Inference (ms)", 1),
    ("native", "params", "Parameters (M)", 1e6),
    ("ablation", "psnr", "Validation PSNR", 1),
    *(("asr_quality", metric.name, metric.heading, 1) for metric in SUPERRES),
    ("asr_latency", "mean_ms", "Super-resolution (ms)", 1),
)


def draw_measured_vs_published(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw every cell that the paper publishes against its measured value, a panel per metric.

    On the diagonal both agree. Metrics that were not measured are left out. A message stands for
    the panels where nothing published was measured, as on images of one's own alone. Raises
    `UserError` where nothing was.
    """
    if not any(source.has(aggregate) for aggregate, *_ in PANELS):
        raise UserError(f"{source.folder} holds no scores and no times; run what measures them.")
    paper = read_paper_aggregates(load_protocol())
    panels: dict[str, pd.DataFrame] = {}
    for aggregate, metric, title, unit in PANELS:
        if source.has(aggregate):
            pairs = pair_with_published(source, paper, aggregate, metric) / unit
            if pairs["measured"].notna().any():
                panels[title] = pairs
    if not panels:
        figure = style.create_figure(style.TEXT_WIDTH, 1.0, differences)
        style.draw_message(figure.subplots(), "no number of the paper's tables was measured")
        return figure
    measured = [name for cells in panels.values() for name in cells.dropna().index]
    names = sort_by_order(measured, [*source.arms, *source.methods])
    columns = min(PANEL_COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = style.create_figure(style.TEXT_WIDTH, 0.75 + 1.6 * rows, differences)
    looks = style.read_looks(source)
    entries = [
        style.build_legend_entry(name_subject(source, name), **style.style_marker(looks[name], 5))
        for name in names
    ]
    figure.legend(handles=entries, loc=style.ABOVE, ncols=4)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.axis("off")
    for axes, (title, cells) in zip(grid.flat, panels.items(), strict=False):
        axes.set_box_aspect(1)
        axes.set_title(f"{title}\n{_describe_distance(cells)}", fontsize=7)
        _draw_cells(looks, axes, cells.dropna())
    for axes in grid[:, 0]:
        axes.set_ylabel("measured")
    for axes in grid.flat[len(panels) - columns : len(panels)]:
        axes.set_xlabel("published")
    return figure


def _describe_distance(pairs: pd.DataFrame) -> str:
    """Describe how many published cells were measured, and their median distance."""
    median = median_distance(pairs)
    distance = f"{median:,.0f}" if median >= 100 else f"{median:.2g}"
    return f"{pairs['measured'].count()} of {len(pairs)} measured\nmedian |Δ| {distance}"


def _draw_cells(looks: dict[str, style.Look], axes: Axes, cells: pd.DataFrame) -> None:
    """Draw the cells of one metric over the diagonal; axes of a wide ratio are logarithmic."""
    ends = low, high = cells.min(axis=None), cells.max(axis=None)
    axes.plot(ends, ends, color=style.FAINT, linewidth=0.8, zorder=1)
    for key, x, y in cells.itertuples():
        marker = style.style_marker(looks[key], 3.8, markeredgewidth=0.4, zorder=3)
        axes.plot(x, y, **marker)
    axes.margins(0.08, 0.08)
    if low > 0 and high / low > style.LOG_FROM:
        steps = (1, 3) if high / low < 100 else (1,)
        style.make_logarithmic(axes.xaxis, steps)
        style.make_logarithmic(axes.yaxis, steps)
    else:
        axes.locator_params(nbins=3)
