"""The shape of the aggregates, the runs that each of them averages, and the files that it reads.

A number over seeds is a row of the same columns in every aggregate: `KEYS`, which say what it is (a
number leaves those empty that it has no need of), then mean, std and n. The rules of the workflow,
the command line, the code that writes aggregates and the code that reads them take this from here.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config import Config, list_arms, list_methods

KEYS = ("dataset", "arm", "method", "scale", "clock", "metric", "statistic")
SUMMARY = ("mean", "std", "n")
ABLATION = ("reference", "control", "log")  # the parts of its arms, in the order of its table
RUN_COLUMNS = (
    "benchmark", "arm", "seed", "steps", "parameters", "wall_seconds", "steps_per_second",
    "peak_memory_mib", "device", "finished", "bandwidth", "released_by", "commit",
)  # fmt: skip
RUN_AGGREGATES = {"native": "runs", "asr": "asr_runs"}
"""The aggregate of the runs of a benchmark."""

RUN_FILE = "{benchmark}/runs/{subject}/seed{seed}/run.json"
LOG_FILE = "{benchmark}/runs/{subject}/seed{seed}/log.csv"
LATENCY_FILES = "{benchmark}/latency/{subject}/seed{seed}/{timed}"
SCORES = "native/metrics/{subject}/seed{seed}/{column}"
VALIDATION_SCORES = "native/metrics/{subject}/seed{seed}/validation.csv"
GRID_FILE = "asr/metrics/{subject}/seed{seed}/{column}_x{scale}"
EXEMPLAR = "native/exemplars/seed{seed}/{subject}/{column}.png"
ASR_EXEMPLAR = "asr/exemplars/seed{seed}/{subject}/{column}_x{scale}.png"
BICUBIC_GRID = "asr/metrics/bicubic/{column}_x{scale}"
FIELDS = "native/fields/{subject}/seed{seed}.npz"
PathFields = dict[str, Any]
"""Values for the fields of a path pattern.

