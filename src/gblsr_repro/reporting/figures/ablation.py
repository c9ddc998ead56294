"""The figure of the log-space ablation: quality of four arms on the validation images."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .source import FigureSource, ordered
from .style import COLUMN_WIDTH, FAINT, INK, message, new_figure, row_texts

PANELS = {"psnr": ("PSNR (dB) ↑", 3), "lpips": ("LPIPS ↓", 4)}
PARTS = ("reference", "control", "log")


def logspace_metrics(source: FigureSource, note: str) -> Figure:
    """Draw PSNR and LPIPS of Fixed, Scalar and the log-space arms, with each step's size.

    The control's step is counted from the reference, an arm's from the control; steps are the
    means over seeds of the gaps within a seed, `delta_<metric>` of the aggregate.
    """
    table = source.frame("ablation")
    arms = [name for part in PARTS for name, arm in source.arms.items() if arm.diagnostic == part]
    table = table[table["arm"].isin(arms)]
    values = table[table["metric"].isin(PANELS)]
    source.require(values, "ablation", "PSNR of an arm of the ablation")
    arms = ordered(values["arm"], arms)
    figure = new_figure(COLUMN_WIDTH, 3.3, note)
    for axes, (metric, (title, digits)) in zip(figure.subplots(2), PANELS.items(), strict=True):
        rows = table[table["metric"] == metric].set_index("arm")
        if rows.empty:
            reason = source.lpips_reason() if metric == "lpips" else "no value in the aggregates"
            message(axes, f"{title[:-2]} not measured: {reason}")
            continue
        axes.set_title(title)
        _rows(source, axes, rows, arms)
        gaps = table[table["metric"] == f"delta_{metric}"].set_index("arm")["mean"]
        steps = _steps(source, gaps, arms)
        row_texts(axes, [_numbers(rows["mean"].get(a), steps.get(a), digits) for a in arms])
    return figure


def _rows(source: FigureSource, axes: Axes, rows: pd.DataFrame, arms: list[str]) -> None:
    """Draw one row per arm, its mean with its standard deviation, and a line at the control."""
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
        if source.arms[arm].diagnostic == "control":
            axes.axvline(rows.loc[arm, "mean"], color=FAINT, linestyle=(0, (4, 2)), zorder=1)
    axes.set_ylim(len(arms) - 0.4, -0.6)
    axes.margins(x=0.12)
    axes.set_yticks(range(len(arms)), [source.arms[arm].short for arm in arms])
    axes.grid(False, axis="y")


def _steps(source: FigureSource, gaps: pd.Series, arms: list[str]) -> dict[str, tuple[float, str]]:
    """Return for each arm its step and the arm it is counted from; `gaps` are to the control."""
    part = {source.arms[arm].diagnostic: arm for arm in arms}
    control, reference = part.get("control"), part.get("reference")
    if control is None:
        return {}
    steps = {arm: (gaps[arm], source.arms[control].short) for arm in arms if arm in gaps.index}
    if reference in steps:
        steps[control] = (-steps.pop(reference)[0], source.arms[reference].short)
    return steps


def _numbers(mean: float | None, step: tuple[float, str] | None, digits: int) -> str:
    if mean is None:
        return "—"
    if step is None:
        return f"{mean:.{digits}f}"
    gap, other = step
    return f"{mean:.{digits}f}\n{gap:+.{digits}f} vs {other}".replace("-", "−")
