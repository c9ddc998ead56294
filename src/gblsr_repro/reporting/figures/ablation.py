"""The figure of the log-space ablation: quality of four arms on the validation images."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .source import FigureSource, ordered
from .style import COLUMN_WIDTH, FAINT, INK, message, new_figure

PANELS = {"psnr": "PSNR (dB) ↑", "lpips": "LPIPS ↓"}
PARTS = ("reference", "control", "log")


def logspace_metrics(source: FigureSource, note: Sequence[str]) -> Figure:
    """Draw PSNR (left) and LPIPS (right) of Fixed, Scalar and the log-space arms, with each step.

    The control's step is counted from the reference, an arm's from the control; steps are the
    means over seeds of the gaps within a seed, `delta_<metric>` of the aggregate.
    """
    table = source.frame("ablation")
    arms = [name for part in PARTS for name, arm in source.arms.items() if arm.diagnostic == part]
    table = table[table["arm"].isin(arms)]
    values = table[table["metric"].isin(PANELS)]
    source.require(values, "ablation", "PSNR of an arm of the ablation")
    arms = ordered(values["arm"], arms)
    figure = new_figure(COLUMN_WIDTH, 0.4 + 0.45 * len(arms), note)
    measured = set(values["metric"])
    # The reason for an absent value needs more room than the value.
    panels = figure.subplots(1, 2, width_ratios=[1 if m in measured else 1.4 for m in PANELS])
    for axes, (metric, title) in zip(panels, PANELS.items(), strict=True):
        rows = table[table["metric"] == metric].set_index("arm")
        if rows.empty:
            reason = source.lpips_reason() if metric == "lpips" else "no value in the aggregates"
            message(axes, f"{title[:-2]} not measured: {reason}")
            continue
        axes.set_title(title)
        gaps = table[table["metric"] == f"delta_{metric}"].set_index("arm")["mean"]
        _rows(source, axes, rows, arms, _steps(source, gaps, arms))
        names = [source.arms[arm].short if axes is panels[0] else "" for arm in arms]
        axes.set_yticks(range(len(arms)), names)
    return figure


def _rows(
    source: FigureSource,
    axes: Axes,
    rows: pd.DataFrame,
    arms: list[str],
    steps: dict[str, float],
) -> None:
    """Draw one row per arm: its mean, written above, with its standard deviation, and below it
    its step; and a line at the control.
    """
    for place, arm in enumerate(arms):
        if arm not in rows.index:
            continue
        look, mean = source.looks[arm], rows.loc[arm, "mean"]
        axes.errorbar(
            mean,
            place,
            xerr=rows.loc[arm, "std"],
            color=INK,
            marker=look.marker,
            markersize=7,
            markerfacecolor=look.colour,
            markeredgecolor=INK,
            elinewidth=1.0,
            capsize=2.5,
        )
        _text(axes, mean, place, 5, f"{mean:.3f}")
        if arm in steps:
            _text(axes, mean, place, -5, f"{steps[arm]:+.3f}".replace("-", "−"))
        if source.arms[arm].diagnostic == "control":
            axes.axvline(mean, color=FAINT, linestyle=(0, (4, 2)), zorder=1)
    axes.set_ylim(len(arms) - 0.4, -0.6)
    axes.margins(x=0.35)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.grid(False, axis="y")


def _text(axes: Axes, x: float, y: float, above: float, text: str) -> None:
    """Write `text` over (or, for a negative distance in points, under) a marker."""
    axes.annotate(
        text,
        (x, y),
        xytext=(0, above),
        textcoords="offset points",
        ha="center",
        va="bottom" if above > 0 else "top",
        fontsize=7,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.3},
    )


def _steps(source: FigureSource, gaps: pd.Series, arms: list[str]) -> dict[str, float]:
    """Return the step of each arm: the control's from the reference, others' from the control.

    `gaps` are to the control.
    """
    part = {source.arms[arm].diagnostic: arm for arm in arms}
    control, reference = part.get("control"), part.get("reference")
    steps = {arm: float(gaps[arm]) for arm in arms if arm in gaps.index}
    if reference in steps and control is not None:
        steps[control] = -steps.pop(reference)
    return steps
