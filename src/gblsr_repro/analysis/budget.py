"""Compare the trainable parameters of arms with the main arm's (F1, Table 8)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..config import Config


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
