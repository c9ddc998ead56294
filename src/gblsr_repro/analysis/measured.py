"""Read the numbers of a run from its aggregates, as estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from ..evaluation import PAPER
from .estimates import Estimate, NotMeasuredError, Source
from .reader import Aggregates
from .schemas import KEYS, RUN_AGGREGATES
from .statistics import Summary, pool_spreads
from .subjects import TIMED_SCALE

VALIDATION = "validation"  # the images of locality diagnostic and ablation

OneOrMore = str | Sequence[str]


class Measured:
    """Reader of the numbers in one folder of aggregates; every method returns an `Estimate`.

    `beside` are the aggregates that the numbers are compared with, a run's or the paper's: a number
    spreads over seeds in both alike, and its deviation is pooled over the two. Each argument is one
    name or several. Elements follow the names in order, the last argument fastest. Raises
    `NotMeasuredError` naming the first number that is absent.
    """

    def __init__(self, aggregates: Aggregates, beside: Aggregates | None = None) -> None:
        self.aggregates = aggregates
        self.beside = beside

    def native(self, datasets: OneOrMore, arms: OneOrMore, metric: str) -> Estimate:
        """Read a metric of the native benchmark."""
        return self.read_cells("native", dataset=datasets, arm=arms, metric=metric)

    def ablation(self, arms: OneOrMore, metric: str) -> Estimate:
        """Read a metric on the validation images.

        What compares with the control arm (delta_<metric> over the seeds that both have, and
        criterion_b) has that arm among its sources: its conditions count, too.
        """
        read = self.read_cells("ablation", arm=arms, metric=metric)
        if not metric.startswith("delta_") and metric != "criterion_b":
            return read
        (control,) = (n for n, arm in self.aggregates.arms.items() if arm.diagnostic == "control")
        key = control, metric.removeprefix("delta_")
        compared = Source("ablation", key, VALIDATION, control)
        return replace(read, sources=[*read.sources, compared])

    def locality(self, arms: OneOrMore, statistic: str) -> Estimate:
        """Read a statistic of the bandwidth fields on the validation images."""
        return self.read_cells("locality", arm=arms, statistic=statistic)

    def asr(
        self, datasets: OneOrMore, method: OneOrMore, scales: OneOrMore, metric: str
    ) -> Estimate:
        """Read a metric of super-resolution."""
        return self.read_cells(
            "asr_quality", dataset=datasets, method=method, scale=scales, metric=metric
        )

    def asr_time(
        self,
        datasets: OneOrMore,
        method: OneOrMore,
        metric: str = "mean_ms",
        clock: str = PAPER,
        scale: str = TIMED_SCALE,
    ) -> Estimate:
        """Read time or memory of super-resolution, by default at the scale that the paper times."""
        keys = {"dataset": datasets, "method": method, "scale": scale, "clock": clock}
        return self.read_cells("asr_latency", **keys, metric=metric)

    def seconds(self, subjects: OneOrMore) -> Estimate:
        """Read the training time of every run of arms or methods, in seconds."""
        return self._read_runs(subjects, "wall_seconds")

    def bandwidth(self, subjects: OneOrMore) -> Estimate:
        """Read the trained bandwidth of every run of arms or methods."""
        return self._read_runs(subjects, "bandwidth")

    def structure(self, names: OneOrMore) -> Estimate:
        """Read numbers that the code alone gives, such as parameters by the name of an arm."""
        return self._read_column("structure", "statistic", names, "mean")

    # --- reading cells and columns ----------------------------------------------------------------

    def read_cells(self, aggregate: str, **names: OneOrMore) -> Estimate:
        """Read cells of an aggregate by the names of its key columns.

        They are means over seeds; their standard errors are the pooled deviation / sqrt(n). The
        paper's numbers without a deviation count as exact, since their noise is not known.
        """
        self.require(aggregate)
        columns, beside = [key for key in KEYS if key in names], self.beside
        others = beside.cells(aggregate) if beside and beside.has(aggregate) else {}
        sources, values, errors, freedom = [], [], [], []
        for key in product(*(_as_list(names[column]) for column in columns)):
            cell = self.aggregates.cell(aggregate, *key)
            if not cell.measured:
                raise NotMeasuredError(f"{aggregate}.csv has no {' '.join(key)}")
            named = dict(zip(columns, key, strict=True))
            subject = named.get("arm") or named["method"]
            sources.append(Source(aggregate, key, named.get("dataset", VALIDATION), subject, cell))
            std, degrees = pool_spreads(cell, others.get(key, Summary()))
            if math.isnan(cell.n):
                error, degrees = 0.0, math.inf
            else:
                error = std / math.sqrt(cell.n)
            values.append(cell.mean)
            errors.append(error)
            freedom.append(degrees)
        return Estimate(np.array(values), np.array(errors), np.array(freedom), sources)

    def _read_runs(self, subjects: OneOrMore, column: str) -> Estimate:
        is_method = _as_list(subjects)[0] in self.aggregates.methods
        return self._read_column(
            RUN_AGGREGATES["asr" if is_method else "native"], "arm", subjects, column
        )

    def _read_column(self, aggregate: str, key: str, names: OneOrMore, column: str) -> Estimate:
        """Read a column of a plain table, of all rows of some names, as numbers without error."""
        self.require(aggregate)
        values: list[float] = []
        sources = []
        for name in _as_list(names):
            rows = [row for row in self.aggregates.table(aggregate) if row[key] == name]
            read = [row.get(column, math.nan) for row in rows]  # a column may be absent
            known = [value for value in read if not math.isnan(value)]
            if not known:
                raise NotMeasuredError(f"{aggregate}.csv has no {column} of {name}")
            values += known
            sources.append(Source(aggregate, (name, column), "", name))
        return Estimate.exact(values, sources)

    def require(self, aggregate: str) -> None:
        """Raise `NotMeasuredError` where an aggregate was not made."""
        if not self.aggregates.has(aggregate):
            raise NotMeasuredError(f"{aggregate}.csv was not made")


def _as_list(names: OneOrMore) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


Measure = Callable[[Measured], Estimate]
"""What measures a claim."""
Measures = dict[str, Measure]
"""By the id of a claim: what measures it."""
MeasuresByRow = dict[str, Callable[[str, Measured], Estimate]]
"""By the id of a column: what measures the cell of a row."""
