"""The paper's criteria for the main arm (section 4, Table 5), decided from the native aggregate.

Quality: on enough data sets the main arm's PSNR is not far below the best baseline's, its LPIPS
not far above, and its PSNR well above the control's. Cost: its inference time is at most a
fraction of the slowest baseline's on every set. A criterion is exact: noise does not excuse it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..evaluation.locality import are_all_met
from .reader import Aggregates
from .schemas import EVERY

QUALITY_PARTS = ("psnr_below_best_baseline", "lpips_above_best_baseline", "psnr_above_control")
QUALITY = "quality"
COST = "latency_ratio"


@dataclass(frozen=True)
class Outcome:
    """Whether a criterion is met: on every data set, and as a whole; None is not measured.

    `values` are the measured numbers by data set, `required` on how many sets it must hold.
    """

    met: bool | None
    required: int
    by_dataset: Mapping[str, bool | None]
    values: Mapping[str, float]


def derive_criteria(run: Aggregates) -> Iterator[tuple[str, str, float, float, float]]:
    """Yield rows of the aggregate `criteria`: criterion, data set, value, bound, met (1, 0, NaN).

    The bounds are those of config native.criteria. The row of the data set `all` says on how many
    sets a criterion holds and on how many it must.
    """
    criteria, sets = run.config["native"]["criteria"], run.evaluate
    distances = {column: _measure_distances(run, column) for column in sets}
    bounds = {
        "psnr_below_best_baseline": -criteria["psnr_below_best_baseline"],
        "lpips_above_best_baseline": criteria["lpips_above_best_baseline"],
        "psnr_above_control": criteria["psnr_above_control"],
        COST: criteria["latency_ratio"],
    }
    met: dict[str, dict[str, bool | None]] = {name: {} for name in (*bounds, QUALITY)}
    for column, values in distances.items():
        for name, bound in bounds.items():
            below = name in ("lpips_above_best_baseline", COST)
            met[name][column] = _check_bound(values[name], bound, below)
            yield name, column, values[name], bound, _convert_to_number(met[name][column])
        together = are_all_met(met[part][column] for part in QUALITY_PARTS)
        met[QUALITY][column] = together
        yield QUALITY, column, math.nan, math.nan, _convert_to_number(together)
    for name, by_dataset in met.items():
        required = len(sets) if name == COST else criteria["datasets_required"]
        outcome = _decide_at_least(by_dataset.values(), required)
        count = sum(map(bool, by_dataset.values()))
        yield name, EVERY, count, required, _convert_to_number(outcome)


def read_outcomes(rows: Iterable[Mapping[str, Any]]) -> dict[str, Outcome]:
    """Return the outcome of every criterion from the rows of the aggregate `criteria`."""
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_name.setdefault(row["criterion"], []).append(row)
    outcomes = {}
    for name, own in by_name.items():
        met = {row["dataset"]: None if math.isnan(row["met"]) else bool(row["met"]) for row in own}
        values = {row["dataset"]: row["value"] for row in own if not math.isnan(row["value"])}
        required = next(int(row["bound"]) for row in own if row["dataset"] == EVERY)
        whole = met.pop(EVERY)
        values.pop(EVERY, None)
        outcomes[name] = Outcome(whole, required, met, values)
    return outcomes


def _measure_distances(run: Aggregates, column: str) -> dict[str, float]:
    """Measure what the criteria ask of the main arm on one set, NaN where a number is missing.

    A baseline that was not measured makes the comparison with the best one unknown.
    """

    def read(metric: str, *arms: str) -> np.ndarray:
        means = [run.mean("native", column, arm, metric) for arm in arms]
        return np.array(means or [math.nan])  # without baselines nothing is known of the best

    main, control = run.main_arm.arm, run.config["native"]["control_arm"]
    baselines = [*run.baselines]
    psnr, lpips, time = read("psnr", main), read("lpips", main), read("inference_ms", main)
    distances = {
        "psnr_below_best_baseline": psnr - read("psnr", *baselines).max(),
        "lpips_above_best_baseline": lpips - read("lpips", *baselines).min(),
        "psnr_above_control": psnr - read("psnr", control),
        COST: time / read("inference_ms", *baselines).max(),
    }
    return {name: distance.item() for name, distance in distances.items()}


def _check_bound(value: float, bound: float, below: bool) -> bool | None:
    if math.isnan(value):
        return None
    return value <= bound if below else value >= bound


def _decide_at_least(outcomes: Iterable[bool | None], required: int) -> bool | None:
    """Say whether at least `required` outcomes hold; None when the unknown ones decide."""
    known = list(outcomes)
    if sum(met is True for met in known) >= required:
        return True
    return False if sum(met is not False for met in known) < required else None


def _convert_to_number(met: bool | None) -> float:
    return math.nan if met is None else int(met)
