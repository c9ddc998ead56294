"""Compare the trainable parameters of arms with the main arm's (F1, Table 8)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TypeVar

from ..config import Config
from .estimates import Estimate

Number = TypeVar("Number", float, Estimate)


def compute_ratio(parameters: Number, anchor: Number) -> Number:
    """Compute the ratio of parameters to the anchor's, those of the main arm."""
    return parameters / anchor


def compare_with_anchor(
    counts: Mapping[str, float], config: Config
) -> Iterator[tuple[str, float, float, float]]:
    """Yield rows of the aggregate `budget`: arm, parameters, ratio, and whether it is in the band.

    The ratio must lie between 1/band and band, where band is native.criteria.parameter_band. It is
    NaN, as is the answer (1 or 0), where `counts` lacks the main arm.
    """
    anchor, band = (
        counts.get(config["native"]["main_arm"], math.nan),
        config["native"]["criteria"]["parameter_band"],
    )
    for arm, count in counts.items():
        ratio = compute_ratio(float(count), float(anchor))
        within = math.nan if math.isnan(ratio) else int(1 / band <= ratio <= band)
        yield arm, count, ratio, within
