"""The control without a local basis: a coordinate MLP on Fourier features (appendix A.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from .decoders import PatchDecoder, apply_later_layers, build_perceptron, reshape_to_image
from .layers import apply_pointwise, silu


class GlobalFourierMLP(PatchDecoder):
    """Global Fourier-MLP: an MLP on Fourier features of the coordinate and the mean feature vector.

    The input is cos and sin of 2 pi B u, then the mean of the features (D); u is (y, x) in [-1, 1]
    from the first to the last pixel center. As in the authors' code B is Gaussian and drawn after
    seeding torch's generator with `fourier_seed`: matrix, layers and all draws that follow in the
    run are the same for every training seed; only the encoder's are not.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = (
        "features",
        "patch",
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

    def _compute_fourier_features(self, y: Tensor, x: Tensor) -> Tensor:
        """Compute cos and sin of 2 pi (B_y y + B_x x) for broadcastable y, x (...): (..., 2 K)."""
        along_y = 2 * math.pi * y.unsqueeze(-1) * self.frequencies[:, 0]
        along_x = 2 * math.pi * x.unsqueeze(-1) * self.frequencies[:, 1]
        angles = along_y + along_x
        return torch.cat((angles.cos(), angles.sin()), dim=-1)

    def render_fast(self, features: Tensor) -> Tensor:
        """Render; the first layer's Fourier part is computed once for all images."""
        batch, _, h, w = features.shape
        height, width = h * self.patch, w * self.patch
        first = self.layers[0]
        y, x = (
            torch.linspace(-1, 1, count, device=features.device, dtype=features.dtype)
            for count in (height, width)
        )
        fourier = self._compute_fourier_features(y[:, None], x[None, :])
        plane = apply_pointwise(fourier[None], first.weight[:, : -self.features])
        mean_part = F.linear(features.mean((2, 3)), first.weight[:, -self.features :], first.bias)
        pixels = apply_later_layers(plane + mean_part[:, None, None, :], self.layers, silu)
        return reshape_to_image(pixels, batch, height, width)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the MLP on its whole input at every position."""
        h, w = features.shape[-2:]
        y, x = (
            (2 * along / (count * self.patch - 1) - 1).to(features.dtype)
            for along, count in zip(positions.unbind(-1), (h, w), strict=True)
        )
        mean = features.mean((2, 3))[:, None, :].expand(-1, positions.shape[1], -1)
        hidden = torch.cat((self._compute_fourier_features(y, x), mean), dim=-1)
        first = self.layers[0]
        hidden = apply_pointwise(hidden, first.weight, first.bias)
        return apply_later_layers(hidden, self.layers, silu)
