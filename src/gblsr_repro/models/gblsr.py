"""The decoders of the GB-LSR family (paper sections 3.1 and 3.2)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import spectral
from .base import COLORS
from .decoders import PatchDecoder


class SpectralDecoder(PatchDecoder):
    """Local spectral decoder: linear coefficients; subclasses set bandwidth and cutoff order.

    Every arm of the family has the adaptivity head, used or not, so that their parameter counts
    agree. `raw_bandwidth` and `raw_order` are its two zero-initialized outputs.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = (
        "features",
        "patch",
        "modes",
        "cutoff_sharpness",
        "order_range",
        "coefficient_std",
        "bandwidth_range",
    )
    full_order: Tensor

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        self.modes: int = section["modes"]
        self.sharpness: float = section["cutoff_sharpness"]
        self.lowest_order, self.highest_order = section["order_range"]
        # In the order of the authors' draws: both layers as torch initializes them, then ours.
        self.coefficients = nn.Linear(self.features, COLORS * self.modes**2)
        self.head = nn.Linear(self.features, 2)
        nn.init.normal_(self.coefficients.weight, std=section["coefficient_std"])
        for parameter in (self.coefficients.bias, self.head.weight, self.head.bias):
            nn.init.zeros_(parameter)
        self.register_buffer("full_order", torch.tensor(float(self.modes)), persistent=False)

    @abstractmethod
    def predict_spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Predict bandwidth and cutoff order: each a scalar tensor, or one per patch (B, h, w)."""

    def predict_raw(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Predict the head's raw bandwidth and raw order per patch, each (B, h, w)."""
        raw = F.conv2d(features, self.head.weight[:, :, None, None], self.head.bias)
        return raw[:, 0], raw[:, 1]

    def map_to_order(self, raw: Tensor) -> Tensor:
        """Map a raw order to a cutoff order in the allowed range."""
        return self.lowest_order + (self.highest_order - self.lowest_order) * torch.sigmoid(raw)

    def predict_fields(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Predict bandwidth and cutoff order of every patch, each (B, h, w)."""
        batch, _, h, w = features.shape
        bandwidth, order = self.predict_spectrum(features)
        return bandwidth.expand(batch, h, w), order.expand(batch, h, w)

    def compute_coefficients(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the coefficients, with the cutoff applied, and the bandwidth of every patch.

        Shapes (B, 3, p, p, h, w) and (B, h, w), as `spectral.evaluate_at_positions` takes them:
        together they determine the image.
        """
        bandwidth, order = self.predict_spectrum(features)
        batch, _, h, w = features.shape
        return self._project_with_cutoff(features, order), bandwidth.expand(batch, h, w)

    def _project_with_cutoff(self, features: Tensor, order: Tensor) -> Tensor:
        """Project features to coefficients (B, 3, p, p, h, w) with the cutoff applied.

        A cutoff that all patches share multiplies the projection's weights, not its many outputs.
        """
        weight, bias = self.coefficients.weight, self.coefficients.bias
        if order.ndim:
            return self._apply_cutoff(self._project(features, weight, bias), order)
        mask = spectral.compute_cutoff(order, self.modes, self.sharpness).flatten().repeat(COLORS)
        return self._project(features, weight * mask[:, None], bias * mask)

    def _project(self, features: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Project features to coefficients (B, 3, p, p, h, w) by these weights."""
        out = F.conv2d(features, weight[:, :, None, None], bias)
        return out.unflatten(1, (COLORS, self.modes, self.modes))

    def _apply_cutoff(self, coefficients: Tensor, order: Tensor) -> Tensor:
        """Apply the cutoff, of orders (B, h, w), patch by patch."""
        mask = spectral.compute_cutoff(order, self.modes, self.sharpness)
        return coefficients * mask.permute(0, 3, 4, 1, 2).unsqueeze(1)

    def render_fast(self, features: Tensor) -> Tensor:
        """Render by two batched matrix products over the 1D basis."""
        bandwidth, order = self.predict_spectrum(features)
        coefficients = self._project_with_cutoff(features, order)
        basis = spectral.build_pixel_basis(self.patch, self.modes, bandwidth)
        return spectral.render_grid(coefficients, basis)

    def render_plain(self, features: Tensor) -> Tensor:
        """Render by the three-operand sum of the definition, the cutoff applied per patch."""
        (bandwidth, order), layer = self.predict_fields(features), self.coefficients
        projected = self._project(features, layer.weight, layer.bias)
        coefficients = self._apply_cutoff(projected, order)
        basis = spectral.build_pixel_basis(self.patch, self.modes, bandwidth)
        return spectral.render_plain(coefficients, basis)

    def render_pixels(self, features: Tensor, pixels: Tensor) -> Tensor:
        """Render the whole grid, which costs less than gathering coefficients, and pick from it."""
        image = self.render(features).flatten(2)
        return image.gather(2, pixels[:, None].expand(-1, COLORS, -1)).mT

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the expansion of the patch that contains a position, at every position."""
        spectrum = self.compute_coefficients(features)
        return spectral.evaluate_at_positions(*spectrum, positions, self.patch)


class FixedDecoder(SpectralDecoder):
    """GB-LSR-Fixed: a constant bandwidth and the full order."""

    SETTINGS: ClassVar[tuple[str, ...]] = (
        "features",
        "patch",
        "modes",
        "cutoff_sharpness",
        "order_range",
        "coefficient_std",
        "fixed_bandwidth",
    )
    fixed_bandwidth: Tensor

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        self.constant = float(section["fixed_bandwidth"])
        self.register_buffer("fixed_bandwidth", torch.tensor(self.constant), persistent=False)

    def predict_spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the constant bandwidth and the full order."""
        return self.fixed_bandwidth, self.full_order

    def get_bandwidth(self) -> float:
        """Return the constant bandwidth."""
        return self.constant


class ScalarDecoder(SpectralDecoder):
    """GB-LSR-Scalar: one trained bandwidth for all patches and images, the full order."""

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        self.range = section["bandwidth_range"]
        self.raw_bandwidth = nn.Parameter(torch.zeros(()))

    def predict_spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the trained bandwidth and the full order."""
        return self.compute_bandwidth(), self.full_order

    def compute_bandwidth(self) -> Tensor:
        """Compute the bandwidth from the raw parameter, a differentiable scalar tensor."""
        return spectral.map_to_log_bandwidth(self.raw_bandwidth, *self.range)

    def get_bandwidth(self) -> float:
        """Return the current value of the trained bandwidth."""
        return self.compute_bandwidth().item()


class BandwidthDecoder(SpectralDecoder):
    """GB-LSR-Bandwidth: a bandwidth per patch on a logarithmic scale, the full order."""

    map_to_bandwidth = staticmethod(spectral.map_to_log_bandwidth)

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        self.range = section["bandwidth_range"]

    def predict_spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Predict the bandwidth per patch; the order is full."""
        return self.map_to_bandwidth(self.predict_raw(features)[0], *self.range), self.full_order


class FullDecoder(BandwidthDecoder):
    """GB-LSR-Full: a bandwidth per patch on a logarithmic scale and a cutoff order per patch."""

    def predict_spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Predict the bandwidth and the cutoff order per patch."""
        raw_bandwidth, raw_order = self.predict_raw(features)
        return self.map_to_bandwidth(raw_bandwidth, *self.range), self.map_to_order(raw_order)


class BandwidthLinearDecoder(BandwidthDecoder):
    """GB-LSR-Bandwidth-Linear: as Bandwidth, on a linear scale."""

    map_to_bandwidth = staticmethod(spectral.map_to_linear_bandwidth)


class FullLinearDecoder(FullDecoder):
    """GB-LSR-Full-Linear: as Full, with the bandwidth on a linear scale."""

    map_to_bandwidth = staticmethod(spectral.map_to_linear_bandwidth)


# --- arms of the authors' package alone -----------------------------------------------------------

# The paper has none with one bandwidth and a cutoff order per patch. The package builds them where
# `adapt_order` is left at True, its default, with `bandwidth_mode` fixed_midpoint or global_scalar.


class FixedOrderDecoder(FixedDecoder):
    """GB-LSR-Fixed with a cutoff order per patch."""

    def predict_spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the constant bandwidth and predict the cutoff order per patch."""
        return self.fixed_bandwidth, self.map_to_order(self.predict_raw(features)[1])


class ScalarOrderDecoder(ScalarDecoder):
    """GB-LSR-Scalar with a cutoff order per patch."""

    def predict_spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the trained bandwidth and predict the cutoff order per patch."""
        return self.compute_bandwidth(), self.map_to_order(self.predict_raw(features)[1])
