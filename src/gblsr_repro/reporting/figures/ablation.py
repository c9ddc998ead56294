"""The figure of the log-space ablation: quality of four arms on the validation images."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..aggregates import Aggregates, ordered
from ..items import item
from . import style

PANELS = {"psnr": "PSNR (dB) ↑", "lpips": "LPIPS ↓"}
PARTS = ("reference", "control", "log")


@item
def logspace_metrics(source: Aggregates, note: Sequence[str]) -> Figure:
    """Draw PSNR (left) and LPIPS (right) of Fixed, Scalar and the log-space arms, with each step.

    The control's step is counted from the reference, an arm's from the control; steps are the
    means over seeds of the gaps within a seed, `delta_<metric>` of the aggregate.
    """
    table = source.frame("ablation")
    arms = [name for part in PARTS for name, arm in source.arms.items() if arm.diagnostic == part]
    table = table[table["arm"].isin(arms)].set_index(["metric", "arm"])
    measured = [metric for metric in PANELS if metric in table.index]
    values = source.require(table.loc[measured], "ablation", "PSNR of an arm of the ablation")
    arms = ordered(values.index.get_level_values("arm"), arms)
    figure = style.new_figure(style.COLUMN_WIDTH, 0.4 + 0.45 * len(arms), note)
    # The reason for an absent value needs more room than the value.
    panels = figure.subplots(1, 2, width_ratios=[1 if m in measured else 1.4 for m in PANELS])
    for axes, (metric, title) in zip(panels, PANELS.items(), strict=True):
        if metric not in measured:
            style.message(axes, f"{title[:-2]} {source.unmeasured(metric)}")
            continue
        axes.set_title(title)
        _rows(source, axes, table.loc[metric], arms, _steps(source, f"delta_{metric}", arms))
        names = [source.arms[arm].short if axes is panels[0] else "" for arm in arms]
        style.name_rows(axes, names, 0.4)
    return figure


def _rows(
    source: Aggregates, axes: Axes, rows: pd.DataFrame, arms: list[str], steps: dict[str, float]
) -> None:
    """Draw one row per arm: its mean, written above, with its standard deviation, and below it
    its step; and a line at the control.
    """
    for place, arm in enumerate(arms):
        if arm not in rows.index:
            continue
        (mean, std), look = rows.loc[arm, ["mean", "std"]], style.looks_of(source)[arm]
        drawn = style.point(look, 7) | {"color": style.INK, "markerfacecolor": look.color}
        axes.errorbar(mean, place, xerr=std, **drawn, elinewidth=1.0, capsize=2.5)
        style.beside_point(axes, mean, place, 5, f"{mean:.3f}")
        if arm in steps:
            style.beside_point(axes, mean, place, -5, f"{steps[arm]:+.3f}".replace("-", "−"))
        if source.arms[arm].diagnostic == "control":
            axes.axvline(mean, color=style.FAINT, linestyle=style.DASHED, zorder=1)
    axes.margins(x=0.35)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.grid(False, axis="y")


def _steps(source: Aggregates, gap: str, arms: list[str]) -> dict[str, float]:
    """Return the step of each arm: the control's from the reference, others' from the control.

    The metric `gap` of the aggregate is to the control.
    """
    part = {source.arms[arm].diagnostic: arm for arm in arms}
    steps = {a: step for a in arms if (step := source.mean("ablation", a, gap)) is not None}
    if "control" in part and part.get("reference") in steps:
        steps[part["control"]] = -steps.pop(part["reference"])
    return steps
