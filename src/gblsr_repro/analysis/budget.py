"""Compare the trainable parameters of arms with the main arm's (F1, Table 8)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from ..config import Config


def compare_with_anchor(
    counts: Mapping[str, float], config: Config
) -> Iterator[tuple[str, float, float, float]]:
    """Yield rows of the aggregate `budget`: arm, parameters, ratio, and whether it is in the band.

    The ratio to the main arm's parameters must lie between 1/band and band, where band is
    native.criteria.parameter_band. It is NaN, as is the answer (1 or 0), where `counts` lacks the
    main arm.
    """
    anchor = counts.get(config["native"]["main_arm"], math.nan)
    band = config["native"]["criteria"]["parameter_band"]
    for arm, count in counts.items():
        ratio = count / anchor
        within = math.nan if math.isnan(ratio) else int(1 / band <= ratio <= band)
        yield arm, count, ratio, within
