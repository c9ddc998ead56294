"""The aggregates of a run, or of the paper: one class over their tables, and reading them checked.

A number over seeds is a row of a table: the columns that name it (see `kinds`), then mean, std (NaN
for one seed) and n (NaN where the source does not say). pandas is for those who ask for a frame.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..config import (
    Arm,
    Config,
    Method,
    arms,
    datasets,
    methods,
    repository_root,
    selected_arms,
    selected_methods,
)
from ..errors import UserError
from ..evaluation import OURS, PAPER
from ..files import verify
from .criteria import Outcome, measure_criteria, read_outcomes
from .kinds import KINDS, RUN_COLUMNS, VALUES, scale_key
from .provenance import Provenance
from .statistics import Summary

if TYPE_CHECKING:
    import pandas as pd

BICUBIC = "bicubic"
NATIVE_TIMES = {PAPER: "inference_ms", OURS: "ours_ms"}
"""The metric of the native aggregate that holds the times by a clock."""
TEXTS = ("name", "benchmark", "arm", "device", "finished", "criterion", "dataset")
"""Columns of aggregates without keys that hold no number."""

Key = tuple[str, ...]
Table = list[dict[str, Any]]  # rows by the name of their columns
Rows = TypeVar("Rows", bound=Sized)


# --- reading --------------------------------------------------------------------------------------


def read_rows(path: Path, columns: Sequence[str], keys: Sequence[str] = ()) -> Table:
    """Read a CSV file of texts that has at least `columns`, and no two rows of the same `keys`;
    `UserError` says what is wrong.
    """
    verify(path)
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.reader(stream)
            header = next(reader, [])
            rows = [(reader.line_num, row) for row in reader if row]
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; run the step that makes it first.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} is not a CSV text file; delete it and make it again.") from error
    for column in columns:
        if column not in header:
            raise UserError(f"{path} lacks the column {column!r}; make it again.")
    for line, row in rows:
        if len(row) != len(header):
            raise UserError(
                f"{path}, line {line}: the row does not have as many cells as the header; make the "
                "file again."
            )
    table = [dict(zip(header, row, strict=True)) for _, row in rows]
    names = Counter(tuple(row[key] for key in keys) for row in table if keys)
    if twice := next((name for name, count in names.items() if count > 1), None):
        raise UserError(f"{path} has two rows for {' '.join(twice)}; delete it and make it again.")
    return table


def numbers(table: Table, columns: Sequence[str], by: Sequence[str], path: Path) -> None:
    """Turn columns of texts into finite numbers, in place, NaN for an empty cell.

    Raises `UserError` naming the cell, with the columns `by` of its row.
    """
    for row in table:
        for column in columns:
            text = row[column]
            try:
                row[column] = float(text or math.nan)
            except ValueError:
                row[column] = math.inf
            if text and not math.isfinite(row[column]):
                what = " ".join(row[key] for key in by)
                raise UserError(
                    f"{path}: {column} of {what} is {text!r}, not a number; make the file again."
                )


def read(path: Path, kind: str) -> Table:
    """Read one aggregate; rows over seeds that have no mean are left out.

    Raises `UserError` on a missing column, a cell that is no number, or two rows of one name.
    """
    keys = KINDS[kind].keys
    table = read_rows(path, KINDS[kind].header, keys)
    if not keys:
        keyed = [c for c in ("arm", "name", "criterion") if c in KINDS[kind].header]
        numbers(table, [c for c in KINDS[kind].header if c not in TEXTS], keyed, path)
        return table
    for row in table:
        if "scale" in row:
            row["scale"] = scale_key(row["scale"])
    numbers(table, VALUES, keys, path)
    return [row for row in table if not math.isnan(row["mean"])]


def _framed(table: Table, kind: str) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(table, columns=None if table else [*KINDS[kind].header])


# --- the aggregates of one folder -----------------------------------------------------------------


@dataclass
class Aggregates:
    """The aggregates of one folder, each read once and only when it is needed.

    Asking for one raises `UserError` when its file is missing or unfit, or names arms or methods
    that their tables in config/ lack. `clock` names the times that tables show: the paper's, unless
    they are for rows beside it, where `bicubic` adds a row that the paper lacks. Figures of images
    and fields read `results`, the folder that holds the aggregates' folder.
    """

    folder: Path
    config: Config
    clock: str = PAPER
    bicubic: bool = False
    tables: dict[str, Table] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.results = self.folder.parent
        self.arms, self.methods, self.datasets = arms(), methods(), datasets()
        self.evaluate = list(self.config["native"]["data"]["evaluate"])  # native columns
        self._cells: dict[str, dict[Key, Summary]] = {}

    @classmethod
    def paper(cls, config: Config) -> Aggregates:
        """The paper's own numbers, in the rows and columns of `config`."""
        found = cls(repository_root() / "config" / "paper", config)
        found.provenance = Provenance.of_paper()
        found.tables["structure"] = [
            {"name": row["arm"], "value": row["parameters"]}
            for kind in ("budget", "asr_runs")
            for row in found.table(kind)
        ]
        found.tables["criteria"] = found.decide_criteria()
        return found

    # --- numbers ---

    def path(self, kind: str) -> Path:
        """Return the file of an aggregate."""
        return self.folder / f"{kind}.csv"

    def has(self, kind: str) -> bool:
        """Whether an aggregate was made, for what can do without."""
        return kind in self.tables or self.path(kind).is_file()

    def table(self, kind: str) -> Table:
        """Return an aggregate as it stands in its file."""
        if kind not in self.tables:
            table = read(self.path(kind), kind)
            self._check(kind, table)
            self.tables[kind] = table
        return self.tables[kind]

    def frame(self, kind: str) -> pd.DataFrame:
        """Return an aggregate as a data frame."""
        return _framed(self.table(kind), kind)

    def _check(self, kind: str, table: Table) -> None:
        if KINDS[kind].columns == RUN_COLUMNS and not table:
            raise UserError(f"{self.path(kind)} has no rows; train first.")
        if kind in ("structure", "criteria"):
            return
        native = KINDS[kind].half == "native"
        file, known = ("arms", {*self.arms}) if native else ("methods", {*self.methods, BICUBIC})
        names = (row["method" if "method" in row else "arm"] for row in table)
        stranger = next((name for name in names if name not in known), None)
        if stranger is not None:
            raise UserError(
                f"{self.path(kind)} has rows for {stranger!r}, which config/{file}.tsv does not "
                "have; add its row there or delete the file."
            )

    def cells(self, kind: str) -> Mapping[Key, Summary]:
        """Return an aggregate's numbers by the values of its key columns."""
        if kind not in self._cells:
            self._cells[kind] = {
                tuple(row[key] for key in KINDS[kind].keys): Summary(*(row[v] for v in VALUES))
                for row in self.table(kind)
            }
        return self._cells[kind]

    def cell(self, kind: str, *key: str) -> Summary:
        """Return one number, of NaN where it was not measured."""
        return self.cells(kind).get(key, Summary())

    def mean(self, kind: str, *key: str) -> float:
        """Return the mean of one number, NaN where it was not measured."""
        return self.cell(kind, *key).mean

    def wide(self, kind: str, rows: Sequence[str], columns: str, **where: str) -> pd.DataFrame:
        """Return means by the key columns `rows` and `columns`, NaN where one was not measured.

        `where` gives the values of the other key columns.
        """
        frame = self.frame(kind)
        for key, wanted in where.items():
            frame = frame[frame[key] == wanted]
        return frame.pivot(index=[*rows], columns=columns, values="mean")

    def require(self, found: Rows, kind: str, what: str) -> Rows:
        """Return what was found; `UserError` says that the aggregate's file has none."""
        if not len(found):
            raise UserError(f"{self.path(kind)} has no {what}; run the jobs that measure it.")
        return found

    def rows(self, half: str) -> Mapping[str, Arm | Method]:
        """Return the table of arms or of methods."""
        return self.arms if half == "native" else self.methods

    def runs(self, half: str) -> pd.DataFrame:
        """Return the training runs of a half; none where its aggregate was not made."""
        kind = "runs" if half == "native" else "asr_runs"
        return _framed(self.table(kind) if self.has(kind) else [], kind)

    def parameters(self, method: str) -> float:
        """Return a super-resolution method's trainable parameters, NaN where no run tells."""
        return self.runs("asr").groupby("arm")["parameters"].first().get(method, math.nan)

    def decide_criteria(self) -> Table:
        """Decide the paper's criteria for the main arm: the rows of the aggregate `criteria`."""
        rows = measure_criteria(partial(self.mean, "native"), self.baselines, self.config)
        return [dict(zip(KINDS["criteria"].columns, row, strict=True)) for row in rows]

    @property
    def criteria(self) -> dict[str, Outcome]:
        """The outcomes of the paper's criteria for the main arm, by criterion."""
        return read_outcomes(self.table("criteria"))

    @cached_property
    def provenance(self) -> Provenance:
        """What was run, and how it differs from the paper's; empty where no file tells."""
        return Provenance.read(self.folder)

    # --- names ---

    @cached_property
    def benchmark(self) -> dict[str, Arm]:
        """Arms with a row in the main tables: those that the config runs or that were measured."""
        shown = {*selected_arms(self.config), *(row["arm"] for row in self.table("native"))}
        return {n: arm for n, arm in self.arms.items() if arm.in_benchmark and n in shown}

    @property
    def main_arm(self) -> Arm:
        """The arm that the paper's criteria judge."""
        return self.arms[self.config["native"]["main_arm"]]

    @cached_property
    def baselines(self) -> dict[str, Arm]:
        """The baselines among them."""
        return {name: arm for name, arm in self.benchmark.items() if arm.group == "baseline"}

    def methods_where(self, *groups: str) -> dict[str, Method]:
        """Return the methods the config runs whose group is one of `groups`."""
        run = selected_methods(self.config)
        return {name: method for name, method in run.items() if method.group in groups}

    @property
    def rivals(self) -> dict[str, Method]:
        """The methods whose quality is compared; variants where the config runs no other."""
        return self.methods_where("baseline", "base") or selected_methods(self.config)

    def title(self, half: str, column: str) -> str:
        """Return the heading of an evaluation column of "native" or "asr"."""
        section = self.config["native"]["data"] if half == "native" else self.config["asr"]
        row = self.datasets.get(section["evaluate"].get(column, column))
        return row.title if row else column

    def label(self, key: str) -> str:
        """Return the name of an arm or method that a figure shows.

        The family goes by its full names; the native baselines by their short ones, because how
        they were rebuilt is for the caption to tell.
        """
        if key in self.methods:
            return self.methods[key].name
        if key in self.arms:
            arm = self.arms[key]
            return arm.name if arm.group in ("family", "ablation") else arm.short
        return key.capitalize()

    def unmeasured(self, metric: str) -> str:
        """Return why the aggregates hold no value of a native metric."""
        reason = self.provenance.benchmark("native").without_lpips if "lpips" in metric else ""
        return f"not measured: {reason or 'no value in the aggregates'}"

    def on_device(self, half: str) -> str:
        """Return " on <device>" for the axis of a timing, nothing where none is recorded."""
        devices = self.provenance.benchmark(half).timed_on
        return f" on {' and '.join(devices)}" if devices else ""


def ordered(found: Iterable[str], order: Iterable[str]) -> list[str]:
    """Return what was found in the order of `order`, then the rest as it came."""
    unique = list(dict.fromkeys(found))
    known = [key for key in order if key in unique]
    return known + [key for key in unique if key not in known]
