"""The tables of the native benchmark: quality, winners, local spectrum error, parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from ...analysis.reader import NATIVE_TIMES, Aggregates
from ...analysis.statistics import LPIPS, PSNR, QUALITY, Column, Metric, Summary, pooled_p, ties
from ...config import Arm, Config, protocol
from ...wording import join_words
from .. import captions
from ..items import item
from ..layout import (
    DASH,
    Cell,
    Cells,
    Row,
    Span,
    Table,
    choose_size,
    format_columns,
    format_difference,
    format_number,
    format_summary,
)
from ..names import name_dataset

LSE = Metric("lse", "LSE ↓", 3, lower=True)


@item
def main(source: Aggregates, column: str) -> list[Table]:
    """Make Tables 1-3: quality with spread, time per image and parameters of every arm on one set.

    Raises `UserError` when the aggregates have no row of this set.
    """
    arms = source.benchmark
    frame = source.frame("native")
    source.require(frame[frame["dataset"] == column], "native", f"rows for {column!r}")
    quality, notes = _quality_rows(source, arms, list(product([column], QUALITY)))
    times = _cells(source, column, arms, NATIVE_TIMES[source.clock])
    counts = source.pivot("native", ["arm"], "dataset", metric="params").max(axis=1)
    rows = []
    for row, time in zip(quality, times, strict=True):
        parameters = format_number(counts.get(row.key, math.nan), "{:,.0f}")
        rows.append(Row(row.key, [*row.cells, format_summary(time, 2, spread=False), parameters]))
    header = ["Arm", *(metric.heading for metric in QUALITY), "inf ms", "#params"]
    return [
        Table(
            f"main-{column}",
            ["l", *"r" * 6],
            [header],
            [rows],
            notes,
            [column],
            separation=3,
            timed=(5,),
        )
    ]


@item
def lse(source: Aggregates) -> list[Table]:
    """Make Table 10: local spectrum error beside PSNR of the family's arms on every set."""
    arms = {name: arm for name, arm in source.benchmark.items() if arm.group == "family"}
    sets = source.evaluate
    frame = source.frame("native")
    own = frame[frame["arm"].isin(arms) & frame["dataset"].isin(sets) & (frame["metric"] == "lse")]
    source.require(own, "native", "LSE of the GB-LSR arms")
    rows, notes = _quality_rows(source, arms, list(product(sets, (LSE, PSNR))))
    titles: Cells = ["", *(Span(name_dataset(source, "native", column), 2) for column in sets)]
    header: Cells = ["Arm", *["LSE ↓", "PSNR (dB) ↑"] * len(sets)]
    return [
        Table(
            "lse",
            ["l", *"rr" * len(sets)],
            [titles, header],
            [rows],
            notes,
            separation=3,
            sideways=len(sets) > 3,
        )
    ]


def _quality_rows(
    source: Aggregates, arms: Mapping[str, Arm], wanted: Sequence[tuple[str, Metric]]
) -> tuple[list[Row], list[str | None]]:
    """Return a row per arm with its name and numbers of (data set, metric), and the notes."""
    columns = [_cells(source, column, arms, metric.name) for column, metric in wanted]
    significance = _significance(source)
    cells = format_columns(columns, [metric for _, metric in wanted], significance)
    rows = []
    for arm, own in zip(arms.values(), cells, strict=True):
        name = f"**{arm.name}** (main)" if arm is source.main_arm else arm.name
        rows.append(Row(arm.arm, [name, *own]))
    numbers = dict(
        zip((arm.short for arm in arms.values()), zip(*columns, strict=True), strict=True)
    )
    notes = [
        captions.over_seeds(numbers),
        captions.bold_rule(significance, columns),
        captions.missing(numbers),
    ]
    return rows, notes


