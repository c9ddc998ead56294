"""WIRE as a baseline of the native benchmark (paper appendix A.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from .decoders import apply_per_cell, build_perceptron, reshape_to_image
from .latent import LatentDecoder
from .layers import apply_pointwise


class WIREDecoder(LatentDecoder):
    """WIRE: an MLP with real Gabor activations on features and coordinate.

    The activation after each hidden layer is sin(w x) exp(-(g x)^2), frequency w and scale g
    trained per channel. Layers start as torch starts them.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = (
        "features",
        "patch",
        "hidden",
        "wire_frequency",
        "wire_spread",
    )

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        hidden = section["hidden"]
        self.layers = build_perceptron(self.features + 2, hidden, 4)
        starts = (section["wire_frequency"], section["wire_spread"])
        self.frequency, self.gabor_scale = (
            nn.ParameterList(nn.Parameter(torch.full((hidden,), start)) for _ in range(3))
            for start in starts
        )

    def _apply_later_layers(self, hidden: Tensor) -> Tensor:
        """Apply all layers but the first, each after the activation, to its output."""
        for w, g, layer in zip(self.frequency, self.gabor_scale, self.layers[1:], strict=True):
            hidden = torch.sin(w * hidden) * torch.exp(hidden.square() * -g.square())
            hidden = apply_pointwise(hidden, layer.weight, layer.bias)
        return hidden

    def render_fast(self, features: Tensor) -> Tensor:
        """Render; the first layer's feature part is computed per cell, its coordinates per axis."""
        batch, d, h, w = features.shape
        weight, bias = self.layers[0].weight, self.layers[0].bias
        hidden = self.interpolate_to_pixels(apply_per_cell(features, weight[:, :d], bias))
        x, y = (self.compute_axis_coordinates(count, features) for count in (w, h))
        hidden = hidden + x[:, None] * weight[:, d + 1]
        hidden = hidden + (y[:, None] * weight[:, d])[:, None]
        pixels = self._apply_later_layers(hidden)
        return reshape_to_image(pixels, batch, h * self.patch, w * self.patch)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the MLP on features and coordinates looked up at every position."""
        first = self.layers[0]
        hidden = torch.cat(self.look_up(features, positions), dim=-1)
        return self._apply_later_layers(apply_pointwise(hidden, first.weight, first.bias))
