"""Draw the figure of the log-space ablation: what a bandwidth for every patch is worth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Panel:
    """One metric: its title, and by measured arm the number drawn and the text beside it."""

    title: str
    rows: Mapping[str, tuple[Summary, str]]


def draw_logspace_metrics(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw PSNR (left) and LPIPS (right) of Fixed, Scalar and the log-space arms, with each step.

    The control's step is counted from the reference, an arm's from the control; steps are the
    means over seeds of the gaps within a seed, `delta_<metric>` of the aggregate. Where only gaps
    were published, as of the paper's LPIPS, they are drawn in place of the values, the control
    at 0.
    """
    arms = [name for part in ABLATION for name in list_drawn_arms(source, part)]
    contents = [_read_panel(source, metric, arms) for metric in (PSNR, LPIPS)]
    measured = {arm for panel in contents for arm in panel.rows}
    source.require(measured, "ablation", "PSNR of an arm of the ablation")
    arms = sort_by_order(measured, arms)
    figure = style.create_figure(style.COLUMN_WIDTH, 0.85 + 0.38 * len(arms), differences)
    _explain_marks(source, figure)
    panels = figure.subplots(1, 2)
    for axes, panel in zip(panels, contents, strict=True):
        axes.set_title(panel.title)
        _draw_arms(source, axes, panel.rows, arms)
        names = [source.arms[arm].short if axes is panels[0] else "" for arm in arms]
        style.name_rows(axes, names, 0.4)
        style.annotate_rows(axes, [panel.rows.get(arm, (None, DASH))[1] for arm in arms])
    return figure


def _explain_marks(source: Aggregates, figure: Figure) -> None:
    """Explain in a legend the dashed line and the numbers with a sign."""
    names = {arm.diagnostic: arm.short for arm in source.arms.values()}
    control, reference = names["control"], names["reference"]
    line = style.build_legend_entry(f"{control}'s", color=style.FAINT, linestyle=style.DASHED)
    steps = f"+ −: {control} minus {reference}, others minus {control}"
    style.draw_legend(figure, [line, style.build_legend_entry(steps)], 1)


def _read_panel(source: Aggregates, metric: Metric, arms: Sequence[str]) -> Panel:
    """Read the numbers of a panel; an arm that was not measured is left out."""
    part = {source.arms[arm].diagnostic: arm for arm in arms}
    control, reference = part["control"], part["reference"]
    means = {arm: source.cell("ablation", arm, metric.name) for arm in arms}
    gaps = {arm: source.cell("ablation", arm, f"delta_{metric.name}") for arm in arms}
    if not any(cell.measured for cell in means.values()):
        rows = {
            arm: (gap, format_difference(gap.mean, 3)) for arm, gap in gaps.items() if gap.measured
        }
        if rows:
            rows[control] = (Summary(0.0), "0")
        return Panel(f"{metric.arrowed_heading}\nminus {source.arms[control].short}'s", rows)
    steps = {arm: gap.mean for arm, gap in gaps.items()}
    steps |= {control: -steps[reference], reference: math.nan}  # gaps are to the control
    rows = {
        arm: (cell, _format_step(cell.mean, steps[arm]))
        for arm, cell in means.items()
        if cell.measured
    }
    return Panel(metric.arrowed_heading, rows)


def _format_step(value: float, step: float) -> str:
    """Format a value, and under it the step to it where one is measured."""
    lines = [f"{value:.3f}"]
    if not math.isnan(step):
        lines.append(format_difference(step, 3))
    return "\n".join(lines)


def _draw_arms(
    source: Aggregates, axes: Axes, rows: Mapping[str, tuple[Summary, str]], arms: Sequence[str]
) -> None:
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
