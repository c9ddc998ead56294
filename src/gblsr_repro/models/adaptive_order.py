"""Decoders of GB-LSR with one bandwidth and a cutoff order per patch.

The paper has no such arm. The authors' package builds them where its configuration leaves
`adapt_order` at True, its default, and sets `bandwidth_mode` to fixed_midpoint or global_scalar.
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from .gblsr import FixedDecoder, ScalarDecoder


class FixedOrderDecoder(FixedDecoder):
    """GB-LSR-Fixed with a cutoff order per patch."""

    SETTINGS: ClassVar[tuple[str, ...]] = (
        "features",
        "patch",
        "modes",
        "cutoff_sharpness",
        "order_range",
        "coefficient_std",
        "fixed_bandwidth",
    )

    def predict_spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the constant bandwidth and predict the cutoff order per patch."""
        return self.fixed_bandwidth, self.map_to_order(self.predict_raw(features)[1])


class ScalarOrderDecoder(ScalarDecoder):
    """GB-LSR-Scalar with a cutoff order per patch."""

    SETTINGS: ClassVar[tuple[str, ...]] = (
        "features",
        "patch",
        "modes",
        "cutoff_sharpness",
        "order_range",
        "coefficient_std",
        "bandwidth_range",
    )

    def predict_spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the trained bandwidth and predict the cutoff order per patch."""
        return self.compute_bandwidth(), self.map_to_order(self.predict_raw(features)[1])
