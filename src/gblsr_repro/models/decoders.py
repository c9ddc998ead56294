"""What every arm's decoder offers, the GB-LSR family and the control (the rest: `baselines`).

A decoder turns features (B, D, h, w), one vector per patch of P x P pixels, into an image
(B, 3, h P, w P), or into colors at any pixel positions. The speed-ups of its fast path are exact:
whatever depends on a cell or on an axis alone is computed once per cell or axis instead of once per
pixel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import spectral
from .base import COLORS, FAST, PLAIN, Decoder
from .coordinates import compute_pixel_coordinates, convert_to_pixel_positions
from .layers import apply_pointwise, build_module_list


class PatchDecoder(Decoder):
    """What the model asks of every arm, made from the config section native.model."""

    SETTINGS: ClassVar[tuple[str, ...]] = ("features", "patch")
    paths = (FAST, PLAIN)

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        self.patch: int = section["patch"]

    def render(self, features: Tensor, path: str = FAST) -> Tensor:
        """Render features (B, D, h, w) on the pixel grid: (B, 3, h P, w P)."""
        return self.render_plain(features) if path == PLAIN else self.render_fast(features)

    def render_fast(self, features: Tensor) -> Tensor:
        """Do what `render` does on the fast path, where there is one."""
        return self.render_plain(features)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate at pixel positions (B, Q, 2), float64, in order (y, x): (B, Q, 3)."""
        raise NotImplementedError

    def render_plain(self, features: Tensor) -> Tensor:
        """Do what `render` does by querying every pixel center."""
        batch, _, h, w = features.shape
        size = (h * self.patch, w * self.patch)
        positions = convert_to_pixel_positions(
            compute_pixel_coordinates(*size, features.device), size
        )
        colors = self.query(features, positions.expand(batch, -1, -1))
        return colors.mT.reshape(batch, COLORS, *size)

    def render_pixels(self, features: Tensor, pixels: Tensor) -> Tensor:
        """Render chosen pixels of the grid, row-major numbers (B, N) int64: colors (B, N, 3)."""
        width = features.shape[-1] * self.patch
        positions = torch.stack((pixels // width, pixels % width), dim=-1)
        return self.query(features, positions.double())


# --- the GB-LSR family (paper sections 3.1 and 3.2) -------------------------------------------


class SpectralDecoder(PatchDecoder):
    """Linear coefficients of a local spectral basis; a subclass says how bandwidth is handled.

    Every arm of the family carries the adaptivity head, used or not, so that their parameter
    counts agree. `raw_bandwidth` and `raw_order` are its two zero-initialized outputs.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = (
        *PatchDecoder.SETTINGS,
        "modes",
        "cutoff_sharpness",
        "order_range",
        "coefficient_std",
    )
    full_order: Tensor

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        self.modes: int = section["modes"]
        self.sharpness: float = section["cutoff_sharpness"]
        self.lowest_order, self.highest_order = section["order_range"]
        # In the order of the authors' draws: both layers as torch makes them, then ours.
        self.coefficients = nn.Linear(self.features, COLORS * self.modes**2)
        self.head = nn.Linear(self.features, 2)
        nn.init.normal_(self.coefficients.weight, std=section["coefficient_std"])
        for parameter in (self.coefficients.bias, self.head.weight, self.head.bias):
            nn.init.zeros_(parameter)
        self.register_buffer("full_order", torch.tensor(float(self.modes)), persistent=False)

    def spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return bandwidth and cutoff order, each a scalar tensor or one per patch (B, h, w)."""
        raise NotImplementedError

    def shared_sources(self) -> tuple[Tensor, ...]:
        """Return the parameters that a bandwidth shared by all patches follows from."""
        return ()

    def raw(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the head's raw bandwidth and raw order per patch, each (B, h, w)."""
        raw = F.conv2d(features, self.head.weight[:, :, None, None], self.head.bias)
        return raw[:, 0], raw[:, 1]

    def adapted_order(self, raw: Tensor) -> Tensor:
        """Map a raw order to a cutoff order in the allowed range."""
        return self.lowest_order + (self.highest_order - self.lowest_order) * torch.sigmoid(raw)

    def fields(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return bandwidth and cutoff order of every patch, each (B, h, w)."""
        batch, _, h, w = features.shape
        bandwidth, order = self.spectrum(features)
        return bandwidth.expand(batch, h, w), order.expand(batch, h, w)

    def code(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return all that rendering needs: coefficients with the cutoff applied, and bandwidth.

        Shapes (B, 3, p, p, h, w) and (B, h, w), as `spectral.evaluate` takes them.
        """
        bandwidth, order = self.spectrum(features)
        batch, _, h, w = features.shape
        return self._cut_coefficients(features, order), bandwidth.expand(batch, h, w)

    def _cut_coefficients(self, features: Tensor, order: Tensor) -> Tensor:
        """Project features to coefficients (B, 3, p, p, h, w) with the cutoff applied.

        A cutoff shared by all patches multiplies the projection's weights, not its many outputs.
        """
        weight, bias = self.coefficients.weight, self.coefficients.bias
        if order.ndim:
            return self._masked(self._projected(features, weight, bias), order)
        weight, bias = self.cache.get("projection", None, (weight, bias), self._cut_projection)
        return self._projected(features, weight, bias)

    def _projected(self, features: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        out = F.conv2d(features, weight[:, :, None, None], bias)
        return out.unflatten(1, (COLORS, self.modes, self.modes))

    def _masked(self, coefficients: Tensor, order: Tensor) -> Tensor:
        """Apply the cutoff, of orders (B, h, w), patch by patch."""
        mask = spectral.compute_cutoff(order, self.modes, self.sharpness)
        return coefficients * mask.permute(0, 3, 4, 1, 2).unsqueeze(1)

    def _cut_projection(self) -> tuple[Tensor, Tensor]:
        mask = spectral.compute_cutoff(self.full_order, self.modes, self.sharpness)
        mask = mask.flatten().repeat(COLORS)
        return self.coefficients.weight * mask[:, None], self.coefficients.bias * mask

    def _basis(self, bandwidth: Tensor) -> Tensor:
        def make() -> Tensor:
            return spectral.build_pixel_basis(self.patch, self.modes, bandwidth)

        if bandwidth.ndim:
            return make()
        key = (bandwidth.device, bandwidth.dtype)
        return self.cache.get("basis", key, self.shared_sources(), make)

    def render_fast(self, features: Tensor) -> Tensor:
        """Render by two batched matrix products over the cached 1D basis."""
        bandwidth, order = self.spectrum(features)
        coefficients = self._cut_coefficients(features, order)
        return spectral.render_grid(coefficients, self._basis(bandwidth))

    def render_plain(self, features: Tensor) -> Tensor:
        """Render by the three-operand sum of the definition, the cutoff applied per patch."""
        (bandwidth, order), layer = self.fields(features), self.coefficients
        coefficients = self._masked(self._projected(features, layer.weight, layer.bias), order)
        basis = spectral.build_pixel_basis(self.patch, self.modes, bandwidth)
        return spectral.render_plain(coefficients, basis)

    def render_pixels(self, features: Tensor, pixels: Tensor) -> Tensor:
        """Render the grid, which costs less than gathering coefficients, and choose from it."""
        image = self.render(features).flatten(2)
        return image.gather(2, pixels[:, None].expand(-1, COLORS, -1)).mT

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the owning patch's expansion at each position."""
        bandwidth, order = self.spectrum(features)
        coefficients = self._cut_coefficients(features, order)
        return spectral.evaluate_at_positions(coefficients, bandwidth, positions, self.patch)


class FixedDecoder(SpectralDecoder):
    """GB-LSR-Fixed: a constant bandwidth and the full order."""

    SETTINGS: ClassVar[tuple[str, ...]] = (*SpectralDecoder.SETTINGS, "fixed_bandwidth")
    fixed_bandwidth: Tensor

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        self.constant = float(section["fixed_bandwidth"])
        self.register_buffer("fixed_bandwidth", torch.tensor(self.constant), persistent=False)

    def spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the two constants."""
        return self.fixed_bandwidth, self.full_order

    def bandwidth(self) -> float:
        """Return the constant bandwidth."""
        return self.constant


class ScalarDecoder(SpectralDecoder):
    """GB-LSR-Scalar: one trained bandwidth for all patches and images, the full order."""

    SETTINGS: ClassVar[tuple[str, ...]] = (*SpectralDecoder.SETTINGS, "bandwidth_range")

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        self.range = section["bandwidth_range"]
        self.raw_bandwidth = nn.Parameter(torch.zeros(()))

    def spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the trained scalar and the constant order."""
        sources = self.shared_sources()
        bandwidth = self.cache.get("bandwidth", None, sources, self._mapped)
        return bandwidth, self.full_order

    def _mapped(self) -> Tensor:
        return spectral.map_to_log_bandwidth(self.raw_bandwidth, *self.range)

    def shared_sources(self) -> tuple[Tensor, ...]:
        """Return the raw scalar."""
        return (self.raw_bandwidth,)

    def bandwidth(self) -> float:
        """Return the current value of the trained bandwidth."""
        return self._mapped().item()


class BandwidthDecoder(SpectralDecoder):
    """GB-LSR-Bandwidth: a bandwidth per patch on a logarithmic scale, the full order."""

    SETTINGS: ClassVar[tuple[str, ...]] = (*SpectralDecoder.SETTINGS, "bandwidth_range")
    scale = staticmethod(spectral.map_to_log_bandwidth)

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        self.range = section["bandwidth_range"]

    def spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the head's bandwidth per patch and the constant order."""
        return self.scale(self.raw(features)[0], *self.range), self.full_order


class FullDecoder(BandwidthDecoder):
    """GB-LSR-Full: a bandwidth per patch on a logarithmic scale and a cutoff order per patch."""

    def spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the head's bandwidth and cutoff order per patch."""
        raw_bandwidth, raw_order = self.raw(features)
        return self.scale(raw_bandwidth, *self.range), self.adapted_order(raw_order)


class BandwidthLinearDecoder(BandwidthDecoder):
    """GB-LSR-Bandwidth-Linear: as Bandwidth, on a linear scale."""

    scale = staticmethod(spectral.map_to_linear_bandwidth)


class FullLinearDecoder(FullDecoder):
    """GB-LSR-Full-Linear: as Full, with the bandwidth on a linear scale."""

    scale = staticmethod(spectral.map_to_linear_bandwidth)


# --- the control (appendix A.1) -----------------------------------------------------------------


def build_perceptron(inputs: int, hidden: int, layers: int) -> Sequence[nn.Linear]:
    """Return `layers` linear layers: inputs -> hidden -> ... -> hidden -> 3."""
    widths = [inputs] + [hidden] * (layers - 1) + [COLORS]
    return build_module_list(nn.Linear(a, b) for a, b in pairwise(widths))


def reshape_to_image(pixels: Tensor, batch: int, height: int, width: int) -> Tensor:
    """Turn colors (..., 3) in row-major pixel order into an image (B, 3, H, W)."""
    return pixels.reshape(batch, height, width, COLORS).permute(0, 3, 1, 2)


class GlobalFourierMLP(PatchDecoder):
    """The control without a local basis: an MLP on Fourier features and one pooled code.

    The input is cos and sin of 2 pi B u, then the mean of the features (D); u is (y, x) in [-1, 1]
    from the first to the last pixel center. As in the authors' code B is Gaussian and drawn after
    seeding torch's generator with `fourier_seed`: matrix, layers and all draws that follow in the
    run are the same for every training seed; only the encoder's are not.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = (
        *PatchDecoder.SETTINGS,
        "hidden",
        "fourier_frequencies",
        "fourier_scale",
        "fourier_seed",
    )
    frequencies: Tensor

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        count = section["fourier_frequencies"]
        torch.manual_seed(section["fourier_seed"])
        self.register_buffer("frequencies", torch.randn(count, 2) * section["fourier_scale"])
        self.layers = build_perceptron(2 * count + self.features, section["hidden"], 4)

    def _fourier(self, y: Tensor, x: Tensor) -> Tensor:
        """Return cos and sin of 2 pi (B_y y + B_x x) for broadcastable y, x (...): (..., 2 K)."""
        along_y = 2 * math.pi * y.unsqueeze(-1) * self.frequencies[:, 0]
        along_x = 2 * math.pi * x.unsqueeze(-1) * self.frequencies[:, 1]
        angles = along_y + along_x
        return torch.cat((angles.cos(), angles.sin()), dim=-1)

    def _rest(self, hidden: Tensor) -> Tensor:
        for layer in self.layers[1:]:
            hidden = apply_pointwise(F.silu(hidden), layer.weight, layer.bias)
        return hidden

    def render_fast(self, features: Tensor) -> Tensor:
        """Render; the first layer's Fourier part is made once per size, its code part per image."""
        batch, _, h, w = features.shape
        height, width = h * self.patch, w * self.patch
        first = self.layers[0]

        def positional() -> Tensor:
            y = torch.linspace(-1, 1, height, device=features.device, dtype=features.dtype)
            x = torch.linspace(-1, 1, width, device=features.device, dtype=features.dtype)
            fourier = self._fourier(y[:, None], x[None, :])
            return apply_pointwise(fourier[None], first.weight[:, : -self.features])

        key = (height, width)
        plane = self.cache.get("positional", key, (first.weight, self.frequencies), positional)
        code = F.linear(features.mean((2, 3)), first.weight[:, -self.features :], first.bias)
        return reshape_to_image(self._rest(plane + code[:, None, None, :]), batch, height, width)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the MLP on its whole input at each position."""
        h, w = features.shape[-2:]
        y, x = (
            (2 * along / (count * self.patch - 1) - 1).to(features.dtype)
            for along, count in zip(positions.unbind(-1), (h, w), strict=True)
        )
        code = features.mean((2, 3))[:, None, :].expand(-1, positions.shape[1], -1)
        hidden = torch.cat((self._fourier(y, x), code), dim=-1)
        first = self.layers[0]
        return self._rest(apply_pointwise(hidden, first.weight, first.bias))
