"""Cut the super-resolution of large images into tiles that fit the memory.

A tile of the output depends on the pixels within the encoder's receptive field around it. An
encoder that reads at least those, up to the image's border where the field reaches it, computes the
same features as for the whole image; so tiles change the memory and the time, and no value beyond
rounding:

- RDN's field reaches 131 pixels at the paper's size. At the image's border every layer pads with
  zeros, in a tile that ends at it as in the whole image.
- SwinIR's field is up to 158 pixels at the published size. A tile starts on SwinIR's grid of
  windows, so its windows are those of the whole image; windows that its border cuts are beyond the
  field. At 18 kB per pixel the memory has no room for more than the field at the published size: it
  enlarges images of up to half a megapixel in one piece, and crops of larger ones.

The field is encoded twice at every seam, which costs time: tiles are as large as the memory allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from torch import Tensor

from ...errors import UserError
from ..base import Encoder
from .local_ensemble import REACH, RenderArea, Span

MEMORY = 1 << 31  # bytes of one tile: the peak of the encoder or of the decoder
DECODER_BYTES = 1 << 13  # per cell: coefficients or hidden values, in two layouts
FIELD_PER_SIDE = 3  # largest field in tile sides: beyond it nearly all work is for the field
WHOLE = 4  # times MEMORY, for an image that cannot be cut


@dataclass(frozen=True)
class Tile:
    """Rows and columns of the output, with the pixels and cells of the input that they need.

    `pixels` are the rows and columns of the input to encode, `cells` those of them whose features
    the tile reads. All are spans, first ... last + 1, of the whole image.
    """

    rows: Span
    columns: Span
    pixels: tuple[Span, Span]
    cells: tuple[Span, Span]

    def crop_to_cells(self, maps: Tensor) -> Tensor:
        """Crop maps (B, C, h, w) of the tile's pixels to its cells."""
        rows, columns = (
            slice(cells[0] - pixels[0], cells[1] - pixels[0])
            for cells, pixels in zip(self.cells, self.pixels, strict=True)
        )
        return maps[:, :, rows, columns]

    def build_area(self, size: tuple[int, int]) -> RenderArea:
        """Build the area to render, within the whole input of `size` (h, w)."""
        return RenderArea(size, (self.cells[0][0], self.cells[1][0]), self.rows, self.columns)


def cut_tiles(encoder: Encoder, size: tuple[int, int], rows: Tensor, columns: Tensor) -> list[Tile]:
    """Cut an output into tiles of about `MEMORY` bytes; into a single one where that suffices.

    `size` (h, w) is that of the extended input, `rows` and `columns` are the output pixels'
    positions in it: rising, whole numbers being pixel centers. An encoder whose field is too wide
    for tiles of that memory gets one tile of up to `WHOLE` times as much; beyond that raises
    `UserError`.
    """
    (whole,) = _cut_evenly(encoder, size, rows, columns, max(size))
    needed = encoder.estimate_bytes_per_pixel() * _count_pixels(whole.pixels)
    if max(needed, DECODER_BYTES * _count_pixels(whole.cells)) <= MEMORY:
        return [whole]
    side = _compute_side(encoder)
    if side:
        return _cut_evenly(encoder, size, rows, columns, side)
    if needed <= WHOLE * MEMORY:
        return [whole]
    raise UserError(
        f"The receptive field of {type(encoder).__name__} is too wide for tiles, and the "
        f"image of {size[1]}x{size[0]} pixels would take about {needed / 1e9:.0f} GB at once; "
        "use a crop, or a method with an RDN encoder."
    )


def _count_pixels(spans: tuple[Span, Span]) -> int:
    """Count the pixels of a rectangle."""
    return math.prod(last - first for first, last in spans)


def _compute_side(encoder: Encoder) -> int:
    """Compute the largest side of a tile in cells; 0 where the field leaves too few."""
    middle = 1 << 20  # far from any border
    low, high = encoder.compute_receptive_field(middle - REACH, middle + REACH + 1, 2 * middle)
    field = high - low
    room = math.isqrt(MEMORY // encoder.estimate_bytes_per_pixel()) - field
    if FIELD_PER_SIDE * room < field:
        return 0
    return min(room, math.isqrt(MEMORY // DECODER_BYTES))


def _cut_evenly(
    encoder: Encoder, size: tuple[int, int], rows: Tensor, columns: Tensor, side: int
) -> list[Tile]:
    """Cut an output into even tiles that read about `side` cells per side at most."""
    along_y, along_x = (
        _cut_axis(encoder, positions, length, side)
        for positions, length in zip((rows, columns), size, strict=True)
    )
    return [
        Tile(down[0], across[0], (down[1], across[1]), (down[2], across[2]))
        for down in along_y
        for across in along_x
    ]


def _cut_axis(
    encoder: Encoder, positions: Tensor, length: int, side: int
) -> list[tuple[Span, Span, Span]]:
    """Cut an axis of the output: spans of its pixels, of the input's pixels, and of its cells."""

    def find_cell(pixel: int) -> int:
        return math.floor(float(positions[pixel]) + 0.5)

    count = len(positions)
    pieces = -(-(find_cell(count - 1) + 1 - find_cell(0)) // side)
    cuts = [round(count * i / pieces) for i in range(pieces + 1)]
    spans = []
    for first, last in pairwise(sorted(set(cuts))):
        low = max(find_cell(first) - REACH, 0)
        high = min(find_cell(last - 1) + REACH + 1, length)
        field = encoder.compute_receptive_field(low, high, length)
        spans.append(((first, last), field, (low, high)))
    return spans