`benchmark`: native or asr. `subject`: an arm or method. `column`: an evaluation column. `timed`: a
column whose images are timed. `seed` and `scale` as they stand in file names. `arm` or `method` and
`dataset` are the keys of numbers in such a file.
"""


@dataclass(frozen=True)
class Schema:
    """What an aggregate is made of.

    `includes` selects the arms or methods of `benchmark` that it is about; `inputs` are patterns of
    the files read, relative to the results folder: none where the code alone gives its numbers.
    """

    inputs: tuple[str, ...] = ()
    benchmark: str = "native"
    includes: Callable[[Any], bool] = lambda row: True


SCHEMAS = {
    "native": Schema(
        (RUN_FILE, f"{LATENCY_FILES}.csv", f"{SCORES}.csv"), includes=lambda arm: arm.in_benchmark
    ),
    "budget": Schema(),
    "structure": Schema(),
    "runs": Schema((RUN_FILE, LOG_FILE)),
    "locality": Schema((FIELDS,), includes=lambda arm: arm.diagnostic in ("log", "linear")),
    "ablation": Schema(
        (VALIDATION_SCORES,),
        includes=lambda arm: arm.diagnostic in ABLATION,
    ),
    "provenance_native": Schema(
        (RUN_FILE, f"{LATENCY_FILES}.json"), includes=lambda arm: arm.in_benchmark
    ),
    "provenance_native_ablation": Schema((RUN_FILE,), includes=lambda arm: arm.diagnostic != ""),
    "asr_quality": Schema((f"{BICUBIC_GRID}.csv", f"{GRID_FILE}.csv"), "asr"),
    "asr_latency": Schema((f"{LATENCY_FILES}.csv",), "asr"),
    "asr_runs": Schema((RUN_FILE, LOG_FILE), "asr"),
    "provenance_asr": Schema((RUN_FILE, f"{GRID_FILE}.json", f"{BICUBIC_GRID}.json"), "asr"),
    # Apart from the others: quality needs no timing, which takes hours, and timing no training.
    "provenance_asr_timing": Schema((f"{LATENCY_FILES}.json",), "asr"),
}
OVER_SEEDS = ("native", "locality", "ablation", "asr_quality", "asr_latency")
"""The aggregates of numbers that runs gave, one for each seed."""
JOBS = {
    "native": ("native", "provenance_native"),
    "structure": ("budget", "structure"),
    "runs": ("runs",),
    "diagnostics": ("locality", "ablation", "provenance_native_ablation"),
    "asr_quality": ("asr_quality", "asr_runs", "provenance_asr"),
    "asr_latency": ("asr_latency", "provenance_asr_timing"),
}
"""The aggregates that one job makes, since they are of the same runs."""


def list_subjects(name: str, config: Config) -> list[str]:
    """List the arms or methods that an aggregate averages, in the order of their table."""
    schema = SCHEMAS[name]
    rows: Mapping[str, Any] = (
        list_arms(config) if schema.benchmark == "native" else list_methods(config)
    )
    return [subject for subject, row in rows.items() if schema.includes(row)]


def aggregate_path(name: str) -> str:
    """Return the path of an aggregate, relative to the results folder."""
    return f"aggregates/{name}.{'json' if name.startswith('provenance') else 'csv'}"


def list_columns(name: str) -> list[str]:
    """List the columns of an aggregate: of numbers over seeds, or of runs."""
    return [*(RUN_COLUMNS if name in RUN_AGGREGATES.values() else (*KEYS, *SUMMARY))]


def find_jobs(names: Collection[str]) -> list[str]:
    """Find the jobs that make some aggregates, in their order."""
    return [job for job, made in JOBS.items() if not set(made).isdisjoint(names)]


def list_made(job: str, config: Config) -> list[str]:
    """List the aggregates that a job makes of what a config runs: not those of no arms."""
    return [n for n in JOBS[job] if not SCHEMAS[n].inputs or list_inputs(n, config)]


def list_inputs(name: str, config: Config) -> list[str]:
    """List the files that an aggregate is made from, relative to the results folder."""
    return [
        file
        for pattern in SCHEMAS[name].inputs
        for _, file in expand_pattern(name, config, pattern)
    ]


def expand_pattern(name: str, config: Config, pattern: str) -> Iterator[tuple[PathFields, str]]:
    """Yield the fields and the path of every file of a pattern, for the runs of an aggregate.

    In super-resolution the files of a column are named after the data set that the column shows.
    """
    benchmark = SCHEMAS[name].benchmark
    native = benchmark == "native"
    evaluate = (config["native"]["data"] if native else config["asr"])["evaluate"]
    values = {
        "benchmark": [benchmark],
        "subject": list_subjects(name, config),
        "seed": config["seeds"],
        "column": evaluate,
        "timed": evaluate if native else config["asr"]["timing"]["datasets"],
        "scale": [format_scale(scale) for scale in config["asr"]["scales"]],
    }
    names = [field for _, field, _, _ in string.Formatter().parse(pattern) if field]
    for combination in itertools.product(*(values[field] for field in names)):
        fields = in_path = dict(zip(names, combination, strict=True))
        for field in {"column", "timed"} & fields.keys():
            column = fields[field]
            fields = fields | {"dataset": column}
            in_path = in_path if native else in_path | {field: evaluate.get(column, column)}
        if "subject" in fields:
            fields = fields | {"arm" if native else "method": fields["subject"]}
        yield fields, pattern.format(**in_path)


def find_files(
    name: str, results: Path, config: Config, pattern: str
) -> Iterator[tuple[PathFields, Path]]:
    """Yield those of `expand_pattern` that exist below `results`."""
    for fields, file in expand_pattern(name, config, pattern):
        if (results / file).is_file():
            yield fields, results / file


def format_scale(scale: float) -> str:
    """Format a scale factor as in file names and tables: 2, 2.5."""
    return f"{scale:g}"
