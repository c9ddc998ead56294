"""The decoders of the native benchmark: one class per arm, named in config/arms.tsv.

A decoder is made from the config section native.model alone. It turns features (B, D, h, w), one
vector per patch of P x P pixels, into an image (B, 3, h P, w P), or into colours at any pixel
positions. `render` is the fast path on the grid; `render_plain` is the same sum written as it is
defined, which tests and benchmarks hold against it. The speed-ups are exact: whatever depends on
a cell or on an axis alone is computed once per cell or axis instead of once per pixel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import spectral
from .coordinates import centres, offset, owner, pixel_coordinates, pixel_positions
from .memo import Memo

COLOURS = 3


class Decoder(nn.Module):
    """What the model asks of every arm."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        self.features: int = config["features"]
        self.patch: int = config["patch"]
        self.memo = Memo()

    def train(self, mode: bool = True) -> Self:
        """Set training or evaluation mode."""
        self.memo.clear()
        return super().train(mode)

    def render(self, features: Tensor) -> Tensor:
        """Render features (B, D, h, w) on the pixel grid: (B, 3, h P, w P)."""
        raise NotImplementedError

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate at pixel positions (B, Q, 2), float64, in order (y, x): (B, Q, 3)."""
        raise NotImplementedError

    def render_plain(self, features: Tensor) -> Tensor:
        """Do what `render` does by querying every pixel centre."""
        batch, _, h, w = features.shape
        size = (h * self.patch, w * self.patch)
        positions = pixel_positions(pixel_coordinates(*size, features.device), size)
        colours = self.query(features, positions.expand(batch, -1, -1))
        return colours.mT.reshape(batch, COLOURS, *size)

    def bandwidth(self) -> float | None:
        """Return the one bandwidth of all patches; None for an arm that has no such number."""
        return None


# --- the GB-LSR family (paper sections 3.1 and 3.2) -------------------------------------------


class SpectralDecoder(Decoder):
    """Linear coefficients of a local spectral basis; a subclass says how bandwidth is handled.

    Every arm of the family carries the adaptivity head, used or not, so that their parameter
    counts agree. `raw_bandwidth` and `raw_order` are its two zero-initialised outputs.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.modes: int = config["modes"]
        self.sharpness: float = config["cutoff_sharpness"]
        self.lowest_order, self.highest_order = config["order_range"]
        self.coefficients = nn.Linear(self.features, COLOURS * self.modes**2)
        nn.init.normal_(self.coefficients.weight, std=config["coefficient_std"])
        nn.init.zeros_(self.coefficients.bias)
        self.head = nn.Linear(self.features, 2)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
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
        batch, _, h, w = features.shape
        layer = self.coefficients
        weight, bias = layer.weight, layer.bias
        if order.ndim == 0:
            weight, bias = self.memo.get("projection", None, (weight, bias), self._cut_projection)
        out = F.conv2d(features, weight[:, :, None, None], bias)
        out = out.view(batch, COLOURS, self.modes, self.modes, h, w)
        if order.ndim:
            mask = spectral.cutoff(order, self.modes, self.sharpness)
            out = out * mask.permute(0, 3, 4, 1, 2).unsqueeze(1)
        return out

    def _cut_projection(self) -> tuple[Tensor, Tensor]:
        mask = spectral.cutoff(self.full_order, self.modes, self.sharpness)
        mask = mask.flatten().repeat(COLOURS)
        return self.coefficients.weight * mask[:, None], self.coefficients.bias * mask

    def _basis(self, bandwidth: Tensor) -> Tensor:
        def make() -> Tensor:
            return spectral.pixel_basis(self.patch, self.modes, bandwidth)

        if bandwidth.ndim:
            return make()
        key = (bandwidth.device, bandwidth.dtype)
        return self.memo.get("basis", key, self.shared_sources(), make)

    def render(self, features: Tensor) -> Tensor:
        """Render by two batched matrix products over the cached 1D basis."""
        bandwidth, order = self.spectrum(features)
        coefficients = self._cut_coefficients(features, order)
        return spectral.render_grid(coefficients, self._basis(bandwidth))

    def render_plain(self, features: Tensor) -> Tensor:
        """Render by the three-operand sum of the definition, the cutoff applied per patch."""
        batch, _, h, w = features.shape
        bandwidth, order = self.fields(features)
        weight = self.coefficients.weight[:, :, None, None]
        coefficients = F.conv2d(features, weight, self.coefficients.bias)
        coefficients = coefficients.view(batch, COLOURS, self.modes, self.modes, h, w)
        mask = spectral.cutoff(order, self.modes, self.sharpness)
        coefficients = coefficients * mask.permute(0, 3, 4, 1, 2).unsqueeze(1)
        basis = spectral.pixel_basis(self.patch, self.modes, bandwidth)
        return spectral.render_plain(coefficients, basis)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the owning patch's expansion at each position."""
        bandwidth, order = self.spectrum(features)
        coefficients = self._cut_coefficients(features, order)
        return spectral.evaluate(coefficients, bandwidth, positions, self.patch)


