"""Hold every number of the paper's tables against the measured one: a claim for each cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple

from ...config import Arm, Method, read_published_times
from ..derived import (
    PEAK,
    gap_to_best,
    geometric_mean_speed,
    lowest_psnr_gap,
    mean_psnr_gap,
    mean_speed,
    memory_saved,
)
from ..estimates import Estimate, count, highest_mean, lowest_mean, maximum, total
from ..measured import Measure, Measured, Names
from ..metrics import LPIPS, LSE, NATIVE, PSNR, PSNR_Y, SUPERRES, Metric
from ..provenance.differences import Scope
from ..reader import Aggregates, get_key, get_subject, read_printed
from ..schemas import KEYS
from ..subjects import (
    ARMS,
    BASE,
    BASELINES,
    CONTROL,
    LIIF_RDN,
    LTE_SWINIR,
    METHODS,
    NF48_NOLE,
    NF96_NOLE,
    NOLE,
    RIVALS,
    SCALAR,
    SETS,
)
from ..training_time import compute_time
from .stated import Claim
from .structure import compute_ratios, count_millions
from .superres import GRID, TRAINED, UNTRAINED

TABLES = {
    "main_kodak": "Table 1",
    "main_set14": "Table 2",
    "main_urban100": "Table 3",
    "winners": "Table 4",
    "asr_latency_main": "Table 6",
    "asr_pareto_main": "Table 7",
    "fairness": "Table 8",
    "locality": "Table 9",
    "lse": "Table 10",
    "asr_pareto_appendix": "Table 12",
    "asr_full_all_scales_appendix": "Tables 11, 13-15",
    "compute_native": "Table 16",
    "compute_asr": "Table 17",
}
"""The tables of these cells, by the names that they have in config/items.tsv."""


class Cell(Claim):
    """A number of the paper's tables, called TABLE ROW COLUMN, with what computes it."""

    compute: Measure

    @property
    def measure(self) -> Measure:
        """What computes the measured side."""
        return self.compute


@dataclass(frozen=True)
class Column:
    """What the numbers of a column are, and how they are compared with the paper's.

    `title` is a sentence with {} for the row; `decimals` are as printed, where `signed` with a
    sign. Without a margin numbers have to be the same; a `bound` may be passed by the margin.
    """

    title: str
    scope: Scope
    decimals: int
    margin: str = ""
    unit: str = ""
    signed: bool = False
    bound: bool = False

    def build(
        self, place: tuple[str, str, str], name: str, compute: Measure, published: float
    ) -> Cell:
        """Build the claim about a cell: its table, row and column, and the name of the row."""
        text = format(published, f"{'+' if self.signed else ''}.{self.decimals}f")
        rule = "bound" if self.bound else "equals" if self.margin else "exact"
        return Cell(
            id=" ".join(place),
            topic=f"Cells of {TABLES[place[0]]}",
            scope=self.scope,
            where=TABLES[place[0]],
            sentence=self.title.format(name),
            rule=rule,
            margin=self.margin,
            published=f"<= {text}" if self.bound else text,
            unit=self.unit,
            compute=compute,
        )


def describe_metric(
    metric: Metric,
    scope: Scope,
    title: str = "",
    decimals: int | None = None,
    signed: bool = False,
) -> Column:
    """Describe a column of a metric or, with another title, of what is in its unit."""
    title = title or f"{metric.title} of {{}}"
    digits = metric.digits if decimals is None else decimals
    return Column(title, scope, digits, metric.name, metric.unit, signed)


def list_cells(paper: Aggregates) -> Iterator[Cell]:
    """List the cells of the paper's tables."""
    return chain(list_read_cells(paper), list_derived_cells(paper), list_training_cells())


# --- numbers that an aggregate has as they are ----------------------------------------------------

OF_ABLATION = partial(describe_metric, scope=Scope.ABLATION, decimals=3)
READ: dict[str, dict[str, Column]] = {
    "native": {
        **{metric.name: describe_metric(metric, Scope.QUALITY) for metric in NATIVE},
        "inference_ms": Column("Time per image of {}", Scope.LATENCY, 2, "time", "ms"),
    },
    "asr_quality": {m.name: describe_metric(m, Scope.ASR_QUALITY) for m in SUPERRES},
    "asr_latency": {
        "mean_ms": Column("Time per image of {}", Scope.ASR_LATENCY, 2, "time", "ms"),
        PEAK: Column("Peak memory of {}", Scope.ASR_LATENCY, 1, "memory", "MiB"),
    },
    "ablation": {
        "psnr": OF_ABLATION(PSNR, title="PSNR of {} on the validation images"),
        "delta_psnr": OF_ABLATION(PSNR, title="PSNR step to {} there", signed=True),
        "delta_lpips": OF_ABLATION(LPIPS, title="LPIPS step to {} there", signed=True),
        "criterion_b": Column("Criterion B met (1) by {}", Scope.ABLATION, 0),
    },
    "locality": {
        "tests_met": Column("Locality tests met by {}, of four", Scope.LOCALITY, 0),
        "criterion_a": Column("Criterion A met (1) by {}", Scope.LOCALITY, 0),
    },
}
"""By aggregate, and by metric or statistic; steps are from GB-LSR-Scalar."""


