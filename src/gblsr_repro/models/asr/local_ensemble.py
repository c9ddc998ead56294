"""The local ensemble: the cells that a query reads, its offsets from them, and their weights.

A feature map has n cells along an axis and its image N pixels. Image coordinates run from -1 to 1,
so cell k covers [2 k / n - 1, 2 (k + 1) / n - 1] and pixel i has its center at (2 i + 1) / N - 1.
An offset is measured from a cell's center in half cells: the cell extends over [-1, 1], and
neighboring centers are 2 apart. A tap is a cell that a query reads along one axis. Without the
local ensemble it is the cell that contains the query, with weight 1. With it, there are two taps,
the cells whose centers lie around the query, weighted by the hat function 1 - |offset| / 2; beyond
the outermost centers both are the border cell.

Products of the hat weights of both axes equal the areas of the opposite rectangles divided by their
sum, the usual form of the ensemble. That form adds 1e-9 to every area. Where a query lies on the
line through the last cell center of an axis (odd integer scales), all four areas vanish and the
1e-9 makes every weight 1/4; the hat has the limit there, and is used everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

Span = tuple[int, int]  # first ... last + 1
Corner = tuple[Tensor, Tensor, Tensor]  # cell (Z, Q), offsets (Z, Q, 2), weight (Z, Q); Z = 1 or B
Length = int | Fraction
"""Pixels of a whole map along an axis: a fraction where cells were added to an image's."""
REACH = 2
"""Cells that a query reads around the one that contains it: the ensemble 1, LIIF and LTE 1 more."""


@dataclass(frozen=True)
class RenderArea:
    """The area of an image to render: rows and columns, both first ... last + 1.

    `cells` (h, w) is the size of the whole feature map, `origin` (y, x) the first of the cells that
    are passed. Those must reach `REACH` cells beyond the cells that contain the pixels, or to the
    border of the map; then the area has the same values as within the whole image.
    """

    cells: tuple[int, int]
    origin: tuple[int, int]
    rows: Span
    columns: Span

    @classmethod
    def cover(cls, cells: tuple[int, int], size: tuple[Length, Length]) -> RenderArea:
        """Cover all pixels with centers on a map of `size` (H, W) pixels, passed as a whole."""
        rows, columns = (math.ceil(length - Fraction(1, 2)) for length in size)
        return cls(cells, (0, 0), (0, rows), (0, columns))


@dataclass(frozen=True)
class Taps:
    """Taps of queries (...) along one axis; every field is (T, ...).

    T is 2 with the local ensemble and 1 without. `latent`, the latent cell, is int64; `offset`
    (half cells) and `weight` are float64 and the weights of a query sum to 1.
    """

    latent: Tensor
    offset: Tensor
    weight: Tensor


def compute_taps(coordinates: Tensor, cells: int, ensemble: bool) -> Taps:
    """Compute the taps of image coordinates (...) on an axis of `cells` cells.

    A query on the edge between two cells belongs to the higher one, also when rounding has put it
    a few units in the last place below; float64 coordinates keep this exact for any image size.
    Queries outside the image read the border cells.
    """
    position = (coordinates.double() + 1) * (cells / 2)
    if ensemble:
        lower = torch.floor(position - 0.5)
        return _build_ensemble(lower, position - 0.5 - lower, 2 * position - 1, cells)
    slack = 4 * cells * torch.finfo(coordinates.dtype).eps
    owner = torch.floor(position + slack).clamp(0, cells - 1).unsqueeze(0)
    offset = 2 * (position - owner) - 1
    return Taps(owner.long(), offset, torch.ones_like(offset))


def compute_shown_size(
    cells: tuple[int, int], image: tuple[int, int], size: tuple[int, int]
) -> tuple[Length, Length]:
    """Compute the pixels (H, W) of a map of `cells` whose first `image` cells make up `size`.

    A pixel then lies at the same place in its cell as without the cells that were added.
    """
    rows, columns = (
        Fraction(pixels * total, part)
        for pixels, total, part in zip(size, cells, image, strict=True)
    )
    return rows, columns


