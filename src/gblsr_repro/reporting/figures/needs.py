"""Which parts of a run each figure draws on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Need:
    """Halves of the paper, and whether trained weights, timings, LPIPS and the held-out
    (`validation`) or the evaluation images took part.
    """

    halves: tuple[str, ...]
    trained: bool = True
    timed: bool = False
    perceptual: bool = False
    validation: bool = False

    def recorded(self, conditions: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the halves that `conditions` tells of; the first one if it tells of none."""
        return tuple(half for half in self.halves if half in conditions) or self.halves[:1]


NEEDS = {
    "frontier": Need(("native",), perceptual=True),
    "per_dataset": Need(("native",), perceptual=True),
    "cov_hist": Need(("native",), validation=True),
    "variance_decomp": Need(("native",), validation=True),
    "logspace_metrics": Need(("native",), validation=True, perceptual=True),
    "logspace_loctests": Need(("native",), validation=True),
    "infcost": Need(("native",), timed=True),
    "qualitative": Need(("native",), perceptual=True),
    "asr_quality_latency_x4": Need(("asr",), timed=True),
    "asr_psnr_vs_scale": Need(("asr",)),
    "measured_vs_published": Need(("native", "asr"), timed=True, perceptual=True),
}
