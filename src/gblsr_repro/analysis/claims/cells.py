"""Hold every number of the paper's tables against the measured one: a claim for each cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from ...config import Scope, find_row, read_published_times
from ...errors import UserError
from ..derived import PEAK
from ..estimates import Estimate, NotMeasuredError, count, maximum, total
from ..measured import Measure, Measured, OneOrMore
from ..metrics import LSE, METRICS
from ..reader import Aggregates, get_key, get_subject, read_printed
from ..schemas import KEYS
from ..subjects import METHODS
from ..training_time import name_group
from .stated import CELL_MEASURES, COLUMNS, Claim

CELLS = "Cells of "  # topics of cells
QUALITY = {
    name: (f"{metric.title} of", f"{{:.{metric.digits}f}}", name, metric.unit)
    for name, metric in METRICS.items()
}
TIMES = {
    "inference_ms": ("Time per image of", "{:.2f}", "time", "ms"),
    "mean_ms": ("Time per image of", "{:.2f}", "time", "ms"),
    PEAK: ("Peak memory of", "{:.1f}", "memory", "MiB"),
}
READ = {  # by aggregate: the metrics whose cells are read as they are, and the scope of each
    "native": dict.fromkeys(QUALITY, Scope.QUALITY) | {"inference_ms": Scope.LATENCY},
    "asr_quality": dict.fromkeys(QUALITY, Scope.ASR_QUALITY),
    "asr_latency": dict.fromkeys(TIMES, Scope.ASR_LATENCY),
}
TABLES = {
    "main_kodak": "Table 1",
    "main_set14": "Table 2",
    "main_urban100": "Table 3",
    "asr_latency_main": "Table 6",
    "asr_pareto_main": "Table 7",
    "lse": "Table 10",
    "asr_pareto_appendix": "Table 12",
    "asr_full_all_scales_appendix": "Tables 11, 13-15",
    "compute_native": "Table 16",
    "compute_asr": "Table 17",
}
"""The tables of these cells, by the names that they have in config/items.tsv."""


class ClaimedCell(Claim):
    """A number of the paper's tables, called TABLE ROW COLUMN, with what computes it."""

    compute: Measure

    @property
    def measure(self) -> Measure:
        """What computes the measured side."""
        return self.compute


def list_cells(paper: Aggregates) -> list[ClaimedCell]:
    """List the cells of the paper's tables, in the order of the tables."""
    cells = chain(list_read_cells(paper), list_derived_cells(paper), list_training_cells())
    return sorted(cells, key=lambda cell: int(re.findall(r"\d+", cell.topic)[0]))


# --- numbers that an aggregate has as they are ----------------------------------------------------


def list_read_cells(paper: Aggregates) -> Iterator[ClaimedCell]:
    """List the cells whose numbers the aggregates have."""
    sets = paper.config["native"]["data"]["evaluate"] | paper.config["asr"]["evaluate"]
    for aggregate, scopes in READ.items():
        for number in paper.table(aggregate):
            if number["metric"] not in scopes:
                continue
            table, row, column = place_cell(paper, aggregate, get_key(number))
            what, form, margin, unit = (QUALITY | TIMES)[number["metric"]]
            name = f"{what} {find_row(get_subject(number)).name}"
            scale = f" ×{number['scale']}" if number["scale"] else ""
            names: dict[str, Any] = {key: number[key] for key in KEYS if number[key]}
            yield ClaimedCell(
                id=f"{table} {row} {column}",
                topic=CELLS + TABLES[table],
                scope=scopes[number["metric"]],
                where=TABLES[table],
                sentence=f"{name} on {paper.datasets[sets[number['dataset']]].title}{scale}",
                rule="equals",
                margin=margin,
                published=form.format(number["mean"]),
                unit=unit,
                compute=partial(Measured.read_cells, aggregate=aggregate, **names),
            )


def place_cell(paper: Aggregates, aggregate: str, key: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the table, the row and the column of a number of the paper."""
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

NUMBER = re.compile(r"-?\d+(\.\d+)?")


def list_derived_cells(paper: Aggregates) -> Iterator[ClaimedCell]:
    """List the cells of `stated.COLUMNS`, as printed or as the paper's other numbers give them.

    Raises `UserError` for a row of the claims that is none of the table's.
    """
    printed = read_printed()
    for column in COLUMNS.values():
        for row in column.rows:
            table, _, name = column.id.split()
            title, measure = _name_row(paper, row), partial(CELL_MEASURES[column.id], row)
            number = NUMBER.search(printed.get((table, row, name), ""))  # Fixed (0.5967)
            try:
                published = float(number[0] if number else measure(Measured(paper)).values.item())
            except NotMeasuredError as error:
                raise UserError(
                    f"config/paper/claims.tsv, claim {column.id!r}: the paper's numbers do not "
                    f"give the row {row!r} ({error}); correct it."
                ) from error
            own: dict[str, Any] = {
                "id": column.id.format(row),
                "sentence": column.sentence.format(title),
                "published": column.published.format(published),
                "rows": (),
            }
            yield ClaimedCell(**(column.model_dump() | own), compute=measure)


def _name_row(paper: Aggregates, row: str) -> str:
    """Name a data set, an arm or a method."""
    datasets = paper.config["native"]["data"]["evaluate"]
    return paper.datasets[datasets[row]].title if row in datasets else find_row(row).name


# --- training time --------------------------------------------------------------------------------

# The paper trained Fixed and Full again for the ablation; here both tables use the same runs.
TRAINED_AGAIN = {"gblsr_bandwidth": ("gblsr_fixed", "gblsr_bandwidth", "gblsr_full")}


def list_training_cells() -> Iterator[ClaimedCell]:
    """List the cells of training time: runs, the longest, and all together, of every group."""
    for benchmark, scope, unit, seconds, form in (
        ("native", Scope.COST, "s", 1, "<= {:.0f}"),
        ("asr", Scope.ASR_COST, "h", 3600, "<= {:.2f}"),
    ):
        for group in read_published_times(benchmark):
            first = group.subjects[0]
            row = name_group(find_row(first))
            members = TRAINED_AGAIN.get(first, group.subjects)
            table = f"compute_{benchmark}"
            where = TABLES[table]
            of_group = partial(ClaimedCell, topic=CELLS + where, scope=scope, where=where)
            yield of_group(
                id=f"{table} {row} runs",
                sentence=f"Training runs of the {group.group}",
                rule="exact",
                published=f"{group.runs}",
                unit="runs",
                compute=partial(count_runs, subjects=members),
            )
            for name, sentence, summarize, published in (
                ("longest", "Longest training run", maximum, group.longest_seconds),
                ("total", "Training time together", total, group.total_seconds),
            ):
                yield of_group(
                    id=f"{table} {row} {name}",
                    sentence=f"{sentence} of the {group.group}",
                    rule="bound",
                    margin="time",
                    published=form.format(published / seconds),
                    unit=unit,
                    compute=partial(
                        compute_time, subjects=members, summarize=summarize, unit=seconds
                    ),
                )


def compute_time(
    run: Measured, subjects: OneOrMore, summarize: Callable[[Estimate], Estimate], unit: int
) -> Estimate:
    """Compute the longest or the total time of training runs, in a unit of seconds."""
    return summarize(run.seconds(subjects) / unit)


def count_runs(run: Measured, subjects: OneOrMore) -> Estimate:
    """Count the training runs of arms or methods."""
    return count(run.seconds(subjects))
