"""What tables are made from: one folder of aggregates, the config, the tables of rows."""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import cached_property
from pathlib import Path

from ..config import (
    Arm,
    Config,
    Dataset,
    Method,
    arms,
    datasets,
    methods,
    repository_root,
    selected_arms,
    selected_methods,
)
from ..errors import UserError
from ..evaluation import PAPER
from .conditions import Conditions, of_paper
from .tidy import (
    BUDGET_COLUMNS,
    KEYS,
    RUN_COLUMNS,
    Row,
    Summaries,
    number,
    read_rows,
    read_summaries,
)

BICUBIC = "bicubic"


class Source:
    """Reads the aggregates of one folder, each once and only when a table needs it.

    Every property that names an aggregate raises `UserError` when its file is missing or unfit.
    `clock` names the times that tables show: the paper's, unless they are for rows beside it.
    """

    def __init__(self, folder: Path | str, config: Config, clock: str = PAPER) -> None:
        self.folder = Path(folder)
        self.config = config
        self.clock = clock

    @classmethod
    def published(cls, config: Config) -> Source:
        """The paper's own numbers, config/paper of the checkout."""
        source = cls(repository_root() / "config" / "paper", config)
        source.conditions = of_paper()
        return source

    def path(self, aggregate: str) -> Path:
        """Return the file of an aggregate."""
        return self.folder / f"{aggregate}.csv"

    def has(self, aggregate: str) -> bool:
        """Whether the file of an aggregate is there, for tables that can do without."""
        return self.path(aggregate).is_file()

    def _summaries(self, aggregate: str) -> Summaries:
        return read_summaries(self.path(aggregate), KEYS[aggregate])

    @cached_property
    def native(self) -> Summaries:
        """By (dataset, arm, metric); the arms are all in the arms table."""
        found = self._summaries("native")
        self._known((arm for _, arm, _ in found), self.arms, "native", "arms")
        return found

    @cached_property
    def budget(self) -> dict[str, float | None]:
        """Trainable parameters by arm; the arms are all in the arms table."""
        path = self.path("budget")
        rows = read_rows(path, BUDGET_COLUMNS)
        self._known((row["arm"] for row in rows), self.arms, "budget", "arms")
        return {r["arm"]: number(r["parameters"], path, f"parameters of {r['arm']}") for r in rows}

    @cached_property
    def locality(self) -> Summaries:
        """By (arm, statistic)."""
        return self._summaries("locality")

    @cached_property
    def ablation(self) -> Summaries:
        """By (arm, metric), on the validation images."""
        return self._summaries("ablation")

    @cached_property
    def asr_quality(self) -> Summaries:
        """By (dataset, method, scale, metric); the methods are all in their table, or bicubic."""
        found = self._summaries("asr_quality")
        known = {BICUBIC: None, **self.methods}
        self._known((method for _, method, _, _ in found), known, "asr_quality", "methods")
        return found

    @cached_property
    def asr_latency(self) -> Summaries:
        """By (dataset, method, scale, clock, metric)."""
        found = self._summaries("asr_latency")
        self._known((key[1] for key in found), self.methods, "asr_latency", "methods")
        return found

    @cached_property
    def runs(self) -> list[Row]:
        """Rows of runs.csv."""
        return self._runs("runs")

    @cached_property
    def asr_runs(self) -> list[Row]:
        """Rows of asr_runs.csv; `arm` holds the method."""
        return self._runs("asr_runs")

    def _runs(self, aggregate: str) -> list[Row]:
        rows = read_rows(self.path(aggregate), RUN_COLUMNS)
        if not rows:
            raise UserError(f"{self.path(aggregate)} has no rows; train first.")
        return rows

    def _known(
        self, names: Iterable[str], table: Container[str], aggregate: str, file: str
    ) -> None:
        stranger = next((name for name in names if name not in table), None)
        if stranger is not None:
            raise UserError(
                f"{self.path(aggregate)} has rows for {stranger!r}, which config/{file}.tsv does "
                "not have; add its row there or delete the file."
            )

    def parameters(self, method: str) -> float | None:
        """Return a super-resolution method's trainable parameters, None where no run tells."""
        if not self.path("asr_runs").is_file():
            return None
        counts = (r["parameters"] for r in self.asr_runs if r["arm"] == method)
        first = next(counts, "")
        return number(first, self.path("asr_runs"), f"parameters of {method}")

    # --- rows and columns ---------------------------------------------------------------------

    @cached_property
    def arms(self) -> dict[str, Arm]:
        """The table of arms."""
        return arms()

    @cached_property
    def methods(self) -> dict[str, Method]:
        """The table of super-resolution methods."""
        return methods()

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        """The table of data sets."""
        return datasets()

    @cached_property
    def benchmark(self) -> dict[str, Arm]:
        """The arms of the main tables: those the config runs, and others that have numbers."""
        run = selected_arms(self.config)
        measured = {arm for _, arm, _ in self.native}
        return {
            name: arm
            for name, arm in self.arms.items()
            if arm.in_benchmark and (name in run or name in measured)
        }

    def methods_where(self, *groups: str) -> dict[str, Method]:
        """Return the methods the config runs whose group is one of `groups`."""
        run = selected_methods(self.config)
        return {name: method for name, method in run.items() if method.group in groups}

    @cached_property
    def evaluate(self) -> list[str]:
        """Columns of the native tables, in order."""
        return list(self.config["native"]["data"]["evaluate"])

    def title(self, half: str, column: str) -> str:
        """Return the heading of an evaluation column of "native" or "asr"."""
        section = self.config["native"]["data"] if half == "native" else self.config["asr"]
        row = self.datasets.get(section["evaluate"].get(column, column))
        return row.title if row else column

    @cached_property
    def conditions(self) -> Conditions:
        """What was run; empty when the folder does not tell."""
        return Conditions.read(self.folder)
