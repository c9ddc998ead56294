"""Build the tables of the native benchmark: quality, winners, local spectrum error, parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from ...analysis.criteria import compare_with_anchor
from ...analysis.derived import find_best_arms, gap_to_best, is_better, read_value
from ...analysis.metrics import LPIPS, LSE, PSNR, Metric, list_shown
from ...analysis.reader import NATIVE_TIMES, Aggregates
from ...analysis.statistics import Column
from ...config import Arm, Config, load_protocol
from ...wording import join_words
from ..captions import describe_seeds, explain_bold, list_missing_rows, name_own_rows
from ..layout import (
    DASH,
    Cell,
    Cells,
    Row,
    Span,
    Table,
    View,
    format_columns,
    format_difference,
    format_number,
    format_summary,
)
from ..names import name_dataset

SETS_ACROSS = 3


def build_main(source: Aggregates, view: View, dataset: str) -> list[Table]:
    """Build Tables 1-3: quality with spread, time per image and parameters of every arm on one set.

    Raises `UserError` when the aggregates have no row of this set.
    """
    arms = source.benchmark
    frame = source.frame("native")
    source.require(frame[frame["dataset"] == dataset], "native", f"rows for {dataset!r}")
    metrics = list_shown("main")
    quality, notes = _build_quality_rows(source, arms, list(product([dataset], metrics)))
    times = _read_column(source, dataset, arms, NATIVE_TIMES[view.clock])
    counts = _read_column(source, dataset, arms, "params")
    rows = []
    for row, time, count in zip(quality, times, counts, strict=True):
        parameters = format_number(count.mean, "{:,.0f}")
        rows.append(Row(row.key, [*row.cells, format_summary(time, 2, spread=False), parameters]))
    header = ["Arm", *(metric.heading for metric in metrics), "inf ms", "#params"]
    return [
        Table(
            f"main-{dataset}",
            ["l1", *"r" * (len(header) - 1)],
            [header],
            [rows],
            notes,
            [dataset],
            size="scriptsize",
            separation=2,
            timed=(len(header) - 2,),
        )
    ]


def build_lse(source: Aggregates, view: View) -> list[Table]:
    """Build Table 10: local spectrum error beside PSNR of the family's arms on every set.

    A page is as wide as three sets; the others follow in further tables.
    """
    sets = source.evaluate
    parts = [sets[first : first + SETS_ACROSS] for first in range(0, len(sets), SETS_ACROSS)]
    endings = ["", *(f"-{number}" for number in range(2, len(parts) + 1))]
    return [_build_lse(source, part, ending) for part, ending in zip(parts, endings, strict=True)]


def _build_lse(source: Aggregates, sets: Sequence[str], ending: str) -> Table:
    """Build Table 10 for some sets; the label gets an ending."""
    arms = {name: arm for name, arm in source.benchmark.items() if arm.group == "family"}
    frame = source.frame("native")
    of_family = frame[frame["arm"].isin(arms) & frame["dataset"].isin(sets)]
    source.require(of_family[of_family["metric"] == "lse"], "native", "LSE of the GB-LSR arms")
    rows, notes = _build_quality_rows(source, arms, list(product(sets, (LSE, PSNR))))
    titles: Cells = ["", *(Span(name_dataset(source, "native", dataset), 2) for dataset in sets)]
    header: Cells = ["Arm", *[LSE.arrowed_heading, PSNR.arrowed_heading] * len(sets)]
    return Table(
        f"lse{ending}",
        ["l1", *"rr" * len(sets)],
        [titles, header],
        [rows],
        notes,
        size="scriptsize",
        separation=2,
    )


def _build_quality_rows(
    source: Aggregates, arms: Mapping[str, Arm], headings: Sequence[tuple[str, Metric]]
) -> tuple[list[Row], list[str | None]]:
    """Build a row per arm, its name and a number for each (data set, metric), and the notes."""
    columns = [_read_column(source, dataset, arms, metric.name) for dataset, metric in headings]
    significance = source.config["native"]["significance"]
    compared = [name in source.compared for name in arms]
    texts = format_columns(columns, [metric for _, metric in headings], compared, significance)
    rows = []
    for arm, cells in zip(arms.values(), texts, strict=True):
        name = f"**{arm.name}** (main)" if arm is source.main_arm else arm.name
        rows.append(Row(arm.arm, [name, *cells]))
    shorts = (arm.short for arm in arms.values())
    numbers = dict(zip(shorts, zip(*columns, strict=True), strict=True))
    notes = [
        describe_seeds(numbers),
        explain_bold(significance, columns),
        name_own_rows(arms.values()),
        list_missing_rows(numbers),
    ]
    return rows, notes


def build_winners(source: Aggregates, view: View) -> list[Table]:
    """Build Table 4: best arm and best baseline of every set, and the main arm's gap to it."""
    rows = []
    for dataset in source.evaluate:
        cells: list[Cell] = []
        for metric in (PSNR, LPIPS):
            of_any, of_baselines = (
                find_best_arms(source, dataset, metric, arms)
                for arms in (source.compared, source.baselines)
            )
            cells += [
                _name_best(source, dataset, metric, of_any),
                _name_best(source, dataset, metric, of_baselines),
                _format_gap(source, dataset, metric, of_baselines),
            ]
        if {*cells} != {DASH}:
            rows.append(Row(dataset, [name_dataset(source, "native", dataset), *cells]))
    source.require(rows, "native", "PSNR or LPIPS to compare")
    header = ["Dataset"]
    for metric in (PSNR, LPIPS):
        best = f"best {metric.title}"
        header += [f"{best} (any)", f"{best} (baseline)", f"Δ {metric.title}"]
    return [Table("winners", ["l", "l1", "l1", "r", "l1", "l1", "r"], [header], [rows])]


