"""Build the tables of the native benchmark: quality, winners, local spectrum error, parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from ...analysis.criteria import compare_with_anchor
from ...analysis.derived import find_best_arms, gap_to_best, is_better, read_value
from ...analysis.metrics import LPIPS, LSE, PSNR, Metric, list_shown
from ...analysis.reader import NATIVE_TIMES, Aggregates
from ...analysis.statistics import Summary
from ...config import Arm, Config, load_protocol
from ...wording import join_words
from ..captions import describe_seeds, explain_bold, name_own_rows
from ..layout import DASH, format_summary
from ..names import name_dataset
from .sheet import Sheet, SheetColumn, SheetGroup, SheetRow, collect_numbers

SETS_ACROSS = 3


def build_main(source: Aggregates, dataset: str) -> list[Sheet]:
    """Build Tables 1-3: quality with spread, time per image and parameters of every arm on one set.

    Raises `UserError` when the aggregates have no row of this set.
    """
    measured = [key for key in source.cells("native") if key[0] == dataset]
    source.require(measured, "native", f"rows for {dataset!r}")
    time = _read_metric(source, dataset, NATIVE_TIMES[source.clock])
    parameters = _read_metric(source, dataset, "params")
    columns = [
        *(_build_quality_column(source, dataset, metric) for metric in list_shown("main")),
        SheetColumn("inference_ms", "inf ms", time, digits=2, timed=True),
        SheetColumn("params", "#params", parameters, thousands=True),
    ]
    label = f"main-{dataset}"
    return [_build_quality(source, label, ["Arm"], columns, source.benchmark_arms, [dataset])]


def build_lse(source: Aggregates) -> list[Sheet]:
    """Build Table 10: local spectrum error beside PSNR of the family's arms on every set.

    A page is as wide as three sets; the others follow in further tables.
    """
    arms = {name: arm for name, arm in source.benchmark_arms.items() if arm.group == "family"}
    sheets: list[Sheet] = []
    for first in range(0, len(source.evaluate), SETS_ACROSS):
        sets = source.evaluate[first : first + SETS_ACROSS]
        measured = [source.cell("native", *keys, LSE.name) for keys in product(sets, arms)]
        if not any(cell.measured for cell in measured):
            continue
        columns = [
            _build_quality_column(source, dataset, metric, name_dataset(source, "native", dataset))
            for dataset, metric in product(sets, (LSE, PSNR))
        ]
        label = f"lse-{len(sheets) + 1}" if sheets else "lse"
        sheets.append(_build_quality(source, label, ["", "Arm"], columns, arms))
    source.require(sheets, "native", "LSE of the GB-LSR arms")
    return sheets


def _read_metric(source: Aggregates, dataset: str, metric: str) -> Callable[[str], Summary]:
    """Return what reads a metric of an arm on a data set."""
    return lambda arm: source.cell("native", dataset, arm, metric)


def _build_quality_column(
    source: Aggregates, dataset: str, metric: Metric, title: str = ""
) -> SheetColumn:
    """Build a column of a metric; with the `title` of a data set above it, its key names that."""
    return SheetColumn(
        f"{metric.name}_{dataset}" if title else metric.name,
        metric.arrowed_heading if title else metric.heading,
        _read_metric(source, dataset, metric.name),
        digits=metric.digits,
        spread=True,
        metric=metric,
        above=title,
    )


def _build_quality(
    source: Aggregates,
    label: str,
    corner: Sequence[str],
    columns: Sequence[SheetColumn],
    arms: Mapping[str, Arm],
    evaluation_columns: Sequence[str] | None = None,
) -> Sheet:
    """Build a table with a row per arm; its notes are about the columns whose best is bold."""
    significance = source.config["native"]["significance"]
    shown = [column for column in columns if column.metric]
    numbers = {arm.short: collect_numbers(shown, [(name,)]) for name, arm in arms.items()}
    rows = [
        SheetRow(
            (name,),
            f"**{arm.name}** (main)" if arm is source.main_arm else arm.name,
            rated=name in source.compared,
        )
        for name, arm in arms.items()
    ]
    notes = [
        describe_seeds(numbers),
        explain_bold(significance, zip(*numbers.values(), strict=True)),
        name_own_rows(arms.values()),
    ]
    return Sheet(
        label,
        "l1",
        corner,
        columns,
        [SheetGroup(rows)],
        notes,
        evaluation_columns,
        significance,
    )


def build_winners(source: Aggregates) -> list[Sheet]:
    """Build Table 4: best arm and best baseline of every set, and the main arm's gap to it."""
    main, columns = source.main_arm.arm, []
    strong: dict[str, list[str]] = {dataset: [] for dataset in source.evaluate}
    for metric in (PSNR, LPIPS):
        of_any, of_baselines = (
            {name: find_best_arms(source, name, metric, arms) for name in source.evaluate}
            for arms in (source.compared, source.baselines)
        )
        gaps = {
            name: Summary(read_value(source, gap_to_best, main, best, metric, name))
            for name, best in of_baselines.items()
        }
        gap = f"gap_{metric.name}"
        columns += [
            _build_best_column(source, metric, "best", "any", of_any),
            _build_best_column(source, metric, "best_baseline", "baseline", of_baselines),
            SheetColumn(
                gap, f"Δ {metric.title}", gaps.__getitem__, digits=metric.digits, signed=True
            ),
        ]
        for dataset, best in of_baselines.items():
            if best and is_better(source, dataset, metric, main, best[0]):
                strong[dataset].append(gap)
    rows = [
        SheetRow((dataset,), name_dataset(source, "native", dataset), strong[dataset])
        for dataset in source.evaluate
        if any(find_best_arms(source, dataset, m, source.compared) for m in (PSNR, LPIPS))
    ]
    source.require(rows, "native", "PSNR or LPIPS to compare")
    return [Sheet("winners", "l", ["Dataset"], columns, [SheetGroup(rows)])]


