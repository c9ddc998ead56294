"""Figures of the locality diagnostic: how much the bandwidth varies within an image."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from ...errors import UserError
from .source import FigureSource, ordered
from .style import (
    COLUMN_WIDTH,
    INK,
    MET,
    NOT_MET,
    THRESHOLD,
    log_ticks,
    new_figure,
    row_texts,
)

BINS = 36
LOG_BELOW = 20.0  # a median this much below the threshold calls for logarithmic bins
FLOOR_WITHIN = 2.5  # the floor is drawn where it is at most this multiple of the highest bar
ROOM_FOR_ZERO = 0.2  # share of the axis below which the threshold's label would touch the 0
MISSED = "/////"
UNDECIDED = "#bbbbbb"


def cov_hist(source: FigureSource, note: Sequence[str]) -> Figure:
    """Draw histograms of the within-image CoV of the bandwidth, one panel per linear arm.

    Reads the patch fields under the results folder: (images, rows, columns) per arm and seed. The
    T1 threshold and the mean over seeds of the median are marked.
    """
    found = {arm: _variations(source, arm) for arm in _arms(source, "linear")}
    found = {arm: seeds for arm, seeds in found.items() if seeds}
    if not found:
        raise UserError(
            f"{source.results / 'native' / 'fields'} has no bandwidth fields of a linear arm; "
            "run the fields step first."
        )
    threshold = source.config["diagnostics"]["thresholds"]["t1_cov_median"]
    bins = _bins(np.concatenate([np.concatenate(s) for s in found.values()]), threshold)
    logarithmic = bins[0] > 0
    figure = new_figure(COLUMN_WIDTH, 2.1, note)
    figure.legend(
        handles=[
            Line2D([], [], color=THRESHOLD, linestyle=(0, (4, 2)), label=f"T1: {threshold:g}"),
            Line2D([], [], color="black", label="median (mean over seeds)"),
        ],
        loc="outside upper center",
        ncols=2,
    )
    panels = figure.subplots(1, len(found), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (arm, seeds) in zip(panels, found.items(), strict=True):
        pooled = np.concatenate(seeds)
        median = float(np.mean([np.median(values) for values in seeds]))
        look = source.looks[arm]
        axes.hist(pooled, bins, color=look.colour, edgecolor=INK, linewidth=0.4)
        axes.axvline(threshold, color=THRESHOLD, linestyle=(0, (4, 2)), linewidth=1.1)
        axes.axvline(median, color="black", linewidth=1.1)
        reached = int((pooled >= threshold).sum())
        lines = (source.arms[arm].short, f"median {_short(median)}",
                 f"{reached} of {pooled.size} reach T1")  # fmt: skip
        axes.set_title("\n".join(lines), fontsize=7)
        axes.set_xlabel("CoV of bandwidth")
    panels[0].set_ylabel("Images")
    if logarithmic:
        panels[0].set_xscale("log")
        ticks = log_ticks(bins[0], bins[-1], 3)
        panels[0].set_xticks(ticks, [_plain(tick) for tick in ticks])
        panels[0].set_xticks([], minor=True)
    else:
        panels[0].xaxis.set_major_locator(MaxNLocator(3))
    panels[0].set_xlim(bins[0], bins[-1])
    return figure


def variance_decomp(source: FigureSource, note: Sequence[str]) -> Figure:
    """Draw the variance of the bandwidth within and across images, one group per linear arm.

    The groups carry the share within images; T4's floor is a line where it lies near the bars,
    else words that say how far above them it is.
    """
    table = _statistics(source, "linear", ["var_within", "var_across", "t4"])
    arms = list(table.index.unique("arm"))
    floor = source.config["diagnostics"]["thresholds"]["t4_within_variance"]
    bars = table.loc[pd.IndexSlice[:, ["var_within", "var_across"]], :]
    top = float((bars["mean"] + bars["std"].fillna(0)).max())
    power = math.floor(math.log10(top)) if top > 0 else 0
    power = 0 if abs(power) < 3 else power
    unit = 10.0**power
    figure = new_figure(COLUMN_WIDTH, 2.35, note)
    handles = [
        Patch(facecolor="#9a9a9a", edgecolor=INK, label="within images"),
        Patch(facecolor="white", edgecolor=INK, hatch=MISSED, label="across images"),
    ]
    axes = figure.subplots()
    near = 0 < floor <= FLOOR_WITHIN * top
    if near:
        line = axes.axhline(floor / unit, color=THRESHOLD, linestyle=(0, (4, 2)), linewidth=1.1)
        line.set_label(f"T4 floor {_plain(floor)}")
        handles.append(line)
    elif top > 0:
        words = f"T4 floor {_plain(floor)}: {_short(floor / top)}× the highest bar"
        axes.set_title(words, fontsize=7, color=THRESHOLD)
    figure.legend(handles=handles, loc="outside upper center", ncols=2, handleheight=1.0)
    width = 0.34
    for place, arm in enumerate(arms):
        peak = 0.0
        for side, statistic in ((-0.5, "var_within"), (0.5, "var_across")):
            if (arm, statistic) not in table.index:
                continue
            mean, std = table.loc[(arm, statistic), ["mean", "std"]] / unit
            within = statistic == "var_within"
            colour = source.looks[arm].colour
            axes.bar(
                place + side * width,
                mean,
                width,
                yerr=std,
                color=colour if within else "white",
                edgecolor=INK if within else colour,
                hatch=None if within else MISSED,
                error_kw={"elinewidth": 0.8, "ecolor": "black"},
            )
            peak = max(peak, mean + (0 if math.isnan(std) else std))
        share = table["mean"].get((arm, "t4"), math.nan)
        words = "within: —" if math.isnan(share) else f"within: {share:.2f}\nof the total"
        _above(axes, place, peak, words)
    axes.set_xticks(range(len(arms)), [source.arms[arm].short for arm in arms])
    axes.set_xlim(-0.6, len(arms) - 0.4)
    highest = max(top, floor if near else 0) / unit
    axes.set_ylim(0, 1.38 * highest if highest > 0 else 1)
    axes.set_ylabel("Bandwidth variance" + (f" (×{_power(power)})" if power else ""))
    axes.tick_params(axis="x", length=0)
    axes.grid(False, axis="x")
    return figure


def logspace_loctests(source: FigureSource, note: Sequence[str]) -> Figure:
    """Draw the values of T1-T4 of the log-space arms against their thresholds, met or not met.

    T4 has two panels, because its second condition, the magnitude floor, can fail a ratio that
    clears its own threshold.
    """
    tests = [f"t{k}" for k in range(1, 5)]
    wanted = [*tests, *(f"{t}_met" for t in tests), "var_within"]
    table = _statistics(source, "log", wanted)
    arms = list(table.index.unique("arm"))
    limits = source.config["diagnostics"]["thresholds"]
    panels = (
        ("t1", "t1", "T1: median CoV", "≥", limits["t1_cov_median"]),
        ("t2", "t2", "T2: collapsed images", "<", limits["t2_fraction_collapsed"]),
        ("t3", "t3", "T3: region gap", "≥", limits["t3_region_gap"]),
        ("t4", "t4", "T4: share within images", "≥", limits["t4_within_fraction"]),
        ("var_within", "t4", "T4: variance within", "≥", limits["t4_within_variance"]),
    )
    figure = new_figure(COLUMN_WIDTH, 0.55 + len(panels) * (0.36 + 0.15 * len(arms)), note)
    handles = [
        Patch(facecolor=MET, edgecolor=INK, label="met"),
        Patch(facecolor=NOT_MET, edgecolor=INK, hatch=MISSED, label="not met"),
        Line2D([], [], color="black", linestyle=(0, (4, 2)), label="threshold"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, handleheight=1.0)
    grid = figure.subplots(len(panels))
    for axes, (statistic, test, title, relation, limit) in zip(grid, panels, strict=True):
        axes.set_title(f"{title} (needs {relation} {_plain(limit)})", fontsize=7)
        rows = table[table.index.get_level_values("statistic") == statistic]
        rows = rows.droplevel("statistic").reindex(arms)
        flags = [table["mean"].get((arm, f"{test}_met")) for arm in arms]
        # The ratio alone decides nothing: T4's verdict stands beside its second condition.
        shown = [None if statistic == "t4" else flag for flag in flags]
        _test_bars(axes, rows, flags)
        axes.axvline(limit, color="black", linestyle=(0, (4, 2)), linewidth=1.0)
        top = (rows["mean"] + rows["std"].fillna(0)).max()
        axes.set_xlim(0, 1.08 * np.nanmax([limit, top]))
        marks = [0, limit] if limit > ROOM_FOR_ZERO * axes.get_xlim()[1] else [limit]
        axes.set_xticks(marks, [_plain(mark) for mark in marks])
        axes.set_ylim(len(arms) - 0.45, -0.55)
        axes.set_yticks(range(len(arms)), [source.arms[arm].short for arm in arms])
        axes.tick_params(axis="y", length=0)
        axes.grid(False)
        row_texts(axes, [_verdict(*row) for row in zip(rows["mean"], shown, strict=True)])
    return figure


def _test_bars(axes: Axes, rows: pd.DataFrame, flags: list[float | None]) -> None:
    """Draw one bar per row, coloured by whether the test as a whole is met (1) or not (0)."""
    for place, (mean, std, flag) in enumerate(zip(rows["mean"], rows["std"], flags, strict=True)):
        axes.barh(
            place,
            mean,
            0.66,
            xerr=std,
            color=UNDECIDED if flag is None else MET if flag == 1 else NOT_MET,
            edgecolor=INK,
            hatch=MISSED if flag == 0 else None,
            error_kw={"elinewidth": 0.8, "ecolor": "black"},
        )


def _verdict(value: float, flag: float | None) -> str:
    if math.isnan(value):
        return "—"
    return _short(value) + ("" if flag is None else " met" if flag == 1 else " not met")


def _arms(source: FigureSource, part: str) -> list[str]:
    return [name for name, arm in source.arms.items() if arm.diagnostic == part]


def _statistics(source: FigureSource, part: str, statistics: list[str]) -> pd.DataFrame:
    """Return mean and std of `statistics` of the arms of one `part`, by (arm, statistic)."""
    table = source.frame("locality")
    arms = _arms(source, part)
    chosen = table[table["arm"].isin(arms) & table["statistic"].isin(statistics)]
    source.require(chosen, "locality", f"statistics of a per-patch {part} arm")
    order = ordered(chosen["arm"], arms)
    chosen = chosen.set_index(["arm", "statistic"])
    return chosen.loc[order]


def _variations(source: FigureSource, arm: str) -> list[np.ndarray]:
    """Return the within-image CoV of every image (images,) for each seed that has fields."""
    folder = source.results / "native" / "fields" / arm
    paths = [folder / f"seed{seed}.npz" for seed in source.config["seeds"]]
    paths = [path for path in paths if path.is_file()]
    if not paths:
        return []
    # Imported here because it takes PyTorch along, which no other figure needs.
    from ...evaluation.locality import Fields, variation

    return [variation(Fields.read(path).bandwidth) for path in paths]


def _bins(values: np.ndarray, threshold: float) -> np.ndarray:
    """Return bin edges that hold all values and the threshold; the first is 0 unless log."""
    top = 1.15 * max(float(values.max()), threshold)
    low = float(values.min())
    if low > 0 and np.median(values) * LOG_BELOW < threshold:
        return np.geomspace(0.9 * low, 1.5 * top, BINS + 1)
    return np.linspace(0, top, BINS + 1)


def _above(axes: Axes, x: float, y: float, text: str) -> None:
    axes.annotate(
        text,
        (x, y),
        xytext=(0, 2.5),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=7,
        linespacing=1.05,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4},
    )


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
