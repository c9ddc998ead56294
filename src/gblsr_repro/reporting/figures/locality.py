"""Draw the figures of the locality diagnostic: how much the bandwidth varies within an image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from ...analysis.reader import Aggregates
from ...analysis.schemas import FIELDS, find_files
from ...errors import UserError
from ...evaluation.fields import BandwidthFields
from ...evaluation.locality import compute_variation
from ..layout import format_number
from ..names import sort_by_order
from . import style

BINS = 36
MISSED = "/////"
UNDECIDED = "#bbbbbb"
FLAGS = {1: (style.MET, " met"), 0: (style.NOT_MET, " not met")}
LIMIT: dict[str, Any] = {"color": style.THRESHOLD, "linestyle": style.DASHED}
BLACK = LIMIT | {"color": "black"}
SOLID = {"linestyle": "-", "color": "black"}
ERRORS = {"elinewidth": 0.8, "ecolor": "black"}


def draw_cov_hist(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw histograms of the within-image CoV of the bandwidth, one panel per linear arm.

    The T1 threshold and the median, averaged over seeds as in the aggregates, are marked.
    """
    variations = _read_variations(source)
    arms = [*variations]
    threshold = source.config["diagnostics"]["thresholds"]["t1_cov_median"]
    highest = max(images.max() for images in variations.values())
    bins = np.linspace(0, 1.15 * max(highest, threshold), BINS + 1)
    figure = style.create_figure(style.COLUMN_WIDTH, 2.1, differences)
    entries = [
        style.build_legend_entry(f"T1: {threshold:g}", **LIMIT),
        style.build_legend_entry("median (mean over seeds)", **SOLID),
    ]
    figure.legend(handles=entries, loc=style.ABOVE, ncols=2)
    panels = figure.subplots(1, len(arms), sharex=True, sharey=True, squeeze=False)[0]
    looks = style.read_looks(source)
    for axes, arm in zip(panels, arms, strict=True):
        images, median = variations[arm], source.mean("locality", arm, "t1")
        axes.hist(images, bins, color=looks[arm].color, edgecolor=style.INK, linewidth=0.4)
        axes.axvline(threshold, **LIMIT, linewidth=1.1)
        axes.axvline(median, **SOLID, linewidth=1.1)
        reached = f"{(images >= threshold).sum()} of {len(images)} reach T1"
        lines = source.arms[arm].short, f"median {format_number(median, '{:#.3g}')}", reached
        axes.set_title("\n".join(lines), fontsize=7)
        axes.set_xlabel("CoV of bandwidth")
    panels[0].set_ylabel("Images")
    panels[0].xaxis.set_major_locator(MaxNLocator(3))
    panels[0].yaxis.set_major_locator(MaxNLocator(4, integer=True))
    panels[0].set_xlim(bins[0], bins[-1])
    return figure


def _read_variations(source: Aggregates) -> dict[str, np.ndarray]:
    """Read the fields of the linear arms; return the CoV within every image of all seeds, by arm.

    Raises `UserError` where there are none.
    """
    by_arm: dict[str, list[np.ndarray]] = {}
    for fields, path in find_files("locality", source.results, source.config, FIELDS):
        if source.arms[fields["subject"]].diagnostic == "linear":
            variation = compute_variation(BandwidthFields.read(path).bandwidth)
            by_arm.setdefault(fields["subject"], []).append(variation)
    if not by_arm:
        raise UserError(
            f"{source.results / 'native' / 'fields'} has no bandwidth fields of a linear arm; run "
            "the fields step of one."
        )
    return {arm: np.concatenate(parts) for arm, parts in by_arm.items()}


