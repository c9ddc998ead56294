"""The figure of the log-space ablation: quality of four arms on the validation images."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .source import FigureSource, ordered
from .style import COLUMN_WIDTH, FAINT, INK, message, new_figure, row_texts

PANELS = {"psnr": ("PSNR (dB) ↑", 3), "lpips": ("LPIPS ↓", 4)}
PARTS = ("reference", "control", "log")


def logspace_metrics(source: FigureSource, note: str) -> Figure:
    """Draw PSNR and LPIPS of Fixed, Scalar and the log-space arms, with each step's size.

    The control's step is counted from the reference, an arm's from the control.
    """
    table = source.frame("ablation")
    arms = [name for part in PARTS for name, arm in source.arms.items() if arm.diagnostic == part]
    table = table[table["arm"].isin(arms) & table["metric"].isin(PANELS)]
    source.require(table, "ablation", "PSNR of an arm of the ablation")
    arms = ordered(table["arm"], arms)
    figure = new_figure(COLUMN_WIDTH, 3.3, note)
    for axes, (metric, (title, digits)) in zip(figure.subplots(2), PANELS.items(), strict=True):
        rows = table[table["metric"] == metric].set_index("arm")
        if rows.empty:
            reason = source.lpips_reason() if metric == "lpips" else "no value in the aggregates"
            message(axes, f"{title[:-2]} not measured: {reason}")
        else:
            axes.set_title(title)
            _rows(source, axes, rows, arms, digits)
    return figure


def _rows(
    source: FigureSource, axes: Axes, rows: pd.DataFrame, arms: list[str], digits: int
) -> None:
    """Draw one row per arm: its mean with its standard deviation, the number and the step."""
    control = next((arm for arm in arms if source.arms[arm].diagnostic == "control"), None)
    if control in rows.index:
        axes.axvline(rows.loc[control, "mean"], color=FAINT, linestyle=(0, (4, 2)), zorder=1)
    for place, arm in enumerate(arms):
        if arm not in rows.index:
            continue
        look = source.looks[arm]
        axes.errorbar(
            rows.loc[arm, "mean"],
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
    axes.set_ylim(len(arms) - 0.4, -0.6)
    axes.margins(x=0.12)
    axes.set_yticks(range(len(arms)), [source.arms[arm].short for arm in arms])
    axes.grid(False, axis="y")
    row_texts(axes, [_numbers(source, rows["mean"], arm, arms, digits) for arm in arms])


def _numbers(source: FigureSource, means: pd.Series, arm: str, arms: list[str], digits: int) -> str:
    """Return an arm's mean and, below it, the step from the arm it is compared with."""
    value = means.get(arm, math.nan)
    if math.isnan(value):
        return "—"
    base = {"control": "reference"}.get(source.arms[arm].diagnostic, "control")
    other = next((a for a in arms if source.arms[a].diagnostic == base), None)
    if source.arms[arm].diagnostic == "reference" or other not in means.index:
        return f"{value:.{digits}f}"
    step = f"{value - means[other]:+.{digits}f}".replace("-", "−")
    return f"{value:.{digits}f}\n{step} vs {source.arms[other].short}"