def list_read_cells(paper: Aggregates) -> Iterator[Cell]:
    """List the cells whose numbers the aggregates have."""
    sets = paper.config["native"]["data"]["evaluate"] | paper.config["asr"]["evaluate"]
    subjects: dict[str, Arm | Method] = {**paper.arms, **paper.methods}
    for aggregate, columns in READ.items():
        for row in paper.table(aggregate):
            key = get_key(row)
            if key[-1] not in columns:
                continue
            name = subjects[get_subject(row)].name
            name += f" on {paper.datasets[sets[row['dataset']]].title}" if row["dataset"] else ""
            name += f" ×{row['scale']}" if row["scale"] else ""
            names = {column: row[column] for column in KEYS if row[column]}
            compute = partial(read_cell, aggregate=aggregate, names=names)
            place = place_cell(paper, aggregate, key)
            yield columns[key[-1]].build(place, name, compute, row["mean"])


def read_cell(run: Measured, aggregate: str, names: Mapping[str, str]) -> Estimate:
    """Read a number of an aggregate by its keys."""
    if aggregate == "ablation":
        return run.ablation(names["arm"], names["metric"])
    return run.read_cells(aggregate, **names)


def place_cell(paper: Aggregates, aggregate: str, key: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the table, the row and the column of a number of the paper."""
    if aggregate in ("ablation", "locality"):
        return "locality", key[0], key[-1]
    dataset, subject, metric = key[0], key[1], key[-1]
    if aggregate == "native":
        if metric == LSE.name:
            return "lse", subject, f"{metric}_{dataset}"
        return f"main_{dataset}", subject, metric
    if aggregate == "asr_quality" and subject in METHODS:
        return "asr_full_all_scales_appendix", f"{dataset}/{subject}", f"{metric}_x{key[2]}"
    if metric == PEAK:
        return f"asr_pareto_{paper.methods[subject].table}", subject, "peak"
    return "asr_latency_main", subject, f"{'ms' if metric == 'mean_ms' else metric}_{dataset}"


# --- numbers that follow from others --------------------------------------------------------------


class Derived(NamedTuple):
    """A column of numbers that follow from others: its table, its rows, and what computes them.

    The table asr_pareto is that of the variant.
    """

    table: str
    name: str
    rows: Sequence[str]
    column: Column
    compute: Callable[[str, Measured], Estimate]


QUALITY = partial(describe_metric, scope=Scope.QUALITY)
GAP = partial(describe_metric, PSNR_Y, Scope.ASR_QUALITY, decimals=4, signed=True)
EFFICIENCY = partial(Column, scope=Scope.ASR_LATENCY)
COUNTED = partial(Column, scope=Scope.STRUCTURE)
VARIANTS = (NOLE, NF96_NOLE, NF48_NOLE)
TIMED_METHODS = (*METHODS, NOLE, NF96_NOLE)
DERIVED = (
    Derived(
        "winners", "best_psnr", SETS, QUALITY(PSNR, title="Highest PSNR of all arms on {}"),
        lambda column, run: highest_mean(run.native(column, ARMS, "psnr")),
    ),
    Derived(
        "winners", "best_baseline_psnr", SETS,
        QUALITY(PSNR, title="Highest PSNR of the baselines on {}"),
        lambda column, run: highest_mean(run.native(column, BASELINES, "psnr")),
    ),
    Derived(
        "winners", "gap_psnr", SETS,
        QUALITY(PSNR, title="PSNR of GB-LSR-Scalar minus the best baseline on {}", signed=True),
        lambda column, run: gap_to_best(run, SCALAR, BASELINES, PSNR, column),
    ),
    Derived(
        "winners", "best_lpips", SETS, QUALITY(LPIPS, title="Lowest LPIPS of all arms on {}"),
        lambda column, run: lowest_mean(run.native(column, ARMS, "lpips")),
    ),
    Derived(
        "winners", "best_baseline_lpips", SETS,
        QUALITY(LPIPS, title="Lowest LPIPS of the baselines on {}"),
        lambda column, run: lowest_mean(run.native(column, BASELINES, "lpips")),
    ),
    Derived(
        "winners", "gap_lpips", SETS,
        QUALITY(LPIPS, title="LPIPS of GB-LSR-Scalar minus the best baseline on {}", signed=True),
        lambda column, run: gap_to_best(run, SCALAR, BASELINES, LPIPS, column),
    ),
    Derived(
        "asr_latency_main", "parameters", RIVALS,
        COUNTED("Trainable parameters of {}, in millions", decimals=2, unit="M"),
        lambda method, run: count_millions(run, method),
    ),
    Derived(
        "asr_latency_main", "speed_liif_rdn", TIMED_METHODS,
        EFFICIENCY(
            "Speed of {} over LIIF-RDN's (geometric mean of three sets)",
            decimals=2, margin="ratio", unit="×",
        ),
        lambda method, run: geometric_mean_speed(run, method, LIIF_RDN),
    ),
    Derived(
        "asr_latency_main", "speed_lte_swinir", TIMED_METHODS,
        EFFICIENCY(
            "Speed of {} over LTE-SwinIR's (geometric mean of three sets)",
            decimals=2, margin="ratio", unit="×",
        ),
        lambda method, run: geometric_mean_speed(run, method, LTE_SWINIR),
    ),
    Derived(
        "asr_pareto", "parameters", (BASE, *VARIANTS),
        COUNTED("Trainable parameters of {}, in millions", decimals=3, unit="M"),
        lambda method, run: count_millions(run, method),
    ),
    Derived(
        "asr_pareto", "trained", VARIANTS,
        GAP("PSNR-Y of {} minus base, mean over the 15 in-distribution cells"),
        lambda method, run: mean_psnr_gap(run, method, BASE, TRAINED),
    ),
    Derived(
        "asr_pareto", "untrained", VARIANTS,
        GAP("PSNR-Y of {} minus base, mean over the 10 cells at x6 and x8"),
        lambda method, run: mean_psnr_gap(run, method, BASE, UNTRAINED),
    ),
    Derived(
        "asr_pareto", "worst", VARIANTS,
        GAP("PSNR-Y of {} minus base, lowest of the 25 cells"),
        lambda method, run: lowest_psnr_gap(run, method, BASE, GRID),
    ),
    Derived(
        "asr_pareto", "speed", VARIANTS,
        EFFICIENCY(
            "Speed of {} in units of base at x4 (arithmetic mean of three sets)",
            decimals=3, margin="ratio", unit="×",
        ),
        lambda method, run: mean_speed(run, method, BASE),
    ),
    Derived(
        "asr_pareto", "saved", VARIANTS,
        EFFICIENCY(
            "Peak memory that {} saves over base at x4 (arithmetic mean of three sets)",
            decimals=2, margin="memory", unit="%",
        ),
        lambda method, run: memory_saved(run, method, BASE),
    ),
    Derived(
        "fairness", "parameters", ARMS, COUNTED("Trainable parameters of {}", decimals=0),
        lambda arm, run: run.structure(arm),
    ),
    Derived(
        "fairness", "ratio", (*BASELINES, CONTROL),
        COUNTED("Parameters of {} over those of GB-LSR-Scalar", decimals=3, unit="×"),
        lambda arm, run: compute_ratios(run, [arm]),
    ),
)  # fmt: skip
NUMBER = re.compile(r"-?\d+(\.\d+)?")


def list_derived_cells(paper: Aggregates) -> Iterator[Cell]:
    """List the cells whose numbers follow from others, as printed or by the paper's tables."""
    printed = read_printed()
    for table, name, rows, column, compute in DERIVED:
        for row in rows:
            if name == f"speed_{row}":  # of a method over itself
                continue
            measure = partial(compute, row)
            place = (_complete_table(paper, table, row), row, name)
            number = NUMBER.search(printed.get(place, ""))  # Fixed (0.5967)
            published = float(number[0] if number else measure(Measured(paper)).values.item())
            yield column.build(place, _name_row(paper, row), measure, published)


def _complete_table(paper: Aggregates, table: str, row: str) -> str:
    return f"{table}_{paper.methods[row].table}" if table == "asr_pareto" else table


def _name_row(paper: Aggregates, row: str) -> str:
    if row in SETS:
        return paper.datasets[paper.config["native"]["data"]["evaluate"][row]].title
    return (paper.arms.get(row) or paper.methods[row]).name


# --- training time --------------------------------------------------------------------------------

# The paper trained Fixed and Full again for the ablation; here both tables use the same runs.
TRAINED_AGAIN = {"gblsr_bandwidth": ("gblsr_fixed", "gblsr_bandwidth", "gblsr_full")}


def list_training_cells() -> Iterator[Cell]:
    """List the cells of training time: runs, the longest, and all together, of every group."""
    for benchmark, scope, unit, seconds, decimals in (
        ("native", Scope.COST, "s", 1, 0),
        ("asr", Scope.ASR_COST, "h", 3600, 2),
    ):
        runs = Column("Training runs of the {}", scope, 0, unit="runs")
        longest, whole = (
            Column(title, scope, decimals, "time", unit, bound=True)
            for title in ("Longest training run of the {}", "Training time of the {} together")
        )
        for group in read_published_times(benchmark):
            members = TRAINED_AGAIN.get(group.subjects[0], group.subjects)
            time = partial(compute_time, subjects=members, unit=seconds)
            for name, column, compute, published in (
                ("runs", runs, partial(count_runs, subjects=members), group.runs),
                ("longest", longest, partial(time, summarize=maximum), group.longest_seconds),
                ("total", whole, partial(time, summarize=total), group.total_seconds),
            ):
                place = (f"compute_{benchmark}", group.subjects[0], name)
                goal = published / (1 if column is runs else seconds)
                yield column.build(place, group.group, compute, goal)


def count_runs(run: Measured, subjects: Names) -> Estimate:
    """Count the training runs of arms or methods."""
    return count(run.seconds(subjects))
