"""The paper's criteria for the main arm (section 4, Table 5), decided from the native aggregate.

Quality: on enough data sets the main arm's PSNR is not far below the best baseline's, its LPIPS
not far above, and its PSNR well above the control's. Cost: its inference time is at most a
fraction of the slowest baseline's on every set. A criterion is exact: noise does not excuse it.
Budget: the trainable parameters of an arm lie within a band around the main arm's (F1, Table 8).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..config import Config
from ..evaluation.locality import are_all_met
from .derived import gap, gap_to_best, read_value, share_of_slowest
from .estimates import Estimate
from .measured import Measured, OneOrMore
from .metrics import LPIPS, PSNR
from .reader import Aggregates

QUALITY_PARTS = ("psnr_below_best_baseline", "lpips_above_best_baseline", "psnr_above_control")
COMPOSITE = "quality"
INFERENCE_COST = "latency_ratio"


@dataclass(frozen=True)
class Outcome:
    """Whether a criterion is met, as a whole and on every data set; None is not measured.

    `values` are the measured numbers by data set (NaN: absent), none for `COMPOSITE`, which holds
    where its parts do; `required` says on how many sets a criterion must hold.
    """

    met: bool | None
    required: int
    met_on: Mapping[str, bool | None]
    values: Mapping[str, float]


@dataclass(frozen=True)
class Bound:
    """A number that a criterion measures on data sets, and its limit: below it, or else above.

    The limit itself meets the criterion.
    """

    measure: Callable[[Measured, OneOrMore], Estimate]
    limit: float
    below: bool

    def is_met(self, value: float | np.ndarray) -> Any:
        """Return whether a number, or which of several, meet the criterion."""
        return value <= self.limit if self.below else value >= self.limit


def list_bounds(native: Config, baselines: Sequence[str]) -> dict[str, Bound]:
    """List the bounds of all criteria but `COMPOSITE`, by the arms and limits of some settings."""
    main, control, limits = native["main_arm"], native["control_arm"], native["criteria"]
    psnr, lpips, contrast = QUALITY_PARTS
    return {
        psnr: Bound(
            lambda run, sets: gap_to_best(run, main, baselines, PSNR, sets),
            limit=-limits[psnr],
            below=False,
        ),
        lpips: Bound(
            lambda run, sets: gap_to_best(run, main, baselines, LPIPS, sets),
            limit=limits[lpips],
            below=True,
        ),
        contrast: Bound(
            lambda run, sets: gap(run, main, control, PSNR.name, sets),
            limit=limits[contrast],
            below=False,
        ),
        INFERENCE_COST: Bound(
            lambda run, sets: share_of_slowest(run, main, baselines, sets),
            limit=limits[INFERENCE_COST],
            below=True,
        ),
    }


def judge_criteria(source: Aggregates, config: Config) -> dict[str, Outcome]:
    """Judge every criterion on the sets, and by the arms and limits, of a configuration.

    A baseline that was not measured makes the comparison with the best one unknown.
    """
    native, sets = config["native"], [*config["native"]["data"]["evaluate"]]
    enough = native["criteria"]["datasets_required"]
    outcomes = {}
    for name, bound in list_bounds(native, [*source.baselines]).items():
        values = {each: read_value(source, bound.measure, each) for each in sets}
        met_on = {
            each: None if math.isnan(value) else bound.is_met(value)
            for each, value in values.items()
        }
        required = len(sets) if name == INFERENCE_COST else enough
        outcomes[name] = Outcome(_decide(met_on, required), required, met_on, values)
    together = {
        each: are_all_met(outcomes[part].met_on[each] for part in QUALITY_PARTS) for each in sets
    }
    outcomes[COMPOSITE] = Outcome(_decide(together, enough), enough, together, {})
    return outcomes


def _decide(met_on: Mapping[str, bool | None], required: int) -> bool | None:
    """Say whether at least `required` sets meet a criterion; None when the unknown decide.

    Sets that the config drops are unknown.
    """
    if sum(met is True for met in met_on.values()) >= required:
        return True
    possible = sum(met is not False for met in met_on.values())
    return False if possible < required <= len(met_on) else None


# --- the budget -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Budget:
    """The trainable parameters of an arm, their ratio to the main arm's, and whether it is allowed.

    The ratio must lie between 1/band and band, where band is native.criteria.parameter_band. It is
    NaN, and `in_band` None, where the main arm's parameters are not known.
    """

    parameters: float
    ratio: float
    in_band: bool | None


def compare_with_anchor(counts: Mapping[str, float], config: Config) -> dict[str, Budget]:
    """Compare the parameters of every arm with those of the main arm."""
    anchor = counts.get(config["native"]["main_arm"], math.nan)
    band = config["native"]["criteria"]["parameter_band"]
    compared = {}
    for arm, count in counts.items():
        ratio = count / anchor
        in_band = None if math.isnan(ratio) else 1 / band <= ratio <= band
        compared[arm] = Budget(count, ratio, in_band)
    return compared
