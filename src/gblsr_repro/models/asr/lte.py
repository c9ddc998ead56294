"""LTE's decoder of super-resolution (Lee and Jin 2022)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from .decoders import flatten_cells
from .implicit import HOISTED, ImplicitDecoder


class LTE(ImplicitDecoder):
    """The local texture estimator: the perceptron reads a local Fourier series of the features.

    3x3 convolutions compute hidden // 2 two-dimensional frequencies and twice as many amplitudes
    per cell; the phases follow from the pixel's size. amplitude * [cos, sin](pi (frequency . offset
    + phase)) -> 3 hidden layers with ReLU -> 3, to which the model adds the bilinearly enlarged
    input. Both paths compute the heads once per cell; the hoisted one also multiplies by pi there.
    Pixels smaller than any seen in training, those beyond `largest_scale`, count as the smallest
    seen, as in LTE's published tests.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ("hidden",)
    adds_input = True

    def __init__(self, section: Mapping[str, Any]) -> None:
        waves = section["hidden"] // 2
        super().__init__(section, 2 * waves, depth=3)
        self.smallest_cell = 2 / section["largest_scale"]
        self.amplitude = nn.Conv2d(self.features, 2 * waves, 3, padding=1)
        self.frequency = nn.Conv2d(self.features, 2 * waves, 3, padding=1)
        self.phase = nn.Linear(2, waves, bias=False)

    def compute_maps(self, features: Tensor, path: str) -> Tensor:
        """Compute the cells' amplitudes, then their frequencies along y, then along x.

        On the hoisted path the frequencies are multiplied by pi.
        """
        frequency = self.frequency(features)
        if path == HOISTED:
            frequency = math.pi * frequency
        return flatten_cells(torch.cat((self.amplitude(features), frequency), dim=1))

    def apply_first_layer(self, cells: Tensor, offsets: Tensor, cell: Tensor, path: str) -> Tensor:
        """Evaluate the Fourier series and apply the first layer and ReLU."""
        count = self.phase.out_features
        amplitude, along_y, along_x = cells.split((2 * count, count, count), dim=-1)
        phase = self.phase(cell.clamp(min=self.smallest_cell))
        if path == HOISTED:
            angle = torch.addcmul(math.pi * phase, along_y, offsets[..., :1])
            angle = torch.addcmul(angle, along_x, offsets[..., 1:])
        else:
            angle = math.pi * (along_y * offsets[..., :1] + along_x * offsets[..., 1:] + phase)
        waves = torch.cat((angle.cos(), angle.sin()), dim=-1)
        return self.apply_layer(self.hidden[0], amplitude * waves, path)