def _name_best(source: Aggregates, dataset: str, metric: Metric, best: Sequence[str]) -> str:
    """Name the best arm with its mean, and those that tie with it."""
    if not best:
        return DASH
    shorts = [source.arms[arm].short for arm in best]
    # Wide spreads can tie all arms; the main tables have their names in bold.
    text = " ≈ ".join(shorts if len(shorts) < 3 else (shorts[0], f"{len(shorts) - 1} others"))
    cell = source.cell("native", dataset, best[0], metric.name)
    return f"{text} ({format_summary(cell, metric.digits, spread=False)})"


def _format_gap(source: Aggregates, dataset: str, metric: Metric, best: Sequence[str]) -> str:
    """Format the main arm's distance from the best baseline, bold where it is clearly better."""
    main = source.main_arm.arm
    gap = read_value(source, gap_to_best, main, best, metric, dataset)
    text = format_difference(gap, metric.digits)
    is_bold = bool(best) and is_better(source, dataset, metric, main, best[0])
    return f"**{text}**" if is_bold else text


def build_fairness(source: Aggregates, view: View) -> list[Table]:
    """Build Table 8: trainable parameters of every arm and their ratio to the main arm's."""
    counts = {row["arm"]: row["parameters"] for row in source.table("budget")}
    budget = compare_with_anchor(counts, source.config)
    arms = [arm for name, arm in source.arms.items() if arm.in_benchmark and name in budget]
    source.require(arms, "budget", "arm of the main tables")
    arms.sort(key=lambda arm: arm.fairness_rank or len(source.arms) + 1)
    anchor = source.main_arm
    rows = [
        Row(
            arm.arm,
            [
                f"**{arm.name}** (F1 anchor)" if arm is anchor else arm.name,
                f"{round(budget[arm.arm].parameters):,}",
                format_number(budget[arm.arm].ratio, "{:.3f}×"),
                arm.note,
            ],
        )
        for arm in arms
    ]
    band = source.config["native"]["criteria"]["parameter_band"]
    outside = [arm.name for arm in arms if budget[arm.arm].in_band is False]
    judged = f"{join_words(outside) if outside else 'no arm'} outside the band"
    notes = [
        f"F1 asks for at most {band:g} times the trainable parameters of {anchor.name}; "
        + (judged if anchor.arm in budget else "that arm is not in this run"),
        _describe_sizes(source.config),
    ]
    header = ["Arm", "#params", "ratio", "Decoder / notes"]
    return [Table("fairness", ["l0.86", "r", "r", "p1.14"], [header], [rows], notes)]


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
