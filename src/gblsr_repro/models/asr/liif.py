"""LIIF's decoder of super-resolution (Chen et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from ..base import PLAIN
from ..layers import relu
from .decoders import flatten_cells
from .implicit import ImplicitDecoder


class LIIF(ImplicitDecoder):
    """The local implicit image function with feature unfolding, cell decoding, local ensemble.

    The perceptron reads the 3x3 neighborhood of a cell (9 D values), the query's offset from the
    cell's center and the size of its pixel: 9 D + 4 -> 4 hidden layers with ReLU -> 3.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ("hidden",)

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section, 9 * section["features"] + 4, depth=4)

    def compute_maps(self, features: Tensor, path: str) -> Tensor:
        """Unfold features; on the hoisted path apply the first layer to them as a convolution."""
        if path == PLAIN:
            return F.unfold(features, 3, padding=1).mT.contiguous()
        first = self.hidden[0]
        kernel = first.weight[:, :-4].unflatten(1, (-1, 3, 3))
        return flatten_cells(F.conv2d(features, kernel, first.bias, padding=1))

    def apply_first_layer(self, cells: Tensor, offsets: Tensor, cell: Tensor, path: str) -> Tensor:
        """Apply the first layer and ReLU to features, offset and pixel size."""
        batch, queries, _ = cells.shape
        first = self.hidden[0]
        if path == PLAIN:
            place = [x.expand(batch, queries, 2) for x in (offsets, cell)]
            return relu(first(torch.cat((cells, *place), dim=-1)))
        placed = cells + F.linear(offsets, first.weight[:, -4:-2])
        return relu(placed + F.linear(cell, first.weight[:, -2:]))
