"""Base class of the matched-budget baselines LIIF, LTE and WIRE (paper appendix A.1).

The paper publishes their widths, depths and exact parameter counts, not how features reach a pixel.
The options of a row of config/arms.tsv decide what it leaves open; docs/interpretations.md says
which variant stands for the paper's, and why. Every variant has the published count.

Coordinates are in the order (y, x). A patch has one feature vector, that of its latent cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .coordinates import compute_offsets, convert_to_image_coordinates, find_cells
from .decoders import PatchDecoder
from .layers import relu, silu

BILINEAR, NEAREST = "bilinear", "nearest"
GLOBAL, RELATIVE = "global", "relative"
ACTIVATIONS = {"relu": relu, "silu": silu}


class LatentDecoder(PatchDecoder):
    """Base class of decoders that read latent cells and coordinates at every pixel.

    Option `features`: a pixel reads the cells around it, interpolated (bilinear, clamped at the
    border), or the one that contains it (nearest). Option `coordinates`: relative to the center of
    the cell that contains the pixel, in half cells, or global, in [-1, 1] over the image.
    """

    def __init__(self, section: Mapping[str, Any], *, features: str, coordinates: str) -> None:
        super().__init__(section)
        self.lookup, self.coordinates = features, coordinates

    def apply_per_cell(
        self, features: Tensor, weight: Tensor, bias: Tensor | None = None
    ) -> Tensor:
        """Apply a linear layer to every cell's features: (B, h, w, outputs)."""
        return F.linear(features.permute(0, 2, 3, 1), weight, bias)

    def interpolate_to_pixels(self, cells: Tensor) -> Tensor:
        """Look up values of cells (B, h, w, K) at all pixel centers: (B, h P, w P, K).

        The interpolation multiplies by a matrix with two entries a row, axis by axis.
        """
        batch, h, w, count = cells.shape
        height, width = h * self.patch, w * self.patch
        if self.lookup == NEAREST:
            repeated = cells[:, :, None, :, None].expand(-1, -1, self.patch, -1, self.patch, -1)
            return repeated.reshape(batch, height, width, count)
        down, across = (self._compute_interpolation(axis, cells) for axis in (h, w))
        rows = torch.matmul(across, cells.reshape(batch * h, w, count))
        image = torch.matmul(down, rows.view(batch, h, width * count))
        return image.view(batch, height, width, count)

    def _compute_interpolation(self, cells: int, like: Tensor) -> Tensor:
        """Compute the weights of an axis' cells at its pixels, (cells P, cells)."""
        pixels = torch.arange(cells * self.patch, dtype=torch.float64, device=like.device)
        place = ((pixels + 0.5) / self.patch - 0.5).clamp(0, cells - 1)
        distance = place[:, None] - torch.arange(cells, device=like.device)
        return (1 - distance.abs()).clamp(min=0).to(like.dtype)

    def compute_axis_coordinates(self, cells: int, like: Tensor) -> Tensor:
        """Compute the coordinates of all pixel centers of an axis of `cells` cells, (cells P,)."""
        count = cells * self.patch
        pixels = torch.arange(count, dtype=torch.float64, device=like.device)
        if self.coordinates == RELATIVE:
            cell = find_cells(pixels, self.patch, cells)
            return compute_offsets(pixels, self.patch, cell).to(like.dtype)
        return ((2 * pixels + 1) / count - 1).to(like.dtype)

    def look_up_features(self, features: Tensor, positions: Tensor) -> Tensor:
        """Look up features (B, D, h, w) at pixel positions (B, Q, 2), one by one: (B, Q, D)."""
        if self.lookup == NEAREST:
            return self.look_up_corner(features, positions, (0.0, 0.0))[0]
        coordinates = self._convert_positions(features, positions)
        grid = coordinates.flip(-1)[:, None].to(features.dtype)
        sampled = F.grid_sample(features, grid, padding_mode="border", align_corners=False)
        return sampled[:, :, 0].mT

    def compute_coordinates(self, features: Tensor, positions: Tensor) -> Tensor:
        """Compute the network's input coordinates (B, Q, 2) at pixel positions (B, Q, 2)."""
        if self.coordinates == RELATIVE:
            return self.look_up_corner(features, positions, (0.0, 0.0))[1]
        return self._convert_positions(features, positions).to(features.dtype)

    def _convert_positions(self, features: Tensor, positions: Tensor) -> Tensor:
        """Convert pixel positions to coordinates in [-1, 1] over the image of these features."""
        h, w = features.shape[-2:]
        return convert_to_image_coordinates(positions, (h * self.patch, w * self.patch))

    def look_up_corner(
        self, features: Tensor, positions: Tensor, shift: tuple[float, float]
    ) -> tuple[Tensor, Tensor]:
        """Look up features (B, Q, D) and offset (B, Q, 2) of the cell of a shifted position.

        The offset is that of the unshifted position, (B, Q, 2); `shift` is in cells.
        """
        h, w = features.shape[-2:]
        item = torch.arange(features.shape[0], device=features.device)[:, None]
        y = find_cells(positions[..., 0], self.patch, h, shift[0])
        x = find_cells(positions[..., 1], self.patch, w, shift[1])
        place = self.locate_cells(torch.stack((y, x), dim=-1), (h, w))
        offset = compute_offsets(positions, self.patch, place).to(features.dtype)
        return features[item, :, y, x], offset

    def locate_cells(self, cell: Tensor, counts: tuple[int, ...]) -> Tensor:
        """Return the places of cells that offsets are measured from, counted in cells.

        The last axis of `cell` is that of the image's axes, with `counts` cells each, or is any for
        a single axis. Here a cell's place is its index.
        """
        return cell
