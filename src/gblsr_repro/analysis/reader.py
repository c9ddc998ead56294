"""Read the aggregates of a run, or the paper's own, and check them.

A number over seeds is a row: its keys (see `schemas`), then mean, std (NaN for one seed) and n (NaN
where the source does not say). The paper's files leave out the keys that none of their numbers has.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ..config import (
    BASELINE,
    OWN,
    Arm,
    Config,
    Method,
    find_repository_root,
    list_arms,
    read_arms,
    read_datasets,
    read_methods,
)
from ..errors import UserError
from ..evaluation import BICUBIC, FAST, PAPER
from ..files import read_csv
from .provenance.differences import Provenance
from .schemas import (
    JOBS,
    KEYS,
    RUN_AGGREGATES,
    RUN_COLUMNS,
    SCHEMAS,
    SUMMARY,
    aggregate_path,
    list_columns,
    list_made,
)
from .statistics import Summary

NATIVE_TIMES = {PAPER: "inference_ms", FAST: "fast_ms"}
"""The metric of the native aggregate that holds the times by a clock."""
TEXTS = [
    *KEYS, "image", "benchmark", "device", "finished", "released_by",
    "setup", "aggregate", "commit",
]  # fmt: skip
"""The columns of text; the others are numbers."""

CellKey = tuple[str, ...]
Rows = list[dict[str, Any]]  # rows by the name of their columns
Selection = TypeVar("Selection", bound=Sized)


# --- reading --------------------------------------------------------------------------------------


def read_rows(path: Path, columns: Iterable[str], keys: Sequence[str] = ()) -> Rows:
    """Read a CSV file as texts, one mapping a row.

    Raises `UserError` where the file is missing or damaged, one of `columns` is missing, or two
    rows have the same `keys`.
    """
    if not path.is_file():
        raise UserError(f"{path} does not exist; run the step that makes it first.")
    table: Rows = read_csv(path)
    for column in columns:
        if table and column not in table[0]:
            raise UserError(f"{path} lacks the column {column!r}; make it again.")
    if any(None in row or None in row.values() for row in table):
        raise UserError(f"{path} has a row of more or fewer cells than its header; make it again.")
    names = Counter(" ".join(filter(None, map(row.get, keys))) for row in table if keys)
    if twice := next((name for name, count in names.items() if count > 1), None):
        raise UserError(f"{path} has two rows for {twice}; delete it and make it again.")
    return table


def read_numbers(path: Path, columns: Iterable[str], keys: Sequence[str] = ()) -> pd.DataFrame:
    """Read a CSV file as `read_rows` does, and its columns as numbers but for those of `TEXTS`.

    Raises `UserError` where there are no rows, too, and for a cell that is no number.
    """
    table = pd.DataFrame(read_rows(path, columns, keys))
    if table.empty:
        raise UserError(f"{path} has no rows; delete it and make it again.")
    return convert_to_numbers(table, path)


def convert_to_numbers(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Convert texts to finite numbers, empty cells to NaN; `UserError` naming the cell."""
    for column in table.columns.difference(TEXTS):
        texts = table[column]
        numbers = pd.to_numeric(texts, errors="coerce")
        for line in np.flatnonzero((texts != "") & ~np.isfinite(numbers))[:1]:
            raise UserError(
                f"{path}: {column} in line {line + 2} is {texts.iloc[line]!r}, not a number; make "
                "the file again."
            )
        table[column] = texts.replace("", "nan").astype(float)
    return table


def read(path: Path, name: str) -> Rows:
    """Read one aggregate.

    Raises `UserError` on a missing column, a cell that is no number, or two numbers of one name.
    """
    if name in RUN_AGGREGATES.values():
        return read_numbers(path, RUN_COLUMNS).to_dict("records")
    rows = read_numbers(path, SUMMARY, KEYS).to_dict("records")
    return [dict.fromkeys(KEYS, "") | row for row in rows]


# --- the aggregates of one folder -----------------------------------------------------------------