class FixedDecoder(SpectralDecoder):
    """GB-LSR-Fixed: a constant bandwidth and the full order."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.constant = float(config["fixed_bandwidth"])
        self.register_buffer("fixed_bandwidth", torch.tensor(self.constant), persistent=False)

    def spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the two constants."""
        return self.fixed_bandwidth, self.full_order

    def bandwidth(self) -> float:
        """Return the constant bandwidth."""
        return self.constant


class ScalarDecoder(SpectralDecoder):
    """GB-LSR-Scalar: one trained bandwidth for all patches and images, the full order."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.map = spectral.LogBandwidth(*config["bandwidth_range"])
        self.raw_bandwidth = nn.Parameter(torch.zeros(()))

    def spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the trained scalar and the constant order."""
        sources = self.shared_sources()
        bandwidth = self.memo.get("bandwidth", None, sources, lambda: self.map(self.raw_bandwidth))
        return bandwidth, self.full_order

    def shared_sources(self) -> tuple[Tensor, ...]:
        """Return the raw scalar."""
        return (self.raw_bandwidth,)

    def bandwidth(self) -> float:
        """Return the current value of the trained bandwidth."""
        return float(self.map(self.raw_bandwidth.detach()))


class BandwidthDecoder(SpectralDecoder):
    """GB-LSR-Bandwidth: a bandwidth per patch on a logarithmic scale, the full order."""

    bandwidth_map: type[spectral.BandwidthMap] = spectral.LogBandwidth

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.map = self.bandwidth_map(*config["bandwidth_range"])

    def spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the head's bandwidth per patch and the constant order."""
        return self.map(self.raw(features)[0]), self.full_order


