"""What the numbers of each figure depend on."""

from __future__ import annotations

from dataclasses import dataclass

from ..compare import Scope


@dataclass(frozen=True)
class Need:
    """The scopes of a figure's numbers, and whether LPIPS is among them."""

    scopes: tuple[Scope, ...]
    perceptual: bool = False


NEEDS = {
    "frontier": Need((Scope.QUALITY,), perceptual=True),
    "per_dataset": Need((Scope.QUALITY,), perceptual=True),
    "cov_hist": Need((Scope.LOCALITY,)),
    "variance_decomp": Need((Scope.LOCALITY,)),
    "logspace_metrics": Need((Scope.ABLATION,), perceptual=True),
    "logspace_loctests": Need((Scope.LOCALITY,)),
    "infcost": Need((Scope.QUALITY, Scope.LATENCY)),
    "qualitative": Need((Scope.QUALITY,), perceptual=True),
    "asr_quality_latency_x4": Need((Scope.ASR_QUALITY, Scope.ASR_LATENCY)),
    "asr_psnr_vs_scale": Need((Scope.ASR_QUALITY,)),
    "measured_vs_published": Need(
        (Scope.QUALITY, Scope.LATENCY, Scope.ABLATION, Scope.ASR_QUALITY, Scope.ASR_LATENCY),
        perceptual=True,
    ),
}
