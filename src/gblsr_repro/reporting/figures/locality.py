"""Figures of the locality diagnostic, how much the bandwidth varies within an image, and of the
log-space ablation, what that is worth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from ...analysis import schemas
from ...analysis.reader import Aggregates
from ...analysis.statistics import LPIPS, PSNR, Metric, Summary
from ...errors import UserError
from ..items import item
from ..layout import DASH, format_difference
from ..names import explain_missing_metric, sort_by_order
from . import style

BINS = 36
LOG_BELOW = 20.0  # a median this much below the threshold calls for logarithmic bins
FLOOR_WITHIN = 2.5  # the floor is drawn where it is at most this multiple of the highest bar
ROOM_FOR_ZERO = 0.2  # share of the axis below which the threshold's label would touch the 0
MISSED = "/////"
FLAGS = {1: (style.MET, " met"), 0: (style.NOT_MET, " not met")}
LIMIT: dict[str, Any] = {"color": style.THRESHOLD, "linestyle": style.DASHED}
BLACK = LIMIT | {"color": "black"}
ERRORS = {"elinewidth": 0.8, "ecolor": "black"}


@item
def cov_hist(source: Aggregates, note: Sequence[str]) -> Figure:
    """Draw histograms of the within-image CoV of the bandwidth, one panel per linear arm.

    Reads the patch fields under the results folder: (images, rows, columns) per arm and seed. The
    T1 threshold and the mean over seeds of the median are marked.
    """
    # Imported here because it takes PyTorch along, which no other figure needs.
    from ...evaluation.fields import Fields
    from ...evaluation.locality import variation

    found: dict[str, list[np.ndarray]] = {}
    for of, path in schemas.find_files("locality", source.results, source.config, schemas.FIELDS):
        if of["subject"] in _arms(source, "linear"):
            found.setdefault(of["subject"], []).append(variation(Fields.read(path).bandwidth))
    if not found:
        raise UserError(
            f"{source.results / 'native' / 'fields'} has no bandwidth fields of a linear arm; run "
            "the fields step first."
        )
    threshold = source.config["diagnostics"]["thresholds"]["t1_cov_median"]
    bins = _bins(np.concatenate([np.concatenate(s) for s in found.values()]), threshold)
    figure = style.new_figure(style.COLUMN_WIDTH, 2.1, note)
    solid = {"linestyle": "-", "color": "black"}
    handles = [style.handle(f"T1: {threshold:g}", **LIMIT),
               style.handle("median (mean over seeds)", **solid)]  # fmt: skip
    style.legend(figure, handles, 2)
    panels = figure.subplots(1, len(found), sharex=True, sharey=True, squeeze=False)[0]
    looks = style.looks_of(source)
    for axes, (arm, variations) in zip(panels, found.items(), strict=True):
        pooled = np.concatenate(variations)
        median = float(np.mean([np.median(values) for values in variations]))
        axes.hist(pooled, bins, color=looks[arm].color, edgecolor=style.INK, linewidth=0.4)
        axes.axvline(threshold, **LIMIT, linewidth=1.1)
        axes.axvline(median, **solid, linewidth=1.1)
        reached = f"{(pooled >= threshold).sum()} of {pooled.size} reach T1"
        lines = source.arms[arm].short, f"median {_short(median)}", reached
        axes.set_title("\n".join(lines), fontsize=7)
        axes.set_xlabel("CoV of bandwidth")
    first = panels[0]
    first.set_ylabel("Images")
    if bins[0] > 0:
        first.set_xscale("log")
        ticks = style.log_ticks(bins[0], bins[-1], 3)
        style.set_ticks(first.xaxis, ticks, [_plain(tick) for tick in ticks])
    else:
        first.xaxis.set_major_locator(MaxNLocator(3))
    first.set_xlim(bins[0], bins[-1])
    return figure


@item
def variance_decomp(source: Aggregates, note: Sequence[str]) -> Figure:
    """Draw the variance of the bandwidth within and across images, one group per linear arm.

    The groups carry the share within images; T4's floor is a line where it lies near the bars,
    else words that say how far above them it is.
    """
    mean, std = _statistics(source, "linear", ["var_within", "var_across", "t4"])
    floor = source.config["diagnostics"]["thresholds"]["t4_within_variance"]
    highest = (mean + std.fillna(0))[["var_within", "var_across"]].max(axis=1)
    top = float(highest.max())
    power = math.floor(math.log10(top)) if top > 0 else 0
    power = 0 if abs(power) < 3 else power
    unit = 10.0**power
    figure = style.new_figure(style.COLUMN_WIDTH, 2.35, note)
    handles: list[Artist] = [
        Patch(facecolor="#9a9a9a", edgecolor=style.INK, label="within images"),
        Patch(facecolor="white", edgecolor=style.INK, hatch=MISSED, label="across images"),
    ]
    axes = figure.subplots()
    near, told = 0 < floor <= FLOOR_WITHIN * top, f"T4 floor {_plain(floor)}"
    if near:
        handles.append(axes.axhline(floor / unit, **LIMIT, linewidth=1.1, label=told))
    elif top > 0:
        words = f"{told}: {_short(floor / top)}× the highest bar"
        axes.set_title(words, fontsize=7, color=style.THRESHOLD)
    style.legend(figure, handles, 2, handleheight=1.0)
    for place, arm in enumerate(mean.index):
        color, share = style.looks_of(source)[arm].color, mean["t4"][arm]
        for side, name, fill, edge, hatch in (
            (-0.17, "var_within", color, style.INK, ""),
            (0.17, "var_across", "white", color, MISSED),
        ):
            axes.bar(place + side, mean[name][arm] / unit, 0.34, yerr=std[name][arm] / unit,
                     color=fill, edgecolor=edge, hatch=hatch, error_kw=ERRORS)  # fmt: skip
        words = "within: —" if math.isnan(share) else f"within: {share:.2f}\nof the total"
        style.beside_point(axes, place, highest[arm] / unit, 2.5, words)
    axes.set_xticks(range(len(mean)), [source.arms[arm].short for arm in mean.index])
    axes.set_xlim(-0.6, len(mean) - 0.4)
    axes.set_ylim(0, 1.38 * max(top, floor if near else 0) / unit or 1)
    axes.set_ylabel("Bandwidth variance" + (f" (×{_power(power)})" if power else ""))
    axes.tick_params(axis="x", length=0)
    axes.grid(False, axis="x")
    return figure


@item
def logspace_loctests(source: Aggregates, note: Sequence[str]) -> Figure:
    """Draw the values of T1-T4 of the log-space arms against their thresholds, met or not met.

    T4 has two panels, because its second condition, the magnitude floor, can fail a ratio that
    clears its own threshold.
    """
    tests = [f"t{k}" for k in range(1, 5)]
    wanted = [*tests, *(f"{t}_met" for t in tests), "var_within"]
    mean, std = _statistics(source, "log", wanted)
    limits = source.config["diagnostics"]["thresholds"]
    panels = (
        ("t1", "t1", "T1: median CoV", "≥", limits["t1_cov_median"]),
        ("t2", "t2", "T2: collapsed images", "<", limits["t2_fraction_collapsed"]),
        ("t3", "t3", "T3: region gap", "≥", limits["t3_region_gap"]),
        ("t4", "t4", "T4: share within images", "≥", limits["t4_within_fraction"]),
        ("var_within", "t4", "T4: variance within", "≥", limits["t4_within_variance"]),
    )
    height = 0.55 + len(panels) * (0.36 + 0.15 * len(mean))
    figure = style.new_figure(style.COLUMN_WIDTH, height, note)
    handles = [
        Patch(facecolor=style.MET, edgecolor=style.INK, label="met"),
        Patch(facecolor=style.NOT_MET, edgecolor=style.INK, hatch=MISSED, label="not met"),
        style.handle("threshold", **BLACK),
    ]
    style.legend(figure, handles, 3, handleheight=1.0)
    for axes, panel in zip(figure.subplots(len(panels)), panels, strict=True):
        statistic, test, title, relation, limit = panel
        axes.set_title(f"{title} (needs {relation} {_plain(limit)})", fontsize=7)
        values, flags = mean[statistic], mean[f"{test}_met"]
        # The ratio alone decides nothing: T4's verdict stands beside its second condition.
        said = ["" if statistic == "t4" else FLAGS.get(flag, ("", ""))[1] for flag in flags]
        axes.barh(
            range(len(mean)), values, 0.66, xerr=std[statistic], edgecolor=style.INK,
            color=[FLAGS.get(flag, ("#bbbbbb", ""))[0] for flag in flags],
            hatch=[MISSED if flag == 0 else "" for flag in flags], error_kw=ERRORS,
        )  # fmt: skip
        axes.axvline(limit, **BLACK, linewidth=1.0)
        axes.set_xlim(0, 1.08 * np.nanmax([limit, (values + std[statistic].fillna(0)).max()]))
        marks = [0, limit] if limit > ROOM_FOR_ZERO * axes.get_xlim()[1] else [limit]
        axes.set_xticks(marks, [_plain(mark) for mark in marks])
        style.name_rows(axes, [source.arms[arm].short for arm in mean.index])
        axes.tick_params(axis="y", length=0)
        axes.grid(False)
        texts = zip(values, said, strict=True)
        style.row_texts(axes, ["—" if math.isnan(v) else _short(v) + told for v, told in texts])
    return figure


# --- the log-space ablation -----------------------------------------------------------------------


@item
def logspace_metrics(source: Aggregates, note: Sequence[str]) -> Figure:
    """Draw PSNR (left) and LPIPS (right) of Fixed, Scalar and the log-space arms, with each step.

    The control's step is counted from the reference, an arm's from the control; steps are the
    means over seeds of the gaps within a seed, `delta_<metric>` of the aggregate. Where they alone
    are known, as of the paper's LPIPS, they stand in for the values, the control at 0.
    """
    arms = [name for part in schemas.ABLATION for name in _arms(source, part)]
    found = [(metric, *_ablation(source, metric, arms)) for metric in (PSNR, LPIPS)]
    drawn = {arm for _, _, rows in found for arm in rows}
    arms = sort_by_order(source.require(drawn, "ablation", "PSNR of an arm of the ablation"), arms)
    figure = style.new_figure(style.COLUMN_WIDTH, 0.45 + 0.38 * len(arms), note)
    # The reason for an absent value needs more room than the value.
    panels = figure.subplots(1, 2, width_ratios=[1 if rows else 2.2 for _, _, rows in found])
    for axes, (metric, title, rows) in zip(panels, found, strict=True):
        if not rows:
            style.message(axes, f"{metric.heading} {explain_missing_metric(source, metric.name)}")
            continue
        axes.set_title(title)
        _draw_arms(source, axes, rows, arms)
        names = [source.arms[arm].short if axes is panels[0] else "" for arm in arms]
        style.name_rows(axes, names, 0.4)
        style.row_texts(axes, [rows[arm][1] if arm in rows else DASH for arm in arms])
    return figure


def _ablation(
    source: Aggregates, metric: Metric, arms: Sequence[str]
) -> tuple[str, dict[str, tuple[Summary, str]]]:
    """Return what a panel shows, as its title, and by arm the value drawn and the text beside it.

    An arm that was not measured is left out.
    """
    part = {source.arms[arm].diagnostic: arm for arm in arms}
    control, reference = part["control"], part["reference"]
    means = {arm: source.cell("ablation", arm, metric.name) for arm in arms}
    gaps = {arm: source.cell("ablation", arm, f"delta_{metric.name}") for arm in arms}
    if not any(cell.measured for cell in means.values()):
        rows = {
            arm: (gap, format_difference(gap.mean, 3)) for arm, gap in gaps.items() if gap.measured
        }
        own = {control: (Summary(0.0), "0")} if rows else {}
        return f"{metric.title}\nminus {source.arms[control].short}'s", rows | own
    steps = {arm: gap.mean for arm, gap in gaps.items()}
    steps |= {control: -steps[reference], reference: math.nan}  # gaps are to the control
    return metric.title, {
        arm: (
            cell,
            f"{cell.mean:.3f}\n{format_difference(steps[arm], 3)}".removesuffix(f"\n{DASH}"),
        )
        for arm, cell in means.items()
        if cell.measured
    }


def _draw_arms(
    source: Aggregates, axes: Axes, rows: Mapping[str, tuple[Summary, str]], arms: Sequence[str]
) -> None:
    """Draw one row per arm, its value with its standard deviation, and a line at the control's."""
    for place, arm in enumerate(arms):
        if arm not in rows:
            continue
        (cell, _), look = rows[arm], style.looks_of(source)[arm]
        drawn = style.point(look, 7, color=style.INK, markerfacecolor=look.color)
        axes.errorbar(cell.mean, place, xerr=cell.std, **drawn, elinewidth=1.0, capsize=2.5)
        if source.arms[arm].diagnostic == "control":
            axes.axvline(cell.mean, color=style.FAINT, linestyle=style.DASHED, zorder=1)
    axes.margins(x=0.2)
    axes.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10], min_n_ticks=1))
    axes.grid(False, axis="y")