@item
def winners(source: Aggregates) -> list[Table]:
    """Make Table 4: best arm and best baseline of every set, and the main arm's gap to it."""
    rows = []
    for column in source.evaluate:
        cells: list[Cell] = []
        for metric in (PSNR, LPIPS):
            cells += [
                _name_best(source, column, source.benchmark, metric),
                _name_best(source, column, source.baselines, metric),
                _format_gap(source, column, metric),
            ]
        if {*cells} != {DASH}:
            rows.append(Row(column, [name_dataset(source, "native", column), *cells]))
    source.require(rows, "native", "PSNR or LPIPS to compare")
    header = ["Dataset"]
    for short in ("PSNR", "LPIPS"):
        header += [f"best {short} (any)", f"best {short} (baseline)", f"Δ {short}"]
    size = choose_size([name_dataset(source, "native", column) for column in source.evaluate])
    return [Table("winners", list("lllrllr"), [header], [rows], size=size, separation=3)]


def _name_best(source: Aggregates, column: str, arms: Iterable[str], metric: Metric) -> str:
    known = list(arms)
    cells = _cells(source, column, known, metric.name)
    equal = ties(cells, metric.lower, metric.digits, _significance(source))
    if not equal:
        return DASH
    shorts = [source.arms[known[place]].short for place in equal]
    # Wide spreads can tie all arms; the main tables have their names in bold.
    names = " ≈ ".join(shorts if len(shorts) < 3 else (shorts[0], f"{len(shorts) - 1} others"))
    return f"{names} ({format_summary(cells[equal[0]], metric.digits, spread=False)})"


def _format_gap(source: Aggregates, column: str, metric: Metric) -> str:
    own = source.cell("native", column, source.main_arm.arm, metric.name)
    cells = _cells(source, column, source.baselines, metric.name)
    rival = next((cells[place] for place in ties(cells, metric.lower, metric.digits)), Summary())
    text = format_difference(own.mean - rival.mean, metric.digits)
    better = own.mean < rival.mean if metric.lower else own.mean > rival.mean
    return f"**{text}**" if better and pooled_p(own, rival) < _significance(source) else text


@item
def fairness(source: Aggregates) -> list[Table]:
    """Make Table 8: trainable parameters of every arm and their ratio to the main arm's."""
    counts = source.frame("budget").set_index("arm")["parameters"]
    arms = [arm for name, arm in source.arms.items() if arm.in_benchmark and name in counts]
    source.require(arms, "budget", "arm of the main tables")
    arms.sort(key=lambda arm: int(arm.fairness_rank or len(source.arms) + 1))
    anchor = source.main_arm
    ratios = counts / counts.get(anchor.arm, math.nan)
    rows = [
        Row(
            arm.arm,
            [
                f"**{arm.name}** (F1 anchor)" if arm is anchor else arm.name,
                f"{round(counts[arm.arm]):,}",
                format_number(ratios[arm.arm], "{:.3f}×"),
                arm.note,
            ],
        )
        for arm in arms
    ]
    band = source.config["native"]["criteria"]["parameter_band"]
    outside = [a.name for a in arms if ratios[a.arm] > band or ratios[a.arm] < 1 / band]
    judged = f"{join_words(outside) if outside else 'no arm'} outside the band"
    notes = [
        f"F1 asks for at most {band:g} times the trainable parameters of {anchor.name}; "
        + (judged if anchor.arm in counts else "that arm is not in this run"),
        _describe_sizes(source.config),
    ]
    header, spec = ["Arm", "#params", "ratio", "Decoder / notes"], ["l", "r", "r", "p{6.8cm}"]
    return [Table("fairness", spec, [header], [rows], notes, size="small", ragged=True)]


def _describe_sizes(config: Config) -> str | None:
    """Say at which sizes parameters are counted, where these are not the paper's."""
    own, paper = config["native"]["model"], protocol()["native"]["model"]
    sizes = [
        f"{name.replace('_', ' ')} {size} (paper: {paper[name]})"
        for name, size in own.items()
        if size != paper[name]
    ]
    return f"Counted at this run's sizes, not the paper's: {', '.join(sizes)}" if sizes else None


def _cells(source: Aggregates, column: str, arms: Iterable[str], metric: str) -> Column:
    return [source.cell("native", column, arm, metric) for arm in arms]


def _significance(source: Aggregates) -> float:
    return source.config["native"]["significance"]
