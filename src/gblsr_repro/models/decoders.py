"""The decoder interface of the native benchmark's arms, and helpers that several arms use.

A decoder turns features (B, D, h, w), one vector per patch of P x P pixels, into an image
(B, 3, h P, w P), or into colors at any pixel positions. Fast paths are exact: what depends on a
cell or on an axis alone is computed once per cell or axis instead of once per pixel.

The arms: `gblsr` (the GB-LSR family), `fourier_mlp` (the control), `liif`, `lte` and `wire` (the
baselines; the last two extend `latent`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..errors import UserError
from .base import COLORS, FAST, PLAIN, Decoder
from .layers import apply_pointwise, build_module_list


class PatchDecoder(Decoder):
    """Base class of all arms' decoders, built from the config section native.model."""

    SETTINGS: ClassVar[tuple[str, ...]] = ("features", "patch")
    paths = (FAST, PLAIN)

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        self.patch: int = section["patch"]

    def render(self, features: Tensor, path: str = FAST) -> Tensor:
        """Render features (B, D, h, w) on the pixel grid: (B, 3, h P, w P), else `UserError`."""
        image = self.render_plain(features) if path == PLAIN else self.render_fast(features)
        height, width = (self.patch * count for count in features.shape[-2:])
        self.check_colors(image, (len(features), COLORS, height, width), features)
        return image

    def render_fast(self, features: Tensor) -> Tensor:
        """Render on the fast path; without an override, on the plain one."""
        return self.render_plain(features)

    def predict_fields(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Predict bandwidth and cutoff order of every patch, each (B, h, w), with a GB-LSR arm.

        Raises `UserError` for an arm without a spectral basis.
        """
        raise UserError(f"{type(self).__name__} has no bandwidth field; name a GB-LSR arm.")

    @abstractmethod
    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate colors (B, Q, 3) at pixel positions (B, Q, 2), float64, in order (y, x)."""

    def render_plain(self, features: Tensor) -> Tensor:
        """Render by querying every pixel center."""
        batch, _, h, w = features.shape
        size = (h * self.patch, w * self.patch)
        positions = torch.cartesian_prod(
            *(torch.arange(n, dtype=torch.float64, device=features.device) for n in size)
        )
        colors = self.query(features, positions.expand(batch, -1, -1))
        return colors.mT.unflatten(-1, size)

    def render_pixels(self, features: Tensor, pixels: Tensor) -> Tensor:
        """Render single pixels, by row-major indices (B, N) int64 of the grid: (B, N, 3)."""
        width = features.shape[-1] * self.patch
        positions = torch.stack((pixels // width, pixels % width), dim=-1)
        return self.query(features, positions.double())


def build_perceptron(inputs: int, hidden: int, layers: int) -> Sequence[nn.Linear]:
    """Build `layers` linear layers: inputs -> hidden -> ... -> hidden -> 3."""
    widths = [inputs] + [hidden] * (layers - 1) + [COLORS]
    return build_module_list(nn.Linear(a, b) for a, b in pairwise(widths))


def apply_per_cell(features: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Apply a linear layer to every cell's features (B, D, h, w): (B, h, w, outputs)."""
    return F.linear(features.permute(0, 2, 3, 1), weight, bias)


def apply_later_layers(
    hidden: Tensor, layers: Sequence[nn.Linear], activate: Callable[[Tensor], Tensor]
) -> Tensor:
    """Apply all layers but the first, each after the activation, to its output (..., hidden).

    `layers` is the whole perceptron. Returns (..., 3); may overwrite `hidden`.
    """
    for layer in list(layers)[1:]:
        hidden = apply_pointwise(activate(hidden), layer.weight, layer.bias)
    return hidden


def reshape_to_image(pixels: Tensor, batch: int, height: int, width: int) -> Tensor:
    """Reshape colors (..., 3) in row-major pixel order into images (B, 3, H, W)."""
    return pixels.reshape(batch, height, width, COLORS).permute(0, 3, 1, 2)
