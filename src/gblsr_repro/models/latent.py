"""Base class of the matched-budget baselines LTE and WIRE (paper appendix A.1).

The paper publishes their widths, depths and exact parameter counts, not how features reach a pixel;
docs/interpretations.md says what was chosen, and why.

Coordinates are in the order (y, x). A patch has one feature vector, that of its latent cell.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from .coordinates import convert_to_image_coordinates
from .decoders import PatchDecoder


class LatentDecoder(PatchDecoder):
    """Base class of decoders that read interpolated latent cells and coordinates at every pixel.

    Features are interpolated between the cells around a pixel (bilinear, clamped at the border).
    Coordinates are in [-1, 1] over the image.
    """

    def interpolate_to_pixels(self, cells: Tensor) -> Tensor:
        """Look up values of cells (B, h, w, K) at all pixel centers: (B, h P, w P, K).

        The interpolation multiplies by a matrix with two entries a row, axis by axis.
        """
        batch, h, w, count = cells.shape
        height, width = h * self.patch, w * self.patch
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
        return ((2 * pixels + 1) / count - 1).to(like.dtype)

    def look_up(self, features: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Look up features (B, D, h, w) and coordinates at pixel positions (B, Q, 2), one by one.

        Returns (B, Q, D) and (B, Q, 2), in the precision of the features.
        """
        h, w = features.shape[-2:]
        size = (h * self.patch, w * self.patch)
        coordinates = convert_to_image_coordinates(positions, size).to(features.dtype)
        grid = coordinates.flip(-1)[:, None]
        sampled = F.grid_sample(features, grid, padding_mode="border", align_corners=False)
        return sampled[:, :, 0].mT, coordinates
