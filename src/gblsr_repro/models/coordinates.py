"""Convert between image coordinates, pixel positions, cells, and offsets within a cell.

Three units are in use, always in the order (y, x):

- image coordinate u in [-1, 1]: the image's extent, so pixel i of n has its center at
  (2 i + 1) / n - 1 and the outer edges of the border pixels are at -1 and 1;
- pixel position: whole numbers are pixel centers, pixel i of n covers [i - 0.5, i + 0.5);
- cell: one feature vector stands for `patch` pixels per axis; cell e covers the pixel positions
  [e patch - 0.5, (e + 1) patch - 0.5) and has its center at e patch + (patch - 1) / 2.
"""

from __future__ import annotations

import torch
from torch import Tensor


def convert_to_pixel_positions(coordinates: Tensor, size: tuple[int, int]) -> Tensor:
    """Convert image coordinates (..., 2) in an image of `size` (H, W) to positions, float64."""
    axes = zip(coordinates.double().unbind(-1), size, strict=True)
    return torch.stack([((u + 1) * count - 1) / 2 for u, count in axes], dim=-1)


def convert_to_image_coordinates(positions: Tensor, size: tuple[int, int]) -> Tensor:
    """Convert pixel positions (..., 2) in an image of `size` (H, W) to image coordinates."""
    axes = zip(positions.unbind(-1), size, strict=True)
    return torch.stack([(2 * pixel + 1) / count - 1 for pixel, count in axes], dim=-1)


def find_cells(positions: Tensor, patch: int, cells: int, shift: float = 0.0) -> Tensor:
    """Find the cell (int64) that contains each pixel position of an axis with `cells` cells.

    `shift` moves the position first, in cells: -0.5 and 0.5 give the two cells whose centers lie
    around the position. Positions outside the image belong to the border cells.
    """
    return torch.floor((positions + 0.5 + shift * patch) / patch).long().clamp(0, cells - 1)


def locate_cells(
    maps: Tensor, positions: Tensor, patch: int, shift: tuple[float, float] = (0.0, 0.0)
) -> tuple[Tensor, Tensor, Tensor]:
    """Locate the cells of maps (B, ..., h, w) that contain pixel positions (B, Q, 2).

    Returns the numbers of their images (B, 1), rows and columns (B, Q), so that of maps
    (B, C, h, w) `maps[image, :, row, column]` are their values (B, Q, C). `shift` is that of
    `find_cells` on both axes.
    """
    axes = zip(positions.unbind(-1), maps.shape[-2:], shift, strict=True)
    row, column = (find_cells(places, patch, cells, moved) for places, cells, moved in axes)
    return torch.arange(len(maps), device=maps.device)[:, None], row, column


def compute_offsets(positions: Tensor, patch: int, cell: Tensor) -> Tensor:
    """Compute offsets from the center of `cell` in half cells, within the cell in [-1, 1)."""
    return (positions - (cell * patch + (patch - 1) / 2)) * (2 / patch)
