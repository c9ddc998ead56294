"""WIRE as a baseline of the native benchmark (paper appendix A.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from .decoders import build_perceptron, reshape_to_image
from .latent import BILINEAR, GLOBAL, NEAREST, RELATIVE, LatentDecoder
from .layers import apply_pointwise

TORCH, SIREN = "torch", "siren"


class WIREDecoder(LatentDecoder):
    """WIRE: an MLP with real Gabor activations on features and coordinate.

    The activation after each hidden layer is sin(w x) exp(-(g x)^2), frequency w and scale g
    trained per channel. Option `first_layer`: its weights start as torch starts a linear layer, or
    as a SIREN's, evenly within 1 / inputs (Sitzmann et al. 2020, section 3.2).
    """

    SETTINGS: ClassVar[tuple[str, ...]] = (
        "features",
        "patch",
        "hidden",
        "wire_frequency",
        "wire_spread",
    )
    OPTIONS: ClassVar = {
        "features": (BILINEAR, NEAREST),
        "coordinates": (GLOBAL, RELATIVE),
        "first_layer": (TORCH, SIREN),
    }

    def __init__(
        self,
        section: Mapping[str, Any],
        *,
        features: str,
        coordinates: str,
        first_layer: str = TORCH,
    ) -> None:
        super().__init__(section, features=features, coordinates=coordinates)
        hidden = section["hidden"]
        inputs = self.features + 2
        self.layers = build_perceptron(inputs, hidden, 4)
        if first_layer == SIREN:  # from torch's bound, so that all other draws stay
            with torch.no_grad():
                self.layers[0].weight /= math.sqrt(inputs)
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
        hidden = self.interpolate_to_pixels(self.apply_per_cell(features, weight[:, :d], bias))
        x, y = (self.compute_axis_coordinates(count, features) for count in (w, h))
        hidden = hidden + x[:, None] * weight[:, d + 1]
        hidden = hidden + (y[:, None] * weight[:, d])[:, None]
        pixels = self._apply_later_layers(hidden)
        return reshape_to_image(pixels, batch, h * self.patch, w * self.patch)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the MLP on features and coordinates looked up at every position."""
        first = self.layers[0]
        near = self.look_up_features(features, positions)
        hidden = torch.cat((near, self.compute_coordinates(features, positions)), -1)
        return self._apply_later_layers(apply_pointwise(hidden, first.weight, first.bias))
