"""Super-resolution of images whose features do not fit the memory: one tile after the other.

What a tile shows depends on the pixels within the encoder's receptive field around it. An encoder
that is given at least those, the image's own border where the field reaches it, computes the very
features that it computes for the whole image; so tiles change the memory and the time, and no
value beyond rounding:

- RDN's field reaches 131 pixels at the paper's size. At the image's border every layer pads with
  zeros, in a tile that ends there as in the whole.
- SwinIR's field is 152 pixels at the published size. A tile starts on its grid of windows, which
  are so the whole image's; the cut windows at its own border are beyond the field. At 18 kB a pixel
  the published size has no room for more than the field: it enlarges up to half a megapixel in one
  piece, and of larger images crops.

The field is read twice at every seam, which costs time: tiles are as large as the memory allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from torch import Tensor

from ...errors import UserError
from ..base import Encoder
from .local_ensemble import REACH, RenderArea, Span
from .model import ASRModel

MEMORY = 1 << 31  # bytes of one tile: what the encoder takes at its peak, or the decoder
DECODER_BYTES = 1 << 13  # per cell: coefficients or hidden values, laid out twice
SMALLEST = 3  # the field goes at most so often into a tile's side: else nearly all work is for it
WHOLE = 4  # times MEMORY, for an image that cannot be cut


@dataclass(frozen=True)
class Tile:
    """Rows and columns of the output, and what they are made from.

    `pixels` are the rows and columns of the input to encode, `cells` those of them whose features
    the tile reads. All are spans, first ... last + 1, of the whole image.
    """

    rows: Span
    columns: Span
    pixels: tuple[Span, Span]
    cells: tuple[Span, Span]

    def own(self, maps: Tensor) -> Tensor:
        """Return the cells of maps (B, C, h, w) of the encoded pixels."""
        rows, columns = (
            slice(cells[0] - pixels[0], cells[1] - pixels[0])
            for cells, pixels in zip(self.cells, self.pixels, strict=True)
        )
        return maps[:, :, rows, columns]

    def part(self, size: tuple[int, int]) -> RenderArea:
        """Return what to draw of the whole input of `size` (h, w), enlarged."""
        return RenderArea(size, (self.cells[0][0], self.cells[1][0]), self.rows, self.columns)


def cut_tiles(
    model: ASRModel,
    size: tuple[int, int],
    rows: Tensor,
    columns: Tensor,
    memory: int = MEMORY,
) -> list[Tile]:
    """Cut an output into tiles that take about `memory` bytes each; one where that suffices.

    `size` (h, w) is that of the input as it is extended, `rows` and `columns` are the output
    pixels' positions in it: rising, whole numbers being pixel centers. An encoder whose field is
    too wide for tiles of that much memory gets one tile of up to `WHOLE` times as much; beyond
    that `UserError`.
    """
    (whole,) = _cut_evenly(model.encoder, size, rows, columns, max(size))
    needed = model.encoder.bytes_per_pixel() * _count_pixels(whole.pixels)
    if max(needed, DECODER_BYTES * _count_pixels(whole.cells)) <= memory:
        return [whole]
    side = _compute_side(model.encoder, memory)
    if side:
        return _cut_evenly(model.encoder, size, rows, columns, side)
    if needed <= WHOLE * memory:
        return [whole]
    raise UserError(
        f"{type(model.encoder).__name__} sees too far around a pixel to work in tiles and would "
        f"take about {needed / 1e9:.0f} GB for {size[1]}x{size[0]} pixels; take a crop, or a "
        "method with an RDN encoder."
    )


def _count_pixels(spans: tuple[Span, Span]) -> int:
    return math.prod(last - first for first, last in spans)


def _compute_side(encoder: Encoder, memory: int) -> int:
    """Return how many cells a tile has on each side at most, 0 where the field leaves too few."""
    middle = 1 << 20  # far from any border
    low, high = encoder.field(middle - REACH, middle + REACH + 1, 2 * middle)
    room = math.isqrt(memory // encoder.bytes_per_pixel()) - (high - low)
    return min(room, math.isqrt(memory // DECODER_BYTES)) if SMALLEST * room >= high - low else 0


def _cut_evenly(
    encoder: Encoder, size: tuple[int, int], rows: Tensor, columns: Tensor, side: int
) -> list[Tile]:
    """Cut an output into even tiles that read at most `side` cells a side, or little more."""
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
    """Cut one axis of the output: its pixels, the pixels they read and the cells they read."""

    def cell(pixel: int) -> int:
        return math.floor(float(positions[pixel]) + 0.5)

    count = len(positions)
    pieces = -(-(cell(count - 1) + 1 - cell(0)) // side)
    cuts = [round(count * i / pieces) for i in range(pieces + 1)]
    spans = []
    for first, last in pairwise(sorted(set(cuts))):
        low, high = max(cell(first) - REACH, 0), min(cell(last - 1) + REACH + 1, length)
        spans.append(((first, last), encoder.field(low, high, length), (low, high)))
    return spans