def _build_best_column(
    source: Aggregates, metric: Metric, key: str, whose: str, best: Mapping[str, Sequence[str]]
) -> SheetColumn:
    """Build a column of the best arms by data set."""
    names = {dataset: _name_best(source, dataset, metric, arms) for dataset, arms in best.items()}
    return SheetColumn(
        f"{key}_{metric.name}", f"best {metric.title} ({whose})", names.__getitem__, "l1"
    )


def _name_best(source: Aggregates, dataset: str, metric: Metric, best: Sequence[str]) -> str:
    """Name the best arm with its mean, and those that tie with it."""
    if not best:
        return DASH
    shorts = [source.arms[arm].short for arm in best]
    # Wide spreads can tie all arms; the main tables have their names in bold.
    text = " ≈ ".join(shorts if len(shorts) < 3 else (shorts[0], f"{len(shorts) - 1} others"))
    cell = source.cell("native", dataset, best[0], metric.name)
    return f"{text} ({format_summary(cell, metric.digits, spread=False)})"


def build_fairness(source: Aggregates) -> list[Sheet]:
    """Build Table 8: trainable parameters of every arm and their ratio to the main arm's."""
    counts = {arm: cell.mean for (arm, _), cell in source.cells("budget").items()}
    budget = compare_with_anchor(counts, source.config)
    arms = [arm for name, arm in source.arms.items() if arm.in_benchmark and name in budget]
    source.require(arms, "budget", "arm of the main tables")
    arms.sort(key=lambda arm: arm.fairness_rank or len(source.arms) + 1)
    anchor = source.main_arm
    rows = [
        SheetRow((arm.arm,), f"**{arm.name}** (F1 anchor)" if arm is anchor else arm.name)
        for arm in arms
    ]
    band = source.config["native"]["criteria"]["parameter_band"]
    outside = [arm.name for arm in arms if budget[arm.arm].in_band is False]
    judged = f"{join_words(outside) if outside else 'no arm'} outside the band"
    notes = [
        f"F1 allows a factor of {band:g} between an arm's trainable parameters and those of "
        f"{anchor.name}; " + (judged if anchor.arm in budget else "that arm is not in this run"),
        _describe_sizes(source.config),
    ]
    columns = [
        SheetColumn(
            "parameters", "#params", lambda arm: Summary(budget[arm].parameters), thousands=True
        ),
        SheetColumn("ratio", "ratio", lambda arm: Summary(budget[arm].ratio), digits=3, unit="×"),
        SheetColumn("notes", "Decoder / notes", lambda arm: source.arms[arm].note, "p1.14"),
    ]
    return [Sheet("fairness", "l0.86", ["Arm"], columns, [SheetGroup(rows)], notes)]


def _describe_sizes(config: Config) -> str | None:
    """Say at which sizes parameters are counted, where these are not the paper's."""
    run, paper = config["native"]["model"], load_protocol()["native"]["model"]
    sizes = [
        f"{name.replace('_', ' ')} {size} (paper: {paper[name]})"
        for name, size in run.items()
        if size != paper[name]
    ]
    return f"Counted at this run's sizes, not the paper's: {', '.join(sizes)}" if sizes else None