def compute_pixel_taps(pixels: Tensor, size: Tensor | Length, cells: int, ensemble: bool) -> Taps:
    """Compute the taps of whole pixels (...) of an axis with `size` pixels: integer arithmetic.

    `size` is a number or int64 broadcastable to `pixels`. The result is that of `compute_taps` for
    the pixels' centers, without any rounding of coordinates.
    """
    parts = 1 if isinstance(size, Tensor) else size.denominator
    size = size if isinstance(size, Tensor) else size.numerator  # in parts of a pixel
    scaled = (2 * pixels + 1) * (cells * parts)  # the position in cells, times twice the size
    if ensemble:
        lower = (scaled - size) // (2 * size)
        fraction = (scaled - size - 2 * size * lower).double() / (2 * size)
        return _build_ensemble(lower.double(), fraction, (scaled - size).double() / size, cells)
    owner = (scaled // (2 * size)).clamp(0, cells - 1).unsqueeze(0)
    offset = (scaled - (2 * owner + 1) * size).double() / size
    return Taps(owner, offset, torch.ones_like(offset))


def _build_ensemble(lower: Tensor, fraction: Tensor, from_first: Tensor, cells: int) -> Taps:
    """Build the taps of queries `fraction` past center `lower`, `from_first` past the first."""
    cell = torch.stack((lower, lower + 1)).clamp(0, cells - 1)
    return Taps(cell.long(), from_first - 2 * cell, torch.stack((1 - fraction, fraction)))


def iterate_corners(rows: Taps, columns: Taps, width: int) -> Iterator[Corner]:
    """Yield the cell (row-major in `width` columns), offsets (..., 2) and weight of every corner.

    The taps of rows and columns are broadcast together: both have the queries' shape, or
    (..., R, 1) and (..., 1, C) for the R x C pixels of a rectangle.
    """
    for t in range(rows.latent.shape[0]):
        for u in range(columns.latent.shape[0]):
            offsets = torch.broadcast_tensors(rows.offset[t], columns.offset[u])
            yield (
                rows.latent[t] * width + columns.latent[u],
                torch.stack(offsets, dim=-1),
                rows.weight[t] * columns.weight[u],
            )


@dataclass(frozen=True)
class PaddedGroups:
    """An axis' pixels in groups that read the same cells, every group padded to S slots.

    With the local ensemble group g (of n + 1) reads cells g - 1 and g, without it group g (of n)
    reads cell g. The pixels of a group are contiguous. `first` (Z, G) is the index of the first;
    `offset` and `weight` are (Z, G, T, S), float64, for Z axis lengths; weight is 0 for slots past
    a group's last pixel and for the tap of a border group outside the map.
    """

    first: Tensor
    offset: Tensor
    weight: Tensor

    @property
    def width(self) -> int:
        """Slots per group."""
        return self.offset.shape[-1]

    def locate_slots(self, pixels: Tensor) -> Tensor:
        """Return the slots of pixels (Z, Q), int64, along the axis of all G * S slots."""
        group = torch.searchsorted(self.first.contiguous(), pixels.contiguous(), right=True) - 1
        return group * self.width + pixels - self.first.gather(1, group)


def group_pixels(
    cells: int, sizes: Tensor, width: int, ensemble: bool, parts: int = 1
) -> PaddedGroups:
    """Group the pixels of axes with `sizes` (Z,), int64, and `cells` cells per axis.

    Sizes are in `parts` of a pixel. `width` is the number of slots per group; it must be at least
    the pixels per cell, rounded up, for every size. No operation synchronizes with a device.
    """
    size, step = sizes[:, None], cells * parts
    group = torch.arange(cells + 2 if ensemble else cells + 1, device=sizes.device)
    edge = (2 * group - 1).clamp(0, 2 * cells) if ensemble else 2 * group  # in half cells
    start = (edge * size + step - 1) // (2 * step)
    first, last = start[:, :-1], start[:, 1:]
    pixels = first[..., None] + torch.arange(width, device=sizes.device)
    cell = group[:-1, None] + torch.arange(-1 if ensemble else 0, 1, device=sizes.device)
    scaled = (2 * pixels + 1) * step
    offset = (scaled[:, :, None] - (2 * cell + 1)[..., None] * size[..., None, None]).double()
    offset = offset / size[..., None, None]
    inside = ((cell >= 0) & (cell < cells))[..., None] & (pixels < last[..., None])[:, :, None]
    if not ensemble:
        return PaddedGroups(first, offset, inside.double())
    # A border group has one tap inside the map, which has the whole weight.
    border = (group[:-1] == 0) | (group[:-1] == cells)
    hat = torch.where(border[:, None, None], 1.0, 1 - offset.abs() / 2)
    return PaddedGroups(first, offset, hat * inside)


def find_group(pixel: int, size: Length, cells: int, ensemble: bool) -> int:
    """Find the group of a pixel of an axis with `size` pixels, as in `PaddedGroups`."""
    scaled = (2 * pixel + 1) * cells
    return (scaled + size) // (2 * size) if ensemble else scaled // (2 * size)
