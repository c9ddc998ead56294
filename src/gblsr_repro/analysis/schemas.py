"""Schemas of the aggregates: their columns, the runs they average, and the files they read.

The rules of the workflow, the command line, the code that writes aggregates and the code that reads
them all take these from here.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config import Config, list_arms, list_methods

VALUES = ("mean", "std", "n")
ABLATION = ("reference", "control", "log")  # the parts of its arms, in the order of its table
RUN_COLUMNS = (
    "benchmark", "arm", "seed", "steps", "parameters", "wall_seconds", "steps_per_second",
    "peak_memory_mib", "device", "finished", "bandwidth", "released_by",
)  # fmt: skip
RUNS = {"native": "runs", "asr": "asr_runs"}
"""The aggregate of the runs of a benchmark."""

RUN = "{benchmark}/runs/{subject}/seed{seed}/run.json"
LOG = "{benchmark}/runs/{subject}/seed{seed}/log.csv"
TIMES = "{benchmark}/latency/{subject}/seed{seed}/{timed}"
SCORES = "native/metrics/{subject}/seed{seed}/{column}"
GRID = "asr/metrics/{subject}/seed{seed}/{column}_x{scale}"
BICUBIC_GRID = "asr/metrics/bicubic/{column}_x{scale}"
FIELDS = "native/fields/{subject}/seed{seed}.npz"
Fields = dict[str, Any]
"""Values for the fields of a path pattern.

`benchmark`: native or asr. `subject`: an arm or method. `column`: an evaluation column. `timed`: a
column whose images are timed. `seed` and `scale` as they stand in file names.
"""


@dataclass(frozen=True)
class Schema:
    """The schema of one aggregate file.

    `keys` are the columns that identify a number; mean, std and n follow them. An aggregate without
    keys has `columns`. `includes` selects the arms or methods of `benchmark` that are averaged;
    `inputs` are patterns of the files read, relative to the results folder. `suffix` is the file's
    (json: what was run, compared with the paper's), and `remedy` is what to do when there is
    nothing to aggregate.
    """

    keys: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    benchmark: str = "native"
    includes: Callable[[Any], bool] = lambda row: True
    columns: tuple[str, ...] = ()
    suffix: str = "csv"
    remedy: str = "train"

    @property
    def header(self) -> tuple[str, ...]:
        """All columns of the file, in order."""
        return (*self.keys, *VALUES) if self.keys else self.columns


SCHEMAS = {
    "native": Schema(
        ("dataset", "arm", "metric"),
        (RUN, f"{TIMES}.csv", f"{SCORES}.csv"),
        includes=lambda arm: arm.in_benchmark,
        remedy="train and evaluate an arm",
    ),
    "budget": Schema(columns=("arm", "parameters"), remedy="name arms in the config"),
    "structure": Schema(columns=("name", "value")),
    "runs": Schema(columns=RUN_COLUMNS, inputs=(RUN, LOG)),
    "locality": Schema(
        ("arm", "statistic"),
        (FIELDS,),
        includes=lambda arm: arm.diagnostic in ("log", "linear"),
        remedy="run the fields step of a per-patch arm",
    ),
    "ablation": Schema(
        ("arm", "metric"),
        ("native/metrics/{subject}/seed{seed}/validation.csv",),
        includes=lambda arm: arm.diagnostic in ABLATION,
        remedy="evaluate the ablation's arms",
    ),
    "provenance_native": Schema(
        inputs=(RUN, f"{TIMES}.json"),
        includes=lambda arm: arm.in_benchmark,
        suffix="json",
    ),
    "provenance_native_ablation": Schema(
        inputs=(RUN,),
        includes=lambda arm: arm.diagnostic != "",
        suffix="json",
    ),
    "asr_quality": Schema(
        ("dataset", "method", "scale", "metric"),
        (f"{GRID}.csv", f"{BICUBIC_GRID}.csv"),
        "asr",
        remedy="evaluate a method",
    ),
    "asr_latency": Schema(
        ("dataset", "method", "scale", "clock", "metric"),
        (f"{TIMES}.csv",),
        "asr",
        remedy="time a method",
    ),
    "asr_runs": Schema(columns=RUN_COLUMNS, inputs=(RUN, LOG), benchmark="asr"),
    "provenance_asr": Schema(
        inputs=(RUN, f"{GRID}.json", f"{BICUBIC_GRID}.json"),
        benchmark="asr",
        suffix="json",
    ),
    # Apart from the others: quality needs no timing, which takes hours, and timing no training.
    "provenance_asr_timing": Schema(inputs=(f"{TIMES}.json",), benchmark="asr", suffix="json"),
}
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
    return f"aggregates/{name}.{SCHEMAS[name].suffix}"


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


def expand_pattern(
    name: str, config: Config, pattern: str, **fixed: str
) -> Iterator[tuple[Fields, str]]:
    """Yield the fields and the path of every file of a pattern, for the runs of an aggregate.

    `fixed` limits a field to one value. In super-resolution the files of a column are named after
    the data set that the column shows.
    """
    schema = SCHEMAS[name]
    native = schema.benchmark == "native"
    section = config["native"]["data"] if native else config["asr"]
    values = {
        "benchmark": [schema.benchmark],
        "subject": list_subjects(name, config),
        "seed": config["seeds"],
        "column": list(section["evaluate"]),
        "timed": list(section["evaluate"] if native else config["asr"]["timing"]["datasets"]),
        "scale": [format_scale(scale) for scale in config["asr"]["scales"]],
    } | {field: [value] for field, value in fixed.items()}
    names = [field for _, field, _, _ in string.Formatter().parse(pattern) if field]
    for combination in itertools.product(*(values[field] for field in names)):
        fields = dict(zip(names, combination, strict=True))
        in_path = dict(fields)
        if not native:
            for field in {"column", "timed"} & fields.keys():
                in_path[field] = section["evaluate"].get(fields[field], fields[field])
        yield fields, pattern.format(**in_path)


def find_files(
    name: str, results: Path, config: Config, pattern: str, **fixed: str
) -> Iterator[tuple[Fields, Path]]:
    """Yield those of `expand_pattern` that exist below `results`."""
    for fields, file in expand_pattern(name, config, pattern, **fixed):
        if (results / file).is_file():
            yield fields, results / file


def format_scale(scale: float | str) -> str:
    """Format a scale factor as in file names and tables: 2, 2.5."""
    try:
        return f"{float(scale):g}"
    except ValueError:
        return str(scale)
