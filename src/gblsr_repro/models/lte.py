"""LTE as a baseline of the native benchmark (paper appendix A.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from .decoders import apply_later_layers, apply_per_cell, build_perceptron, reshape_to_image
from .latent import LatentDecoder
from .layers import apply_pointwise, relu


class LTEDecoder(LatentDecoder):
    """LTE: an MLP on sines and cosines of learned frequencies, scaled by learned amplitudes.

    The angle is pi (frequency . coordinate + phase); the frequency head's channels are pairs
    (y, x), the phase follows from the cell size, 2 / P half cells on both axes. The network reads
    the scaled cosines, sines and the features. No ensemble and no skip of the input, which here is
    the target.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ("features", "patch", "hidden")

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        hidden = section["hidden"]
        waves = hidden // 2
        # Module order is the order of the draws.
        self.amplitude = nn.Linear(self.features, 2 * waves)
        self.frequency = nn.Linear(self.features, 2 * waves)
        self.phase = nn.Linear(2, waves, bias=False)
        self.layers = build_perceptron(2 * waves + self.features, hidden, 3)

    def _compute_phase(self) -> Tensor:
        """Compute the phase (K,), the same at every pixel."""
        return self.phase.weight.sum(1) * (2 / self.patch)

    def _scale_waves(self, amplitude: Tensor, angle: Tensor) -> Tensor:
        """Scale cosines and sines of angles (..., K) by amplitudes (..., 2 K)."""
        cosines, sines = amplitude.chunk(2, dim=-1)
        return torch.cat((cosines * angle.cos(), sines * angle.sin()), dim=-1)

    def render_fast(self, features: Tensor) -> Tensor:
        """Render; apply the heads and the first layer's feature part per cell, then interpolate.

        That is exact: interpolating is linear, as they are.
        """
        batch, d, h, w = features.shape
        first, head = self.layers[0], self.frequency
        along_y, along_x = (
            self.interpolate_to_pixels(apply_per_cell(features, head.weight[i::2], head.bias[i::2]))
            for i in (0, 1)
        )
        y = self.compute_axis_coordinates(h, features)[:, None, None]
        x = self.compute_axis_coordinates(w, features)[:, None]
        angle = math.pi * (along_y * y + along_x * x + self._compute_phase())
        del along_y, along_x
        amplitude = apply_per_cell(features, self.amplitude.weight, self.amplitude.bias)
        waves = self._scale_waves(self.interpolate_to_pixels(amplitude), angle)
        cells = apply_per_cell(features, first.weight[:, -d:], first.bias)
        hidden = apply_pointwise(waves, first.weight[:, :-d])
        hidden = hidden + self.interpolate_to_pixels(cells)
        image = apply_later_layers(hidden, self.layers, relu)
        return reshape_to_image(image, batch, h * self.patch, w * self.patch)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate heads and MLP on the features looked up at every position."""
        near, coordinates = self.look_up(features, positions)
        frequency = self.frequency(near).unflatten(-1, (-1, 2))
        phase = self._compute_phase()
        angle = math.pi * ((frequency * coordinates[..., None, :]).sum(-1) + phase)
        hidden = torch.cat((self._scale_waves(self.amplitude(near), angle), near), dim=-1)
        first = self.layers[0]
        hidden = apply_pointwise(hidden, first.weight, first.bias)
        return apply_later_layers(hidden, self.layers, relu)
