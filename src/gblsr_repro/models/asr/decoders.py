"""The interface of arbitrary-scale decoders.

A decoder turns features (B, D, h, w), one vector per low-resolution pixel (a latent cell), into
colors at image coordinates (B, Q, 2), in order (y, x), both axes from -1 to 1 over the image. Its
values are in the normalized range that the model trains in. `cell`, LIIF's word, is the size of a
query's pixel in image coordinates: 2 / H and 2 / W for the pixels of an H x W image.

The decoders: `liif` and `lte`, which extend `implicit`, and `local_spectral` (GB-LSR). A fast path
is named after what makes it fast.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ...errors import UserError
from ..base import COLORS, PLAIN, QUERY_CHUNK, Decoder
from .local_ensemble import (
    Corner,
    Length,
    RenderArea,
    Taps,
    compute_pixel_taps,
    compute_taps,
    iterate_corners,
)

RenderRows = Callable[[int, int], Tensor]


class QueryDecoder(Decoder):
    """Base class of arbitrary-scale decoders; with `ensemble` four cells blend into every query.

    It is built from the settings of asr.model that its `SETTINGS` name, the encoder's `features`
    and the `largest_scale` that training samples. `adds_input` says whether the model adds the
    bilinearly enlarged input. On a CPU at most `cpu_pixels` pixels are rendered at once, except on
    the plain path.
    """

    adds_input = False
    cpu_pixels = sys.maxsize

    def __init__(self, section: Mapping[str, Any], ensemble: bool = True) -> None:
        super().__init__(section)
        self.ensemble = ensemble

    @abstractmethod
    def compute_maps(self, features: Tensor, path: str) -> Tensor:
        """Compute what depends on the cells alone, once: (B, h w, C) from (B, D, h, w)."""

    def evaluate_cells(self, cells: Tensor, offsets: Tensor, cell: Tensor, path: str) -> Tensor:
        """Evaluate the colors (B, Q, 3) of queries, each from one row of the maps: (B, Q, C).

        `offsets` (Z, Q, 2) from the cells' centers and `cell` (Z, Q or 1, 2), the size of the
        queries' pixels, 2 / scale, are in half low-resolution cells. Every subclass has its own.
        """
        raise UserError(f"{type(self).__name__} has no evaluate_cells; add it to the class.")

    def evaluate_corners(
        self, maps: Tensor, corners: Iterable[Corner], cell: Tensor, path: str
    ) -> Tensor:
        """Add up by weight what `evaluate_cells` gives for the cells at the corners of queries.

        `maps` is (B, h w, C), `cell` as there.
        """
        total: Any = None  # a tensor from the first corner on
        for index, offsets, weight in corners:
            cells = gather_cells(maps, index)
            part = self.evaluate_cells(cells, offsets.to(maps.dtype), cell, path)
            part = weight.to(maps.dtype)[..., None] * part
            total = part if total is None else total + part
        return total

    def choose_path(self, cells: tuple[int, int], size: tuple[Length, Length]) -> str:
        """Choose the fastest path to render `size` (H, W) from a map of `cells` (h, w)."""
        return self.paths[0]

    def query(self, features: Tensor, coordinates: Tensor, cell: Tensor) -> Tensor:
        """Evaluate colors (B, Q, 3) at any coordinates (B, Q, 2) with cell (B, Q, 2)."""
        h, w = features.shape[-2:]
        path = self.paths[0]
        maps = self.compute_maps(features, path)
        half_cells = convert_to_half_cells(cell.to(features.dtype), h, w)
        parts = []
        for places, sizes in zip(
            coordinates.split(QUERY_CHUNK, 1), half_cells.split(QUERY_CHUNK, 1), strict=True
        ):
            rows = compute_taps(places[..., 0], h, self.ensemble)
            columns = compute_taps(places[..., 1], w, self.ensemble)
            corners = iterate_corners(rows, columns, w)
            parts.append(self.evaluate_corners(maps, corners, sizes, path))
        return torch.cat(parts, dim=1)

    def sample(self, features: Tensor, sizes: Tensor, pixels: Tensor, path: str) -> Tensor:
        """Evaluate the colors (B, Q, 3) of whole pixels of images of different sizes.

        `sizes` (B, 2) are heights and widths, `pixels` (B, Q, 2) rows and columns, both int64. The
        taps come from integer arithmetic. Differentiable, for training.
        """
        h, w = features.shape[-2:]
        rows = compute_pixel_taps(pixels[..., 0], sizes[:, :1], h, self.ensemble)
        columns = compute_pixel_taps(pixels[..., 1], sizes[:, 1:], w, self.ensemble)
        cell = convert_to_half_cells(2 / sizes.double(), h, w)
        maps = self.compute_maps(features, path)
        corners = iterate_corners(rows, columns, w)
        return self.evaluate_corners(maps, corners, cell.to(features.dtype)[:, None], path)

    def render(
        self,
        features: Tensor,
        size: tuple[Length, Length],
        tile_pixels: int,
        path: str,
        area: RenderArea,
    ) -> Tensor:
        """Render an area of an image of `size` (H, W): (B, 3, rows, columns).

        Works in bands of about `tile_pixels` pixels, a multiple of the row count that
        `prepare_rendering` returns; they change the memory, not the values.
        """
        if features.device.type == "cpu" and path != PLAIN:
            tile_pixels = min(tile_pixels, self.cpu_pixels)
        (first, last), (left, right) = area.rows, area.columns
        render_rows, unit = self.prepare_rendering(features, size, path, area)
        rows = max(tile_pixels // (features.shape[0] * (right - left)) // unit, 1) * unit
        if rows >= last - first:
            return render_rows(first, last)
        image = features.new_empty(features.shape[0], COLORS, last - first, right - left)
        for top in range(first, last, rows):
            bottom = min(top + rows, last)
            image[:, :, top - first : bottom - first] = render_rows(top, bottom)
        return image

    def prepare_rendering(
        self, features: Tensor, size: tuple[Length, Length], path: str, area: RenderArea
    ) -> tuple[RenderRows, int]:
        """Build the function that renders rows top ... bottom of the image in the area's columns.

        Returns it and the number of rows that are cheapest to render together.
        """
        h, w = area.cells
        height, width = size
        device, across = features.device, features.shape[-1]
        maps = self.compute_maps(features, path)
        pixels = torch.arange(*area.columns, device=device)
        columns = _shift_taps(area.origin[1], compute_pixel_taps(pixels, width, w, self.ensemble))
        axes = [features.new_full((1, 1), float(2 / length)) for length in size]
        cell = convert_to_half_cells(torch.stack(axes, dim=-1), h, w)

        def render_rows(top: int, bottom: int) -> Tensor:
            pixels = torch.arange(top, bottom, device=device)[:, None]
            rows = _shift_taps(area.origin[0], compute_pixel_taps(pixels, height, h, self.ensemble))
            corners = [_flatten_corner(corner) for corner in iterate_corners(rows, columns, across)]
            colors = self.evaluate_corners(maps, corners, cell, path)
            return colors.mT.reshape(-1, COLORS, bottom - top, columns.latent.shape[-1])

        return render_rows, 1


def convert_to_half_cells(cell: Tensor, h: int, w: int) -> Tensor:
    """Convert sizes (..., 2) from image coordinates to half cells of h x w cells."""
    return torch.stack((cell[..., 0] * h, cell[..., 1] * w), dim=-1)


def _shift_taps(first: int, taps: Taps) -> Taps:
    """Shift the cell indices of taps so that they count from cell `first`."""
    return replace(taps, latent=taps.latent - first)


def _flatten_corner(corner: Corner) -> Corner:
    """Flatten the queries of a rectangle into one row: (R, C) to (1, R C)."""
    index, offsets, weight = corner
    return index.reshape(1, -1), offsets.reshape(1, -1, 2), weight.reshape(1, -1)


def gather_cells(maps: Tensor, index: Tensor) -> Tensor:
    """Gather the cells `index` (Z, Q) of maps (B, n, C): (B, Q, C); Z is 1 or B."""
    batch, cells, width = maps.shape
    start = torch.arange(batch, device=index.device)[:, None] * cells
    rows = maps.reshape(-1, width).index_select(0, (index + start).flatten())
    return rows.view(batch, -1, width)


def flatten_cells(maps: Tensor) -> Tensor:
    """Flatten maps (B, C, h, w) into one row per cell: (B, h w, C)."""
    return maps.flatten(2).mT.contiguous()
