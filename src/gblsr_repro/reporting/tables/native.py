"""Build the tables of the native benchmark: quality, winners, local spectrum error, parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from ...analysis.criteria import compare_with_anchor
from ...analysis.derived import find_best_arms, gap_to_best, is_better, read_value
from ...analysis.metrics import LPIPS, LSE, PSNR, Metric, list_shown
from ...analysis.reader import NATIVE_TIMES, Aggregates
from ...analysis.statistics import Summary
from ...config import Arm, Config, load_protocol
from ...evaluation import FAST, PAPER
from ...wording import join_words
from ..captions import describe_seeds, explain_bold, list_missing_rows, name_own_rows
from ..layout import DASH, Cells, Span, format_summary
from ..names import name_dataset
from .sheet import Form, Sheet, SheetColumn, SheetGroup, SheetRow, SheetValue

SETS_ACROSS = 3


def build_main(source: Aggregates, dataset: str) -> list[Sheet]:
    """Build Tables 1-3: quality with spread, time per image and parameters of every arm on one set.

    Raises `UserError` when the aggregates have no row of this set.
    """
    frame = source.frame("native")
    source.require(frame[frame["dataset"] == dataset], "native", f"rows for {dataset!r}")
    metrics = list_shown("main")
    columns = {_build_quality_column(metric): (dataset, metric.name) for metric in metrics}
    columns |= {
        SheetColumn("inference_ms", form=Form(2), timed=True): (dataset, NATIVE_TIMES[PAPER]),
        SheetColumn("params", form=Form(0, thousands=True)): (dataset, "params"),
    }
    rows, notes = _build_quality_rows(source, source.benchmark, columns)
    header = ["Arm", *(metric.heading for metric in metrics), "inf ms", "#params"]
    return [
        Sheet(
            f"main-{dataset}",
            "l1",
            [*columns],
            [header],
            [SheetGroup(rows)],
            notes,
            [dataset],
            source.config["native"]["significance"],
            size="scriptsize",
            separation=2,
        )
    ]


def build_lse(source: Aggregates) -> list[Sheet]:
    """Build Table 10: local spectrum error beside PSNR of the family's arms on every set.

    A page is as wide as three sets; the others follow in further tables.
    """
    sets = source.evaluate
    parts = [sets[first : first + SETS_ACROSS] for first in range(0, len(sets), SETS_ACROSS)]
    endings = ["", *(f"-{number}" for number in range(2, len(parts) + 1))]
    return [_build_lse(source, part, ending) for part, ending in zip(parts, endings, strict=True)]


def _build_lse(source: Aggregates, sets: Sequence[str], ending: str) -> Sheet:
    """Build Table 10 for some sets; the label gets an ending."""
    arms = {name: arm for name, arm in source.benchmark.items() if arm.group == "family"}
    frame = source.frame("native")
    of_family = frame[frame["arm"].isin(arms) & frame["dataset"].isin(sets)]
    source.require(of_family[of_family["metric"] == "lse"], "native", "LSE of the GB-LSR arms")
    columns = {
        _build_quality_column(metric, dataset): (dataset, metric.name)
        for dataset, metric in product(sets, (LSE, PSNR))
    }
    rows, notes = _build_quality_rows(source, arms, columns)
    titles: Cells = ["", *(Span(name_dataset(source, "native", dataset), 2) for dataset in sets)]
    header: Cells = ["Arm", *[LSE.arrowed_heading, PSNR.arrowed_heading] * len(sets)]
    return Sheet(
        f"lse{ending}",
        "l1",
        [*columns],
        [titles, header],
        [SheetGroup(rows)],
        notes,
        significance=source.config["native"]["significance"],
        size="scriptsize",
        separation=2,
    )


def _build_quality_column(metric: Metric, dataset: str = "") -> SheetColumn:
    """Build a column of a metric; its key names the data set where a table has several."""
    key = "_".join(filter(None, (metric.name, dataset)))
    return SheetColumn(key, form=Form(metric.digits, spread=True), metric=metric)


def _build_quality_rows(
    source: Aggregates,
    arms: Mapping[str, Arm],
    columns: Mapping[SheetColumn, tuple[str, str]],
) -> tuple[list[SheetRow], list[str | None]]:
    """Build a row per arm with the number of each column's (data set, metric), and the notes.

    The notes are about the columns of which the best is bold.
    """
    shown = [column.key for column in columns if column.metric]
    rows, numbers = [], {}
    for name, arm in arms.items():
        cells, fast = {}, {}
        for column, (dataset, metric) in columns.items():
            cells[column.key] = source.cell("native", dataset, name, metric)
            if column.timed:
                fast[column.key] = source.cell("native", dataset, name, NATIVE_TIMES[FAST])
        title = f"**{arm.name}** (main)" if arm is source.main_arm else arm.name
        rows.append(SheetRow(name, title, cells, fast, compared=name in source.compared))
        numbers[arm.short] = [cells[key] for key in shown]
    by_column = zip(*numbers.values(), strict=True)
    notes = [
        describe_seeds(numbers),
        explain_bold(source.config["native"]["significance"], by_column),
        name_own_rows(arms.values()),
        list_missing_rows(numbers),
    ]
    return rows, notes


def build_winners(source: Aggregates) -> list[Sheet]:
    """Build Table 4: best arm and best baseline of every set, and the main arm's gap to it."""
    rows, main = [], source.main_arm.arm
    for dataset in source.evaluate:
        cells: dict[str, SheetValue] = {}
        strong, is_measured = [], False
        for metric in (PSNR, LPIPS):
            of_any, of_baselines = (
                find_best_arms(source, dataset, metric, arms)
                for arms in (source.compared, source.baselines)
            )
            gap = read_value(source, gap_to_best, main, of_baselines, metric, dataset)
            cells |= {
                f"best_{metric.name}": _name_best(source, dataset, metric, of_any),
                f"best_baseline_{metric.name}": _name_best(source, dataset, metric, of_baselines),
                f"gap_{metric.name}": Summary(gap),
            }
            if of_baselines and is_better(source, dataset, metric, main, of_baselines[0]):
                strong.append(f"gap_{metric.name}")
            is_measured |= bool(of_any)
        if is_measured:
            name = name_dataset(source, "native", dataset)
            rows.append(SheetRow(dataset, name, cells, strong=strong))
    source.require(rows, "native", "PSNR or LPIPS to compare")
    header, columns = ["Dataset"], []
    for metric in (PSNR, LPIPS):
        best = f"best {metric.title}"
        header += [f"{best} (any)", f"{best} (baseline)", f"Δ {metric.title}"]
        columns += [
            SheetColumn(f"best_{metric.name}", "l1"),
            SheetColumn(f"best_baseline_{metric.name}", "l1"),
            SheetColumn(f"gap_{metric.name}", form=Form(metric.digits, signed=True)),
        ]
    return [Sheet("winners", "l", columns, [header], [SheetGroup(rows)])]


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
    counts = {row["arm"]: row["parameters"] for row in source.table("budget")}
    budget = compare_with_anchor(counts, source.config)
    arms = [arm for name, arm in source.arms.items() if arm.in_benchmark and name in budget]
    source.require(arms, "budget", "arm of the main tables")
    arms.sort(key=lambda arm: arm.fairness_rank or len(source.arms) + 1)
    anchor = source.main_arm
    rows = []
    for arm in arms:
        cells: dict[str, SheetValue] = {
            "parameters": Summary(budget[arm.arm].parameters),
            "ratio": Summary(budget[arm.arm].ratio),
            "notes": arm.note,
        }
        title = f"**{arm.name}** (F1 anchor)" if arm is anchor else arm.name
        rows.append(SheetRow(arm.arm, title, cells))
    band = source.config["native"]["criteria"]["parameter_band"]
    outside = [arm.name for arm in arms if budget[arm.arm].in_band is False]
    judged = f"{join_words(outside) if outside else 'no arm'} outside the band"
    notes = [
        f"F1 asks for at most {band:g} times the trainable parameters of {anchor.name}; "
        + (judged if anchor.arm in budget else "that arm is not in this run"),
        _describe_sizes(source.config),
    ]
    header = ["Arm", "#params", "ratio", "Decoder / notes"]
    columns = [
        SheetColumn("parameters", form=Form(0, thousands=True)),
        SheetColumn("ratio", form=Form(3, unit="×")),
        SheetColumn("notes", "p1.14"),
    ]
    return [Sheet("fairness", "l0.86", columns, [header], [SheetGroup(rows)], notes)]


def _describe_sizes(config: Config) -> str | None:
    """Say at which sizes parameters are counted, where these are not the paper's."""
    run, paper = config["native"]["model"], load_protocol()["native"]["model"]
    sizes = [
        f"{name.replace('_', ' ')} {size} (paper: {paper[name]})"
        for name, size in run.items()
        if size != paper[name]
    ]
    return f"Counted at this run's sizes, not the paper's: {', '.join(sizes)}" if sizes else None