# --- helpers --------------------------------------------------------------------------------------


def _arms(source: Aggregates, part: str) -> list[str]:
    return [name for name, arm in source.arms.items() if arm.diagnostic == part]


def _statistics(
    source: Aggregates, part: str, wanted: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return mean and std of statistics (columns) of the arms (rows) of one part, NaN if absent."""
    table = source.frame("locality")
    arms = _arms(source, part)
    chosen = table[table["arm"].isin(arms) & table["statistic"].isin(wanted)]
    source.require(chosen, "locality", f"statistics of a per-patch {part} arm")
    rows = sort_by_order(chosen["arm"], arms)
    wide = chosen.pivot(index="arm", columns="statistic").reindex(rows)
    return wide["mean"].reindex(columns=wanted), wide["std"].reindex(columns=wanted)


def _bins(values: np.ndarray, threshold: float) -> np.ndarray:
    """Return bin edges that hold all values and the threshold; the first is 0 unless log."""
    top = 1.15 * max(float(values.max()), threshold)
    low = float(values.min())
    if low > 0 and np.median(values) * LOG_BELOW < threshold:
        return np.geomspace(0.9 * low, 1.5 * top, BINS + 1)
    return np.linspace(0, top, BINS + 1)


def _short(value: float) -> str:
    """Format a value with three digits, four decimals below 0.1, else as a power of ten."""
    if value != 0 and not 1e-3 <= abs(value) < 1e4:
        power = math.floor(math.log10(abs(value)))
        return f"{value / 10.0**power:.1f}·{_power(power)}"
    return f"{value:.4f}" if abs(value) < 0.1 else f"{value:#.3g}".rstrip(".")


def _plain(value: float) -> str:
    """Format a threshold: 0.05, or a power of ten where it is one below a hundredth."""
    power = round(math.log10(value)) if value > 0 else 0
    return _power(power) if value < 0.01 and math.isclose(value, 10.0**power) else f"{value:g}"


def _power(power: int) -> str:
    return "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
