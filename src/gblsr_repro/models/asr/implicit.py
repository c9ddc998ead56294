"""The implicit decoders of super-resolution: a perceptron evaluated for every corner of a query."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from torch import Tensor, nn

from ..base import COLORS, PLAIN, QUERY_CHUNK
from ..layers import ONEDNN_BATCH, apply_pointwise, build_module_list, relu
from .decoders import QueryDecoder, RenderRows
from .local_ensemble import Length, RenderArea

HOISTED = "hoisted"


class ImplicitDecoder(QueryDecoder):
    """A perceptron that is evaluated for every corner and averaged by the corners' weights.

    On the "hoisted" path, the part of the first layer that depends on a cell alone is computed once
    per cell, and the hidden layers use `apply_pointwise`. To average before the last layer, which
    is linear, saves nothing as measured: averaging `hidden` values moves more memory than averaging
    three.
    """

    paths = (HOISTED, PLAIN)
    cpu_pixels = QUERY_CHUNK  # larger bands take gigabytes and are no faster

    def __init__(self, section: Mapping[str, Any], inputs: int, depth: int) -> None:
        super().__init__(section)
        hidden = section["hidden"]
        widths = [inputs] + [hidden] * depth
        self.hidden = build_module_list(nn.Linear(a, b) for a, b in pairwise(widths))
        self.last = nn.Linear(hidden, COLORS)

    @abstractmethod
    def apply_first_layer(self, cells: Tensor, offsets: Tensor, cell: Tensor, path: str) -> Tensor:
        """Apply the first layer and ReLU to the values of corner cells (B, Q, C)."""

    def apply_layer(self, layer: nn.Linear, x: Tensor, path: str) -> Tensor:
        """Apply a linear layer to (B, Q, inputs) and ReLU."""
        return relu(layer(x) if path == PLAIN else apply_pointwise(x, layer.weight, layer.bias))

    def prepare_rendering(
        self, features: Tensor, size: tuple[Length, Length], path: str, area: RenderArea
    ) -> tuple[RenderRows, int]:
        """Build the function that renders rows, as many as `apply_pointwise` divides evenly."""
        render_rows, _ = super().prepare_rendering(features, size, path, area)
        left, right = area.columns
        return render_rows, ONEDNN_BATCH // math.gcd(right - left, ONEDNN_BATCH)

    def evaluate_cells(self, cells: Tensor, offsets: Tensor, cell: Tensor, path: str) -> Tensor:
        """Evaluate the perceptron."""
        x = self.apply_first_layer(cells, offsets, cell, path)
        for layer in self.hidden[1:]:
            x = self.apply_layer(layer, x, path)
        return self.last(x)