def draw_variance_decomp(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw the variance of the bandwidth within and across images, one group per linear arm.

    The groups carry the share within images, the title T4's floor under the filled bars.
    """
    mean, std = read_statistics(source, "linear", ["var_within", "var_across", "t4"])
    floor = source.config["diagnostics"]["thresholds"]["t4_within_variance"]
    highest = (mean + std.fillna(0))[["var_within", "var_across"]].max(axis=1)
    figure = style.create_figure(style.COLUMN_WIDTH, 2.35, differences)
    entries = [
        Patch(facecolor="#9a9a9a", edgecolor=style.INK, label="within images"),
        Patch(facecolor="white", edgecolor=style.INK, hatch=MISSED, label="across images"),
    ]
    figure.legend(handles=entries, loc=style.ABOVE, ncols=2, handleheight=1.0)
    axes = figure.subplots()
    axes.set_title(f"T4's floor: {floor:g}", fontsize=7, color=style.THRESHOLD)
    looks = style.read_looks(source)
    for place, arm in enumerate(mean.index):
        color = looks[arm].color
        for side, name, fill, edge, hatch in (
            (-0.17, "var_within", color, style.INK, ""),
            (0.17, "var_across", "white", color, MISSED),
        ):
            axes.bar(place + side, mean[name][arm], 0.34, yerr=std[name][arm], color=fill,
                     edgecolor=edge, hatch=hatch, error_kw=ERRORS)  # fmt: skip
        axes.annotate(
            f"within: {format_number(mean['t4'][arm], '{:.2f}')}\nof the total",
            (place, highest[arm]), xytext=(0, 2.5), textcoords="offset points",
            ha="center", va="bottom", fontsize=7, linespacing=1.05,
        )  # fmt: skip
    axes.set_xticks(range(len(mean)), [source.arms[arm].short for arm in mean.index])
    axes.margins(0.1, 0.38)
    axes.set_ylabel("Bandwidth variance")
    axes.ticklabel_format(axis="y", scilimits=(-3, 3))
    axes.tick_params(axis="x", length=0)
    axes.grid(False, axis="x")
    return figure


def draw_logspace_loctests(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw the values of T1-T4 of the log-space arms against their thresholds, met or not met.

    T4 has two panels, because its second condition, the magnitude floor, can fail a ratio that
    clears its threshold.
    """
    tests = [f"t{k}" for k in range(1, 5)]
    names = [*tests, *(f"{test}_met" for test in tests), "var_within"]
    mean, std = read_statistics(source, "log", names)
    limits = source.config["diagnostics"]["thresholds"]
    panels = (
        ("t1", "t1", "T1: median CoV", "≥", limits["t1_cov_median"]),
        ("t2", "t2", "T2: collapsed images", "<", limits["t2_fraction_collapsed"]),
        ("t3", "t3", "T3: region gap", "≥", limits["t3_region_gap"]),
        ("t4", "", "T4, one half: share within", "≥", limits["t4_within_fraction"]),
        ("var_within", "t4", "T4, with variance within", "≥", limits["t4_within_variance"]),
    )
    height = 0.55 + len(panels) * (0.36 + 0.15 * len(mean))
    figure = style.create_figure(style.COLUMN_WIDTH, height, differences)
    entries = [
        Patch(facecolor=style.MET, edgecolor=style.INK, label="met"),
        Patch(facecolor=style.NOT_MET, edgecolor=style.INK, hatch=MISSED, label="not met"),
        Patch(facecolor=UNDECIDED, edgecolor=style.INK, label="half a test"),
        style.build_legend_entry("threshold", **BLACK),
    ]
    figure.legend(handles=entries, loc=style.ABOVE, ncols=4, handleheight=1.0, columnspacing=0.8)
    for axes, panel in zip(figure.subplots(len(panels)), panels, strict=True):
        statistic, test, title, relation, limit = panel
        axes.set_title(f"{title} (needs {relation} {limit:g})", fontsize=7)
        # The share alone decides nothing: T4's verdict stands beside its second condition.
        flags = mean[f"{test}_met"] if test else pd.Series(math.nan, mean.index)
        _draw_test(axes, mean[statistic], std[statistic], flags, limit)
        style.name_rows(axes, [source.arms[arm].short for arm in mean.index])
        axes.tick_params(axis="y", length=0)
        axes.grid(False)
    return figure


def _draw_test(axes: Axes, mean: pd.Series, std: pd.Series, flags: pd.Series, limit: float) -> None:
    """Draw one statistic of every arm as a bar, colored by whether its test is met.

    Beside each bar stands its value with the verdict, where it has one.
    """
    axes.barh(
        range(len(mean)), mean, 0.66, xerr=std, edgecolor=style.INK,
        color=[FLAGS.get(flag, (UNDECIDED, ""))[0] for flag in flags],
        hatch=[MISSED if flag == 0 else "" for flag in flags], error_kw=ERRORS,
    )  # fmt: skip
    axes.axvline(limit, **BLACK, linewidth=1.0)
    axes.set_xlim(0, 1.08 * np.nanmax([limit, (mean + std.fillna(0)).max()]))
    axes.set_xticks([limit], [f"{limit:g}"])
    verdicts = [FLAGS.get(flag, ("", " see below"))[1] for flag in flags]
    texts = [
        format_number(value, "{:#.3g}") + ("" if math.isnan(value) else verdict)
        for value, verdict in zip(mean, verdicts, strict=True)
    ]
    style.annotate_rows(axes, texts)


# --- numbers --------------------------------------------------------------------------------------


def list_drawn_arms(source: Aggregates, part: str) -> list[str]:
    """List the arms of a part of the diagnostic: log, linear, control or reference."""
    return [name for name, arm in source.arms.items() if arm.diagnostic == part]


def read_statistics(
    source: Aggregates, part: str, names: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read mean and std of statistics (columns) of the arms (rows) of a part, NaN where absent."""
    table = source.frame("locality")
    arms = list_drawn_arms(source, part)
    table = table[table["arm"].isin(arms) & table["statistic"].isin(names)]
    source.require(table, "locality", f"statistics of a per-patch {part} arm")
    rows = sort_by_order(table["arm"], arms)
    wide = table.pivot(index="arm", columns="statistic").reindex(rows)
    return wide["mean"].reindex(columns=names), wide["std"].reindex(columns=names)
