"""Build the tables of the native benchmark: quality, winners, local spectrum error, parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from ...analysis.reader import NATIVE_TIMES, Aggregates
from ...analysis.statistics import LPIPS, PSNR, QUALITY, Column, Metric, Summary, pooled_p, ties
from ...config import Arm, Config, load_protocol
from ...wording import join_words
from ..captions import describe_seeds, explain_bold, list_missing_rows
from ..items import register
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


@register
def build_main(source: Aggregates, dataset: str) -> list[Table]:
    """Build Tables 1-3: quality with spread, time per image and parameters of every arm on one set.

    Raises `UserError` when the aggregates have no row of this set.
    """
    arms = source.benchmark
    frame = source.frame("native")
    source.require(frame[frame["dataset"] == dataset], "native", f"rows for {dataset!r}")
    quality, notes = _build_quality_rows(source, arms, list(product([dataset], QUALITY)))
    times = _read_column(source, dataset, arms, NATIVE_TIMES[source.clock])
    counts = source.pivot("native", ["arm"], "dataset", metric="params").max(axis=1)
    rows = []
    for row, time in zip(quality, times, strict=True):
        parameters = format_number(counts.get(row.key, math.nan), "{:,.0f}")
        rows.append(Row(row.key, [*row.cells, format_summary(time, 2, spread=False), parameters]))
    header = ["Arm", *(metric.heading for metric in QUALITY), "inf ms", "#params"]
    return [
        Table(
            f"main-{dataset}",
            ["l", *"r" * 6],
            [header],
            [rows],
            notes,
            [dataset],
            separation=3,
            timed=(5,),
        )
    ]


@register
def build_lse(source: Aggregates) -> list[Table]:
    """Build Table 10: local spectrum error beside PSNR of the family's arms on every set."""
    arms = {name: arm for name, arm in source.benchmark.items() if arm.group == "family"}
    sets = source.evaluate
    frame = source.frame("native")
    of_family = frame[frame["arm"].isin(arms) & frame["dataset"].isin(sets)]
    source.require(of_family[of_family["metric"] == "lse"], "native", "LSE of the GB-LSR arms")
    rows, notes = _build_quality_rows(source, arms, list(product(sets, (LSE, PSNR))))
    titles: Cells = ["", *(Span(name_dataset(source, "native", dataset), 2) for dataset in sets)]
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


def _build_quality_rows(
    source: Aggregates, arms: Mapping[str, Arm], headings: Sequence[tuple[str, Metric]]
) -> tuple[list[Row], list[str | None]]:
    """Build a row per arm, its name and a number for each (data set, metric), and the notes."""
    columns = [_read_column(source, dataset, arms, metric.name) for dataset, metric in headings]
    significance = _read_significance(source)
    texts = format_columns(columns, [metric for _, metric in headings], significance)
    rows = []
    for arm, cells in zip(arms.values(), texts, strict=True):
        name = f"**{arm.name}** (main)" if arm is source.main_arm else arm.name
        rows.append(Row(arm.arm, [name, *cells]))
    shorts = (arm.short for arm in arms.values())
    numbers = dict(zip(shorts, zip(*columns, strict=True), strict=True))
    notes = [
        describe_seeds(numbers),
        explain_bold(significance, columns),
        list_missing_rows(numbers),
    ]
    return rows, notes


@register
def build_winners(source: Aggregates) -> list[Table]:
    """Build Table 4: best arm and best baseline of every set, and the main arm's gap to it."""
    rows = []
    for dataset in source.evaluate:
        cells: list[Cell] = []
        for metric in (PSNR, LPIPS):
            cells += [
                _name_best(source, dataset, source.benchmark, metric),
                _name_best(source, dataset, source.baselines, metric),
                _format_gap(source, dataset, metric),
            ]
        if {*cells} != {DASH}:
            rows.append(Row(dataset, [name_dataset(source, "native", dataset), *cells]))
    source.require(rows, "native", "PSNR or LPIPS to compare")
    header = ["Dataset"]
    for short in ("PSNR", "LPIPS"):
        header += [f"best {short} (any)", f"best {short} (baseline)", f"Δ {short}"]
    size = choose_size([name_dataset(source, "native", dataset) for dataset in source.evaluate])
    return [Table("winners", list("lllrllr"), [header], [rows], size=size, separation=3)]


def _name_best(source: Aggregates, dataset: str, arms: Iterable[str], metric: Metric) -> str:
    """Name the best of some arms on a data set, and those that tie with it, with its mean."""
    names = list(arms)
    cells = _read_column(source, dataset, names, metric.name)
    equal = ties(cells, metric.lower, metric.digits, _read_significance(source))
    if not equal:
        return DASH
    shorts = [source.arms[names[place]].short for place in equal]
    # Wide spreads can tie all arms; the main tables have their names in bold.
    text = " ≈ ".join(shorts if len(shorts) < 3 else (shorts[0], f"{len(shorts) - 1} others"))
    return f"{text} ({format_summary(cells[equal[0]], metric.digits, spread=False)})"


def _format_gap(source: Aggregates, dataset: str, metric: Metric) -> str:
    """Format the main arm's distance from the best baseline, bold where it is clearly better."""
    main = source.cell("native", dataset, source.main_arm.arm, metric.name)
    cells = _read_column(source, dataset, source.baselines, metric.name)
    rival = next((cells[place] for place in ties(cells, metric.lower, metric.digits)), Summary())
    text = format_difference(main.mean - rival.mean, metric.digits)
    better = main.mean < rival.mean if metric.lower else main.mean > rival.mean
    return f"**{text}**" if better and pooled_p(main, rival) < _read_significance(source) else text


@register
def build_fairness(source: Aggregates) -> list[Table]:
    """Build Table 8: trainable parameters of every arm and their ratio to the main arm's."""
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
    run, paper = config["native"]["model"], load_protocol()["native"]["model"]
    sizes = [
        f"{name.replace('_', ' ')} {size} (paper: {paper[name]})"
        for name, size in run.items()
        if size != paper[name]
    ]
    return f"Counted at this run's sizes, not the paper's: {', '.join(sizes)}" if sizes else None


def _read_column(source: Aggregates, dataset: str, arms: Iterable[str], metric: str) -> Column:
    return [source.cell("native", dataset, arm, metric) for arm in arms]


def _read_significance(source: Aggregates) -> float:
    return source.config["native"]["significance"]
