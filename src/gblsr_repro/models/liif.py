"""LIIF as a baseline of the native benchmark (paper appendix A.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, cast

import torch
from torch import Tensor

from .base import COLORS
from .coordinates import compute_offsets, find_cells, locate_cells
from .decoders import (
    PatchDecoder,
    apply_later_layers,
    apply_per_cell,
    build_perceptron,
    reshape_to_image,
)
from .layers import ONEDNN_BATCH, apply_pointwise, relu


class LIIFDecoder(PatchDecoder):
    """LIIF: an MLP on features, relative coordinate and cell size, blended over four corner cells.

    The corners are the cells that contain the position moved by half a cell on both axes. A corner
    counts by the area between its own cell's center and the position, where LIIF was published with
    that of the opposite corner. Coordinate and cell size, which is that of a pixel, are in image
    coordinates, [-1, 1] over the image, where LIIF was published with half cells. Features are not
    unfolded. docs/interpretations.md says why.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ("features", "patch", "hidden")

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section)
        self.layers = build_perceptron(self.features + 4, section["hidden"], 5)

    def render_fast(self, features: Tensor) -> Tensor:
        """Render; the first layer is applied per cell, the relative coordinate added per axis.

        Pixels of an axis with the same two corner cells form groups, to which values are expanded.
        The blend's weights are products of one weight per axis.
        """
        batch, d, h, w = features.shape
        weight, cells = self.layers[0].weight, self._apply_first_layer(features)
        across = self._compute_corners(w, cells)
        group = self.patch // 2
        image: Any = 0.0  # a tensor once something is added
        for cell_y, rel_y, share_y in self._compute_corners(h, cells):
            rows = cells.index_select(1, cell_y[::group])
            part_y = rel_y.view(-1, group, 1, 1, 1) * weight[:, d]
            for cell_x, rel_x, share_x in across:
                near = rows.index_select(2, cell_x[::group])[:, :, None, :, None, :]
                near = near + rel_x.view(-1, group, 1) * weight[:, d + 1]
                hidden = (near + part_y).view(batch, h * self.patch, w * self.patch, -1)
                share = share_y[:, None, None] * share_x[:, None]
                image = image + apply_later_layers(hidden, self.layers, relu) * share
        return reshape_to_image(image, batch, h * self.patch, w * self.patch)

    def render_pixels(self, features: Tensor, pixels: Tensor) -> Tensor:
        """Render single pixels as `render_fast` does, without the corners of weight zero."""
        batch, d, h, w = features.shape
        cells = self._apply_first_layer(features)
        coordinates_part = self.layers[0].weight[:, d : d + 2].mT
        y, x = (part.flatten() for part in (pixels // (w * self.patch), pixels % (w * self.patch)))
        first = torch.arange(batch, device=features.device).repeat_interleave(pixels.shape[1]) * h
        across = self._compute_corners(w, cells)
        image = features.new_zeros(len(y), COLORS)
        for cell_y, rel_y, share_y in self._compute_corners(h, cells):
            for cell_x, rel_x, share_x in across:
                share = share_y[y] * share_x[x]
                # Rounded up to what `apply_pointwise` divides evenly.
                counted = math.ceil(share.count_nonzero().item() / ONEDNN_BATCH) * ONEDNN_BATCH
                if not counted:
                    continue
                at = (share == 0).to(torch.uint8).argsort(stable=True)[:counted]
                row, column = y[at], x[at]
                near = cells.flatten(0, 2)[(first[at] + cell_y[row]) * w + cell_x[column]]
                relative = torch.stack((rel_y[row], rel_x[column]), dim=-1)
                hidden = torch.addmm(near, relative, coordinates_part)
                colors = apply_later_layers(hidden, self.layers, relu) * share[at, None]
                image = image.index_add(0, at, colors)
        return image.view(batch, -1, COLORS)

    def _apply_first_layer(self, features: Tensor) -> Tensor:
        """Apply the first layer to all of its input but the coordinate: (B, h, w, hidden)."""
        d, first = features.shape[1], self.layers[0]
        size = compute_half_cells(features) * (2 / self.patch)
        size_part = first.weight[:, d + 2 :] @ size
        return apply_per_cell(features, first.weight[:, :d], first.bias + size_part)

    def _compute_corners(self, count: int, like: Tensor) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Compute index, offset and share of the lower and the upper corner cell on an axis.

        For every pixel, (count P,): the cell, the offset from its center, its share in the pixel.
        Where both are the same cell, the upper one's share is 0.
        """
        pixels = torch.arange(count * self.patch, dtype=torch.float64, device=like.device)
        cells = [find_cells(pixels, self.patch, count, shift) for shift in (-0.5, 0.5)]
        offsets = [compute_offsets(pixels, self.patch, cell) for cell in cells]
        distances = [offset.abs() for offset in offsets]
        upper = (distances[1] / sum(distances)).where(cells[0] != cells[1], 0.0)
        return [
            (cell, (offset * (1 / count)).to(like.dtype), share.to(like.dtype))
            for cell, offset, share in zip(cells, offsets, (1 - upper, upper), strict=True)
        ]

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the MLP for all four corners and blend them by their areas."""
        colors, areas = [], []
        half_cells = compute_half_cells(features)
        size = (half_cells * (2 / self.patch)).expand(*positions.shape[:2], 2)
        first = self.layers[0]
        for shift_y in (-0.5, 0.5):
            for shift_x in (-0.5, 0.5):
                near, relative = self._look_up_corner(features, positions, (shift_y, shift_x))
                hidden = torch.cat((near, relative * half_cells, size), dim=-1)
                hidden = apply_pointwise(hidden, first.weight, first.bias)
                colors.append(apply_later_layers(hidden, self.layers, relu))
                areas.append(relative.prod(dim=-1, keepdim=True).abs() + 1e-9)
        total = sum(areas)
        blended = sum(c * (area / total) for c, area in zip(colors, areas, strict=True))
        return cast("Tensor", blended)

    def _look_up_corner(
        self, features: Tensor, positions: Tensor, shift: tuple[float, float]
    ) -> tuple[Tensor, Tensor]:
        """Look up features (B, Q, D) and offset (B, Q, 2) of the cell of a shifted position.

        The offset is that of the unshifted position; `shift` is in cells.
        """
        image, y, x = locate_cells(features, positions, self.patch, shift)
        offset = compute_offsets(positions, self.patch, torch.stack((y, x), dim=-1))
        return features[image, :, y, x], offset.to(features.dtype)


def compute_half_cells(features: Tensor) -> Tensor:
    """Compute half a cell of either axis in image coordinates, (2,).

    The numbers are made on the device, which a copy would wait for.
    """
    return torch.stack([features.new_full((), 1 / count) for count in features.shape[-2:]])
