"""Read the numbers that claims use from the aggregates, as estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ...config import load_protocol, read_methods
from ...evaluation import PAPER
from ..criteria import COST, QUALITY, QUALITY_PARTS
from ..reader import Aggregates
from ..schemas import SCHEMAS, format_scale
from ..statistics import Summary
from .estimates import Estimate, NotMeasuredError, Source

PSNR_PART, LPIPS_PART, CONTROL_PART = QUALITY_PARTS
VALIDATION = "validation"  # the images of locality diagnostic and ablation

SETS = tuple(load_protocol()["native"]["data"]["evaluate"])
CONTROL = "global_fourier_mlp"
FIXED, SCALAR, FULL = FAMILY = ("gblsr_fixed", "gblsr_scalar", "gblsr_full")
LIIF, LTE, WIRE = BASELINES = ("liif", "lte", "wire")
ARMS = (CONTROL, *FAMILY, *BASELINES)

ASR_SETS = tuple(load_protocol()["asr"]["evaluate"])
TIMED = tuple(load_protocol()["asr"]["timing"]["datasets"])
SCALES = tuple(map(format_scale, load_protocol()["asr"]["scales"]))
TRAINED_SCALES = tuple(map(format_scale, load_protocol()["asr"]["trained_scales"]))
LIIF_RDN, LTE_RDN, LTE_SWINIR = RIVALS = ("liif_rdn", "lte_rdn", "lte_swinir")
BASE = "gblsr_asr"
NOLE, NF96_NOLE, NF48_NOLE = ("gblsr_asr_nole", "gblsr_asr_nf96_nole", "gblsr_asr_nf48_nole")
METHODS = (*RIVALS, BASE)

Names = str | Sequence[str]

DECIDED_BY = {  # the arms and metrics that each criterion compares
    PSNR_PART: [(arm, "psnr") for arm in (SCALAR, *BASELINES)],
    LPIPS_PART: [(arm, "lpips") for arm in (SCALAR, *BASELINES)],
    CONTROL_PART: [(arm, "psnr") for arm in (SCALAR, CONTROL)],
    COST: [(arm, "inference_ms") for arm in (SCALAR, *BASELINES)],
}


class Measured:
    """Reader of the numbers in one folder of aggregates; every method returns an `Estimate`.

    Each argument is one name or several. Elements follow the names in order, the last argument
    fastest. Raises `NotMeasuredError` naming the first number that is absent.
    """

    def __init__(self, aggregates: Aggregates) -> None:
        self.aggregates = aggregates

    def native(self, datasets: Names, arms: Names, metric: str) -> Estimate:
        """Read a metric of the native benchmark."""
        return self._read_cells("native", dataset=datasets, arm=arms, metric=metric)

    def criterion(self, name: str, column: str = "met") -> Estimate:
        """Read a column of a criterion on every data set (default: whether it is met).

        Raises `NotMeasuredError` where the run compares other arms or applies another bound than
        the paper.
        """
        parts = QUALITY_PARTS if name == QUALITY else (name,)
        sources = [
            self._read_source("native", dataset=dataset, arm=arm, metric=metric)
            for dataset in SETS
            for part in parts
            for arm, metric in DECIDED_BY[part]
        ]
        self._require("criteria")
        if {self.aggregates.main_arm.arm, *self.aggregates.baselines} != {SCALAR, *BASELINES}:
            raise NotMeasuredError("criteria.csv is about other arms than the paper's")
        rows = {
            (row["criterion"], row["dataset"]): row for row in self.aggregates.table("criteria")
        }
        own = [rows.get((part, dataset)) for part in parts for dataset in SETS]
        if any(map(_has_other_bound, own)):
            raise NotMeasuredError(f"criteria.csv applies another bound to {name}")
        values = [rows.get((name, dataset), {}).get(column, math.nan) for dataset in SETS]
        return Estimate.exact(values, sources)

    def ablation(self, arms: Names, metric: str) -> Estimate:
        """Read a metric on the validation images."""
        return self._read_cells("ablation", arm=arms, metric=metric)

    def locality(self, arms: Names, statistic: str) -> Estimate:
        """Read a statistic of the bandwidth fields on the validation images."""
        return self._read_cells("locality", arm=arms, statistic=statistic)

    def asr(self, datasets: Names, method: Names, scales: Names, metric: str) -> Estimate:
        """Read a metric of super-resolution."""
        return self._read_cells(
            "asr_quality", dataset=datasets, method=method, scale=scales, metric=metric
        )

    def asr_time(
        self, datasets: Names, method: Names, metric: str = "mean_ms", clock: str = PAPER
    ) -> Estimate:
        """Read time or memory of super-resolution at the timed scale, by the paper's clock."""
        scale = format_scale(load_protocol()["asr"]["timing"]["scale"])
        return self._read_cells(
            "asr_latency", dataset=datasets, method=method, scale=scale, clock=clock, metric=metric
        )

    def seconds(self, subjects: Names) -> Estimate:
        """Read the training time of every run of arms or methods, in seconds."""
        return self._read_runs(subjects, "wall_seconds")

    def bandwidth(self, subjects: Names) -> Estimate:
        """Read the trained bandwidth of every run of arms or methods."""
        return self._read_runs(subjects, "bandwidth")

    def structure(self, names: Names) -> Estimate:
        """Read numbers that the code alone gives, such as parameters by the name of an arm."""
        return self._read_column("structure", "name", names, "value")

    # --- reading cells and columns ----------------------------------------------------------------

    def _read_cells(self, aggregate: str, **names: Names) -> Estimate:
        """Read means over seeds with their standard errors, std / sqrt(n)."""
        columns = SCHEMAS[aggregate].keys
        keys = product(*(_as_list(names[column]) for column in columns))
        sources = [
            self._read_source(aggregate, **dict(zip(columns, key, strict=True))) for key in keys
        ]
        cells = [source.cell for source in sources]
        errors = [c.std / math.sqrt(c.n) if c.spread else math.nan for c in cells]
        return Estimate(np.array([c.mean for c in cells]), np.array(errors), sources)

    def _read_source(self, aggregate: str, **named: str) -> Source:
        """Read one number."""
        self._require(aggregate)
        key = tuple(named.values())
        cell = self.aggregates.cell(aggregate, *key)
        if not cell.measured:
            raise NotMeasuredError(self._explain_absence(aggregate, named))
        subject = named.get("arm") or named["method"]
        return Source(aggregate, key, named.get("dataset", VALIDATION), subject, cell)

    def _explain_absence(self, aggregate: str, named: Mapping[str, str]) -> str:
        reason = self.aggregates.provenance.benchmark(SCHEMAS[aggregate].benchmark).without_lpips
        if reason and "lpips" in named.get("metric", ""):
            return f"LPIPS was not measured: {reason}"
        return f"{aggregate}.csv has no {' '.join(named.values())}"

    def _read_runs(self, subjects: Names, column: str) -> Estimate:
        aggregates = {
            "asr_runs" if name in read_methods() else "runs" for name in _as_list(subjects)
        }
        return self._read_column(aggregates.pop(), "arm", subjects, column)

    def _read_column(self, aggregate: str, key: str, names: Names, column: str) -> Estimate:
        """Read a column of all rows of some names, exactly."""
        self._require(aggregate)
        values: list[float] = []
        sources = []
        for name in _as_list(names):
            rows = [row for row in self.aggregates.table(aggregate) if row[key] == name]
            read = [row.get(column, math.nan) for row in rows]  # a column may be absent
            known = [value for value in read if not math.isnan(value)]
            if not known:
                raise NotMeasuredError(f"{aggregate}.csv has no {column} of {name}")
            values += known
            sources.append(Source(aggregate, (name, column), "", name, Summary()))
        return Estimate.exact(values, sources)

    def _require(self, aggregate: str) -> None:
        if not self.aggregates.has(aggregate):
            raise NotMeasuredError(f"{aggregate}.csv was not made")


def _has_other_bound(row: Mapping[str, Any] | None) -> bool:
    """Return whether a row of the criteria was decided by another bound than the paper's."""
    if row is None:
        return False
    return bool(abs(row["bound"]) != load_protocol()["native"]["criteria"][row["criterion"]])


def _as_list(names: Names) -> Sequence[str]:
    return [names] if isinstance(names, str) else names
