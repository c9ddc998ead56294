"""The kinds of aggregates: what names their numbers, what they are of, and what they come from.

One table for the rules of the workflow, the command line, those who make aggregates and those who
read them.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config import BASELINE, READING, Config, selected_arms, selected_methods

VALUES = ("mean", "std", "n")
ABLATION = ("reference", "control", "log")  # the parts of its arms, in the order of its table
RUN_COLUMNS = (
    "benchmark", "arm", "seed", "steps", "parameters", "wall_seconds", "steps_per_second",
    "peak_memory_mib", "device", "finished", "bandwidth",
)  # fmt: skip

RUN = "{half}/runs/{subject}/seed{seed}/run.json"
LOG = "{half}/runs/{subject}/seed{seed}/log.csv"
TIMES = "{half}/latency/{subject}/seed{seed}/{timed}"
SCORES = "native/metrics/{subject}/seed{seed}/{column}"
GRID = "asr/metrics/{subject}/seed{seed}/{column}_x{scale}"
BICUBIC_GRID = "asr/metrics/bicubic/{column}_x{scale}"
FIELDS = "native/fields/{subject}/seed{seed}.npz"
NATIVE = "aggregates/native.csv"
Fields = dict[str, Any]
"""What fills a pattern: the half, the arm or method (subject), the seed, the column, the scale.

`timed` is a column whose images are timed.
"""


@dataclass(frozen=True)
class Kind:
    """A kind of aggregate.

    `keys` are the columns that name a number, before mean, std and n; a kind without keys has
    `columns`. `of` chooses the arms or methods of its `half`; `inputs` are patterns of the files
    below the results folder. `judged` says whether claims read it, `form` how its file is named,
    `first` what to do where there is nothing to make it of.
    """

    keys: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    half: str = "native"
    of: Callable[[Any], bool] = lambda row: True
    columns: tuple[str, ...] = ()
    judged: bool = True
    form: str = "csv"
    first: str = "train"

    @property
    def header(self) -> tuple[str, ...]:
        """All columns of the file."""
        return (*self.keys, *VALUES) if self.keys else self.columns


KINDS = {
    "native": Kind(
        ("dataset", "arm", "metric"),
        (RUN, f"{TIMES}.csv", f"{SCORES}.csv"),
        of=lambda arm: arm.in_benchmark,
        first="train and evaluate an arm",
    ),
    "criteria": Kind(
        columns=("criterion", "dataset", "value", "bound", "met"),
        inputs=(NATIVE,),
        first="train and evaluate an arm",
    ),
    "readings": Kind(
        ("dataset", "arm", "metric"),
        (RUN, f"{TIMES}.csv", f"{SCORES}.csv"),
        of=lambda arm: arm.group in (BASELINE, READING),
        judged=False,
        first="train and evaluate an arm",
    ),
    "budget": Kind(columns=("arm", "parameters"), judged=False, first="name arms in the config"),
    "structure": Kind(columns=("name", "value")),
    "runs": Kind(columns=RUN_COLUMNS, inputs=(RUN, LOG)),
    "locality": Kind(
        ("arm", "statistic"),
        (FIELDS,),
        of=lambda arm: arm.diagnostic in ("log", "linear"),
        first="run the fields step of a per-patch arm",
    ),
    "ablation": Kind(
        ("arm", "metric"),
        ("native/metrics/{subject}/seed{seed}/validation.csv",),
        of=lambda arm: arm.diagnostic in ABLATION,
        first="evaluate the ablation's arms",
    ),
    "provenance_native": Kind(
        inputs=(RUN, f"{TIMES}.json", f"{SCORES}.json"),
        of=lambda arm: arm.in_benchmark,
        form="json",
    ),
    "asr_quality": Kind(
        ("dataset", "method", "scale", "metric"),
        (f"{GRID}.csv", f"{BICUBIC_GRID}.csv"),
        "asr",
        first="evaluate a method",
    ),
    "asr_latency": Kind(
        ("dataset", "method", "scale", "clock", "metric"),
        (f"{TIMES}.csv",),
        "asr",
        first="time a method",
    ),
    "asr_runs": Kind(columns=RUN_COLUMNS, inputs=(RUN, LOG), half="asr"),
    "provenance_asr": Kind(
        inputs=(RUN, f"{GRID}.json", f"{BICUBIC_GRID}.json"),
        half="asr",
        form="json",
    ),
    # Apart from the others: quality needs no timing, which takes hours, and timing no training.
    "provenance_asr_timing": Kind(inputs=(f"{TIMES}.json",), half="asr", form="json"),
}


def subjects(name: str, config: Config) -> list[str]:
    """Return the arms or methods that a kind is of, in the order of their table."""
    kind = KINDS[name]
    table: Mapping[str, Any] = (
        selected_arms(config) if kind.half == "native" else selected_methods(config)
    )
    return [subject for subject, row in table.items() if kind.of(row)]


def file_of(name: str) -> str:
    """Return the file of a kind, below the results folder."""
    return f"aggregates/{name}.{KINDS[name].form}"


def inputs(name: str, config: Config) -> list[str]:
    """Return the files that a kind is made from, below the results folder."""
    return [file for pattern in KINDS[name].inputs for _, file in files(name, config, pattern)]


def files(name: str, config: Config, pattern: str, **fixed: str) -> Iterator[tuple[Fields, str]]:
    """Return the fields and the path of every file by a pattern, for the runs of a kind.

    In super-resolution a column's files have the name of the data set that it shows.
    """
    kind = KINDS[name]
    native = kind.half == "native"
    section = config["native"]["data"] if native else config["asr"]
    values = {
        "half": [kind.half],
        "subject": subjects(name, config),
        "seed": config["seeds"],
        "column": list(section["evaluate"]),
        "timed": list(section["evaluate"] if native else config["asr"]["timing"]["datasets"]),
        "scale": [scale_key(scale) for scale in config["asr"]["scales"]],
    } | {field: [value] for field, value in fixed.items()}
    names = [field for _, field, _, _ in string.Formatter().parse(pattern) if field]
    for chosen in itertools.product(*(values[field] for field in names)):
        fields = dict(zip(names, chosen, strict=True))
        sets = {} if native else {k: section["evaluate"].get(v, v) for k, v in fields.items()
                                  if k in ("column", "timed")}  # fmt: skip
        yield fields, pattern.format(**{**fields, **sets})


def found(
    name: str, results: Path, config: Config, pattern: str, **fixed: str
) -> Iterator[tuple[Fields, Path]]:
    """Return of `files` those that there are below `results`."""
    for fields, file in files(name, config, pattern, **fixed):
        if (results / file).is_file():
            yield fields, results / file


def scale_key(scale: float | str) -> str:
    """Return a scale factor as it stands in file names and tables: 2, 2.5."""
    try:
        return f"{float(scale):g}"
    except ValueError:
        return str(scale)
