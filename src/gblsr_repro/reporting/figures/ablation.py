"""Draw the figure of the log-space ablation: what a bandwidth for every patch is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ...analysis.metrics import LPIPS, PSNR, Metric
from ...analysis.reader import Aggregates
from ...analysis.schemas import ABLATION
from ...analysis.statistics import Summary
from ..layout import DASH, format_difference
from ..names import sort_by_order
from . import style
from .locality import list_drawn_arms

MARKER = 4.0  # points, smaller than the deviations drawn beside it
Rows = dict[str, tuple[Summary, str]]
"""By arm, the number that is drawn, and the text beside it: the number, and the step to it."""


def draw_logspace_metrics(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw PSNR (left) and LPIPS (right) of Fixed, Scalar and the log-space arms, with each step.

    The control's step is counted from the reference, an arm's from the control; steps are the
    means over seeds of the gaps within a seed, `delta_<metric>` of the aggregate.
    """
    arms = [name for part in ABLATION for name in list_drawn_arms(source, part)]
    contents = {metric: _read_rows(source, metric, arms) for metric in (PSNR, LPIPS)}
    measured = {arm for rows in contents.values() for arm in rows}
    source.require(measured, "ablation", "PSNR of an arm of the ablation")
    arms = sort_by_order(measured, arms)
    figure = style.create_figure(style.COLUMN_WIDTH, 0.85 + 0.38 * len(arms), differences)
    _explain_marks(source, figure)
    panels = figure.subplots(1, 2)
    for axes, (metric, rows) in zip(panels, contents.items(), strict=True):
        axes.set_title(metric.arrowed_heading)
        _draw_arms(source, axes, rows, arms)
        names = [source.arms[arm].short if axes is panels[0] else "" for arm in arms]
        style.name_rows(axes, names, 0.4)
        style.annotate_rows(axes, [rows.get(arm, (None, DASH))[1] for arm in arms])
    return figure


def _explain_marks(source: Aggregates, figure: Figure) -> None:
    """Explain in a legend the dashed line and the numbers with a sign."""
    names = {arm.diagnostic: arm.short for arm in source.arms.values()}
    control, reference = names["control"], names["reference"]
    line = style.build_legend_entry(f"{control}'s", color=style.FAINT, linestyle=style.DASHED)
    steps = f"+ −: {control} minus {reference}, others minus {control}"
    figure.legend(handles=[line, style.build_legend_entry(steps)], loc=style.ABOVE)


def _read_rows(source: Aggregates, metric: Metric, arms: Sequence[str]) -> Rows:
    """Read the rows of the arms that were measured."""
    part = {source.arms[arm].diagnostic: arm for arm in arms}
    control, reference = part["control"], part["reference"]
    steps = {arm: source.mean("ablation", arm, f"delta_{metric.name}") for arm in arms}
    steps |= {control: -steps[reference], reference: math.nan}  # gaps are to the control
    rows = {}
    for arm in arms:
        cell = source.cell("ablation", arm, metric.name)
        if cell.measured:
            step = "" if math.isnan(steps[arm]) else f"\n{format_difference(steps[arm], 3)}"
            rows[arm] = cell, f"{cell.mean:.3f}{step}"
    return rows


def _draw_arms(source: Aggregates, axes: Axes, rows: Rows, arms: Sequence[str]) -> None:
    """Draw one row per arm, its value with its standard deviation, and a line at the control's."""
    looks = style.read_looks(source)
    for place, arm in enumerate(arms):
        if arm not in rows:
            continue
        (cell, _), look = rows[arm], looks[arm]
        marker = style.style_marker(look, MARKER, color=style.INK, markerfacecolor=look.color)
        axes.errorbar(cell.mean, place, xerr=cell.std, **marker, elinewidth=1.0, capsize=2.5)
        if source.arms[arm].diagnostic == "control":
            axes.axvline(cell.mean, color=style.FAINT, linestyle=style.DASHED, zorder=1)
    axes.margins(x=0.2)
    axes.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10], min_n_ticks=1))
    axes.grid(False, axis="y")