class FullDecoder(BandwidthDecoder):
    """GB-LSR-Full: a bandwidth per patch on a logarithmic scale and a cutoff order per patch."""

    def spectrum(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the head's bandwidth and cutoff order per patch."""
        raw_bandwidth, raw_order = self.raw(features)
        return self.map(raw_bandwidth), self.adapted_order(raw_order)


class BandwidthLinearDecoder(BandwidthDecoder):
    """GB-LSR-Bandwidth-Linear: as Bandwidth, on a linear scale."""

    bandwidth_map = spectral.LinearBandwidth


class FullLinearDecoder(FullDecoder):
    """GB-LSR-Full-Linear: as Full, with the bandwidth on a linear scale."""

    bandwidth_map = spectral.LinearBandwidth


# --- the control and the matched-budget baselines (appendix A.1) --------------------------------


def pointwise(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Apply a linear layer to the last axis of (B, H, W, inputs): (B, H, W, outputs).

    On the CPU as a 1x1 convolution over the same memory: its weight gradient is several times
    faster there than that of a matrix product this tall.
    """
    if x.device.type == "cpu":
        return F.conv2d(x.permute(0, 3, 1, 2), weight[:, :, None, None], bias).permute(0, 2, 3, 1)
    return F.linear(x, weight, bias)


def perceptron(inputs: int, hidden: int, layers: int) -> nn.ModuleList:
    """Return `layers` linear layers: inputs -> hidden -> ... -> hidden -> 3."""
    widths = [inputs] + [hidden] * (layers - 1) + [COLOURS]
    return nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))


def as_image(pixels: Tensor, batch: int, height: int, width: int) -> Tensor:
    """Turn colours (..., 3) in row-major pixel order into an image (B, 3, H, W)."""
    return pixels.reshape(batch, height, width, COLOURS).permute(0, 3, 1, 2)


class GlobalFourierMLP(Decoder):
    """The control without a local basis: an MLP on Fourier features and one pooled code.

    The input is the mean of the features (D), then cos and sin of 2 pi B u; u is (y, x) in
    [-1, 1] from the first to the last pixel centre. B is Gaussian, drawn from a generator of its
    own: the same for every training seed, and the run's random state is not touched.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        count = config["fourier_frequencies"]
        self.layers = perceptron(self.features + 2 * count, config["hidden"], 4)
        generator = torch.Generator().manual_seed(config["fourier_seed"])
        frequencies = config["fourier_scale"] * torch.randn(count, 2, generator=generator)
        self.register_buffer("frequencies", frequencies)

    def _fourier(self, y: Tensor, x: Tensor) -> Tensor:
        """Return cos and sin of 2 pi (B_y y + B_x x) for broadcastable y, x (...): (..., 2 K)."""
        along_y = 2 * math.pi * y.unsqueeze(-1) * self.frequencies[:, 0]
        along_x = 2 * math.pi * x.unsqueeze(-1) * self.frequencies[:, 1]
        angles = along_y + along_x
        return torch.cat((angles.cos(), angles.sin()), dim=-1)

    def _rest(self, hidden: Tensor) -> Tensor:
        for layer in self.layers[1:]:
            hidden = pointwise(F.silu(hidden), layer.weight, layer.bias)
        return hidden

    def render(self, features: Tensor) -> Tensor:
        """Render; the first layer's Fourier part is made once per size, its code part per image."""
        batch, _, h, w = features.shape
        height, width = h * self.patch, w * self.patch
        first = self.layers[0]

        def positional() -> Tensor:
            y = torch.linspace(-1, 1, height, device=features.device, dtype=features.dtype)
            x = torch.linspace(-1, 1, width, device=features.device, dtype=features.dtype)
            fourier = self._fourier(y[:, None], x[None, :])
            return pointwise(fourier[None], first.weight[:, self.features :])

        key = (height, width)
        plane = self.memo.get("positional", key, (first.weight, self.frequencies), positional)
        code = F.linear(features.mean((2, 3)), first.weight[:, : self.features], first.bias)
        return as_image(self._rest(plane + code[:, None, None, :]), batch, height, width)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the MLP on its whole input at each position."""
        h, w = features.shape[-2:]
        last = torch.tensor([h, w], dtype=torch.float64, device=positions.device) * self.patch - 1
        u = (2 * positions / last - 1).to(features.dtype)
        code = features.mean((2, 3))[:, None, :].expand(-1, u.shape[1], -1)
        hidden = torch.cat((code, self._fourier(u[..., 0], u[..., 1])), dim=-1)
        first = self.layers[0]
        return self._rest(pointwise(hidden[None], first.weight, first.bias))[0]


class CellDecoder(Decoder):
    """What the baselines that decode the nearest cell's features share.

    Their relative coordinates are offsets from a cell's centre in half cells, order (y, x).
    """

    def per_cell(self, features: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """Apply a linear layer to every cell's features: (B, h, w, outputs)."""
        return F.linear(features.permute(0, 2, 3, 1), weight, bias)

    def spread(self, cells: Tensor, weight: Tensor) -> Tensor:
        """Add weight @ (relative y, relative x) to each cell's values, for all its pixels.

        `cells` is (B, h, w, K), `weight` (K, 2); the result (B, h, P, w, P, K).
        """
        rel = centres(self.patch, cells.device, cells.dtype)[:, None]
        rows = cells[:, :, None, :, None, :] + (rel * weight[:, 1])
        return rows + (rel * weight[:, 0])[:, None, None, :]

    def nearest(self, features: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Return the owning cell's features (B, Q, D) and the relative coordinates (B, Q, 2)."""
        return self.corner(features, positions, (0.0, 0.0))

    def corner(
        self, features: Tensor, positions: Tensor, shift: tuple[float, float]
    ) -> tuple[Tensor, Tensor]:
        """As `nearest`, for the cell that owns the position moved by `shift` cells."""
        _, _, h, w = features.shape
        item = torch.arange(features.shape[0], device=features.device)[:, None]
        y = owner(positions[..., 0], self.patch, h, shift[0])
        x = owner(positions[..., 1], self.patch, w, shift[1])
        relative = offset(positions, self.patch, torch.stack((y, x), dim=-1))
        return features[item, :, y, x], relative.to(features.dtype)


class LIIFDecoder(CellDecoder):
    """LIIF: an MLP on features, relative coordinate and cell size, with the 4-corner ensemble.

    The cell size is that of a pixel, 2 / P half cells on both axes. The features are not unfolded.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.layers = perceptron(self.features + 4, config["hidden"], 5)

    def _rest(self, hidden: Tensor) -> Tensor:
        for layer in self.layers[1:]:
            hidden = pointwise(F.relu_(hidden), layer.weight, layer.bias)
        return hidden

    def render(self, features: Tensor) -> Tensor:
        """Render; the first layer is applied per cell, the relative coordinate added per axis.

        The pixels of half a cell have the same four corner cells, so values are spread from a
        grid of half cells. The ensemble's weights are products of one weight per axis.
        """
        batch, d, h, w = features.shape
        weight, bias = self.layers[0].weight, self.layers[0].bias
        size_part = weight[:, d + 2 :].sum(1) * (2 / self.patch)
        cells = self.per_cell(features, weight[:, :d], bias + size_part)
        image: Tensor | float = 0.0
        for cell_y, rel_y, share_y in self._taps(h, cells):
            rows = cells.index_select(1, cell_y)
            part_y = rel_y[:, :, None, None, None] * weight[:, d]
            for cell_x, rel_x, share_x in self._taps(w, cells):
                near = rows.index_select(2, cell_x)[:, :, None, :, None, :]
                near = near + rel_x[:, :, None] * weight[:, d + 1]
                hidden = (near + part_y).view(batch, h * self.patch, w * self.patch, -1)
                share = share_y.reshape(-1, 1, 1) * share_x.reshape(1, -1, 1)
                image = image + self._rest(hidden) * share
        return as_image(image, batch, h * self.patch, w * self.patch)

    def _taps(self, count: int, like: Tensor) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Return index, offsets and shares of the lower and the upper neighbour on an axis.

        The index is (2 count,), one per half cell; the offset of every pixel to the neighbour and
        the neighbour's share in the pixel are (2 count, P / 2).
        """

        def make() -> list[tuple[Tensor, Tensor, Tensor]]:
            pixels = torch.arange(count * self.patch, dtype=torch.float64, device=like.device)
            cells = [owner(pixels, self.patch, count, shift) for shift in (-0.5, 0.5)]
            low, high = (offset(pixels, self.patch, cell).abs() for cell in cells)
            shares = (high / (low + high), low / (low + high))
            half = self.patch // 2
            return [
                (
                    cell[::half],
                    offset(pixels, self.patch, cell).to(like.dtype).view(-1, half),
                    share.to(like.dtype).view(-1, half),
                )
                for cell, share in zip(cells, shares, strict=True)
            ]

        return self.memo.get(f"taps{count}", (like.device, like.dtype), (), make)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the MLP for each of the four corners and blend them by the opposite areas."""
        colours, areas = [], []
        size = features.new_full((*positions.shape[:2], 2), 2 / self.patch)
        first = self.layers[0]
        for shift in ((-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)):
            near, relative = self.corner(features, positions, shift)
            hidden = torch.cat((near, relative, size), dim=-1)
            colours.append(self._rest(pointwise(hidden[None], first.weight, first.bias))[0])
            areas.append(relative.prod(dim=-1, keepdim=True).abs() + 1e-9)
        opposite = areas[::-1]
        weighted = sum(c * a for c, a in zip(colours, opposite, strict=True))
        return weighted / sum(areas)


class LTEDecoder(CellDecoder):
    """LTE: an MLP on learned local Fourier features and the cell's own features.

    The input is amplitude * (cos, sin)(pi (frequency . relative + phase)), then the features. The
    frequency head's channels are pairs (y, x); the phase follows from the cell size, 2 / P half
    cells on both axes. No ensemble and no skip of the input, which here is the target.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        hidden = config["hidden"]
        self.amplitude = nn.Linear(self.features, hidden)
        self.frequency = nn.Linear(self.features, hidden)
        self.phase = nn.Linear(2, hidden // 2, bias=False)
        self.layers = perceptron(hidden + self.features, hidden, 3)

    def _phase(self) -> Tensor:
        return self.phase.weight.sum(1) * (2 / self.patch)

    def _rest(self, hidden: Tensor) -> Tensor:
        for layer in self.layers[1:]:
            hidden = pointwise(F.relu_(hidden), layer.weight, layer.bias)
        return hidden

    def render(self, features: Tensor) -> Tensor:
        """Render; heads and feature part per cell, sines and cosines per cell and axis only.

        cos(a + b) and sin(a + b) come from the sines and cosines of a (along y, with the phase)
        and b (along x); the amplitude is multiplied into those of a.
        """
        batch, d, h, w = features.shape
        first = self.layers[0]
        width = first.weight.shape[1] - d
        rel = math.pi * centres(self.patch, features.device, features.dtype)[:, None]
        frequency = self.per_cell(features, self.frequency.weight, self.frequency.bias)
        amplitude = self.per_cell(features, self.amplitude.weight, self.amplitude.bias)
        amp_cos, amp_sin = amplitude[:, :, None, :, None, :].chunk(2, dim=-1)
        a = frequency[:, :, None, :, 0::2] * rel[:, None] + math.pi * self._phase()
        b = (frequency[:, :, :, None, 1::2] * rel)[:, :, None]
        cos_a, sin_a, cos_b, sin_b = a.cos()[..., None, :], a.sin()[..., None, :], b.cos(), b.sin()
        cosine = torch.addcmul(amp_cos * cos_a * cos_b, amp_cos * sin_a, sin_b, value=-1)
        sine = torch.addcmul(amp_sin * sin_a * cos_b, amp_sin * cos_a, sin_b)
        waves = torch.cat((cosine, sine), dim=-1).view(batch, h * self.patch, w * self.patch, -1)
        hidden = pointwise(waves, first.weight[:, :width])
        cells = self.per_cell(features, first.weight[:, width:], first.bias)
        hidden = hidden.view(batch, h, self.patch, w, self.patch, -1)
        hidden = (hidden + cells[:, :, None, :, None, :]).view(*waves.shape[:3], -1)
        return as_image(self._rest(hidden), batch, h * self.patch, w * self.patch)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate heads and MLP on the whole input at each position."""
        near, relative = self.nearest(features, positions)
        frequency = self.frequency(near).unflatten(-1, (-1, 2))
        angle = math.pi * ((frequency * relative[..., None, :]).sum(-1) + self._phase())
        waves = self.amplitude(near) * torch.cat((angle.cos(), angle.sin()), dim=-1)
        first = self.layers[0]
        hidden = torch.cat((waves, near), dim=-1)
        return self._rest(pointwise(hidden[None], first.weight, first.bias))[0]


class WIREDecoder(CellDecoder):
    """WIRE: an MLP with real Gabor activations on features and relative coordinate.

    The activation after each hidden layer is sin(w x) exp(-(g x)^2), frequency w and spread g
    trained per channel.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        hidden = config["hidden"]
        self.layers = perceptron(self.features + 2, hidden, 4)
        starts = (config["wire_frequency"], config["wire_spread"])
        self.frequency, self.spread_rate = (
            nn.ParameterList(nn.Parameter(torch.full((hidden,), start)) for _ in range(3))
            for start in starts
        )

    def _rest(self, hidden: Tensor) -> Tensor:
        for w, g, layer in zip(self.frequency, self.spread_rate, self.layers[1:], strict=True):
            hidden = torch.sin(w * hidden) * torch.exp(hidden.square() * -g.square())
            hidden = pointwise(hidden, layer.weight, layer.bias)
        return hidden

    def render(self, features: Tensor) -> Tensor:
        """Render; the first layer is applied per cell, the relative coordinate added per axis."""
        batch, d, h, w = features.shape
        weight, bias = self.layers[0].weight, self.layers[0].bias
        cells = self.per_cell(features, weight[:, :d], bias)
        hidden = self.spread(cells, weight[:, d:])
        height, width = h * self.patch, w * self.patch
        return as_image(self._rest(hidden.view(batch, height, width, -1)), batch, height, width)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the MLP on its whole input at each position."""
        first = self.layers[0]
        hidden = torch.cat(self.nearest(features, positions), dim=-1)
        return self._rest(pointwise(hidden[None], first.weight, first.bias))[0]