@dataclass
class Aggregates:
    """The aggregates of one folder; each file is read once, on first use.

    Reading one raises `UserError` where its file is missing or damaged, or `made` does not name it:
    by default what the config makes, so that what an earlier one left there is not read. Rows about
    arms or methods that the tables in config/ no longer have are left out. `results` is the folder
    above, from which figures read images and bandwidth fields.
    """

    folder: Path
    config: Config
    tables: dict[str, Rows] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.results, self.clock = self.folder.parent, PAPER
        self.arms, self.methods, self.datasets = read_arms(), read_methods(), read_datasets()
        self.made = {name for job in JOBS for name in list_made(job, self.config)}
        self.evaluate = list(self.config["native"]["data"]["evaluate"])  # native columns
        self._cells: dict[str, dict[CellKey, Summary]] = {}

    def choose_clock(self, clock: str) -> Aggregates:
        """Return the same aggregates, of which tables show the times by another clock."""
        other = copy.copy(self)
        other.clock = clock
        return other

    # --- numbers ---

    def path(self, aggregate: str) -> Path:
        """Return the path of an aggregate."""
        return self.folder / Path(aggregate_path(aggregate)).name

    def has(self, aggregate: str) -> bool:
        """Return whether an aggregate exists that may be read."""
        is_file = aggregate in self.made and self.path(aggregate).is_file()
        return is_file or aggregate in self.tables

    def table(self, aggregate: str) -> Rows:
        """Read an aggregate as rows."""
        if aggregate not in self.tables:
            if aggregate not in self.made:
                raise UserError(f"The config runs nothing that {aggregate}.csv is about.")
            known = {*self.arms, *self.methods, BICUBIC, ""}
            table = read(self.path(aggregate), aggregate)
            self.tables[aggregate] = [row for row in table if get_subject(row) in known]
        return self.tables[aggregate]

    def frame(self, aggregate: str) -> pd.DataFrame:
        """Read an aggregate as a data frame."""
        return pd.DataFrame(self.table(aggregate), columns=list_columns(aggregate))

    def cells(self, aggregate: str) -> Mapping[CellKey, Summary]:
        """Read the numbers of an aggregate by their keys, without the empty ones."""
        if aggregate not in self._cells:
            self._cells[aggregate] = {
                get_key(row): Summary(*(row[part] for part in SUMMARY))
                for row in self.table(aggregate)
            }
        return self._cells[aggregate]

    def cell(self, aggregate: str, *key: str) -> Summary:
        """Read one number over seeds; all its fields are NaN where it was not measured."""
        return self.cells(aggregate).get(key, Summary())

    def mean(self, aggregate: str, *key: str) -> float:
        """Read the mean of one number, NaN where it was not measured."""
        return self.cell(aggregate, *key).mean

    def require(self, rows: Selection, aggregate: str, what: str) -> Selection:
        """Return `rows`, or raise `UserError` where there are none in an aggregate."""
        if not len(rows):
            raise UserError(f"{self.path(aggregate)} has no {what}; run the jobs that measure it.")
        return rows

    def subjects(self, benchmark: str) -> Mapping[str, Arm | Method]:
        """Return the table of arms (native) or of methods (asr)."""
        return self.arms if benchmark == "native" else self.methods

    def runs(self, benchmark: str) -> pd.DataFrame:
        """Read the training runs of a benchmark; an empty frame where they were not aggregated."""
        aggregate = RUN_AGGREGATES[benchmark]
        if self.has(aggregate):
            return self.frame(aggregate)
        return pd.DataFrame(columns=[*RUN_COLUMNS])

    def trained_runs(self, benchmark: str) -> pd.DataFrame:
        """Return the runs of a benchmark that were trained here, without those imported."""
        runs = self.runs(benchmark)
        return runs[runs["released_by"] == ""]

    def parameters(self, method: str) -> float:
        """Read a super-resolution method's trainable parameters, NaN where it was not trained."""
        return self.runs("asr").groupby("arm")["parameters"].first().get(method, math.nan)

    @cached_property
    def provenance(self) -> Provenance:
        """What was run and how it differs from the paper; empty where no file records it."""
        return Provenance.read(path for path in map(self.path, self.made) if path.suffix == ".json")

    # --- arms of the main tables ---

    @cached_property
    def benchmark_arms(self) -> dict[str, Arm]:
        """The arms of the main tables: those that the config runs or that were measured."""
        shown = {*list_arms(self.config), *(arm for _, arm, _ in self.cells("native"))}
        return {n: arm for n, arm in self.arms.items() if arm.in_benchmark and n in shown}

    @cached_property
    def compared(self) -> dict[str, Arm]:
        """The paper's arms among those of the main tables: the best and bold is one of them."""
        return {name: arm for name, arm in self.benchmark_arms.items() if arm.group != OWN}

    @property
    def main_arm(self) -> Arm:
        """The arm that the paper's criteria judge."""
        return self.arms[self.config["native"]["main_arm"]]

    @cached_property
    def baselines(self) -> dict[str, Arm]:
        """The baselines of the main tables."""
        return {name: arm for name, arm in self.benchmark_arms.items() if arm.group == BASELINE}


def get_key(row: Mapping[str, Any]) -> CellKey:
    """Get the keys of a number, without the empty ones."""
    return tuple(row[key] for key in KEYS if row.get(key))


def get_subject(row: Mapping[str, Any]) -> str:
    """Get the arm or method that a row is about; empty where it is about neither."""
    return row.get("arm") or row.get("method") or ""


def read_paper_aggregates(config: Config) -> Aggregates:
    """Read the paper's numbers (config/paper), for the rows and columns of `config`."""
    paper = Aggregates(find_repository_root() / "config" / "paper", config)
    paper.provenance, paper.made = Provenance.paper(), {*SCHEMAS}
    counts = {arm: cell.mean for (arm, _), cell in paper.cells("budget").items()}
    counts |= {row["arm"]: row["parameters"] for row in paper.table("asr_runs")}
    paper.tables["structure"] = [
        {"statistic": name, "mean": count} for name, count in counts.items()
    ]
    return paper


@cache
def read_printed() -> dict[tuple[str, str, str], str]:
    """Read the cells that the paper's other numbers do not determine, by table, row and column."""
    rows = read_rows(find_repository_root() / "config" / "paper" / "printed.csv", ("table", "row"))
    return {(row["table"], row["row"], row["column"]): row["value"] for row in rows}
