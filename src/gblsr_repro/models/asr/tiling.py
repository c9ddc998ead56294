"""Super-resolution of images whose features do not fit the memory: one tile after the other.

What a tile shows depends on the pixels within the encoder's receptive field around it. An encoder
that is given at least those, the image's own border where the field reaches it, computes the very
features that it computes for the whole image; so tiles change the memory and the time, and no
value beyond rounding:

- RDN is a chain of convolutions: its field reaches as many pixels as their kernels' half sides add
  up to, 131 at the paper's size. At the image's border every layer pads with zeros, in a tile that
  ends there as in the whole.
- SwinIR attends within windows that lie on a fixed grid, moved by half a window in every second
  layer. Each layer widens the field to the windows that it touches, about 160 pixels in all at the
  published size. A tile starts on the grid, so its windows are the whole image's; the cut windows
  at its own border are beyond the field.

The field is read twice at every seam, which costs time: tiles are as large as the memory allows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from torch import Tensor, nn

from .model import ASRModel
from .part import REACH, Part, Span
from .rdn import RDN
from .swinir import SwinIR

# Of one tile, in bytes: what the encoder takes at its peak, and what the decoder does.
MEMORY = 1 << 31
DECODER_BYTES = 1 << 13  # per cell: coefficients or hidden values, laid out twice
SMALLEST = 32  # cells of a tile's side, below which the field around it is nearly all


def field(encoder: nn.Module, first: int, last: int, length: int) -> Span:
    """Return the pixels (first, last + 1) of an axis that the features of others depend on.

    The features are those of the cells `first` ... `last` - 1 on an axis of `length`. What is
    returned may be encoded by itself. An encoder that is not known here sees the whole axis.
    """
    if isinstance(encoder, RDN):
        reach = sum(_reach(layer) for layer in encoder.modules() if isinstance(layer, nn.Conv2d))
        return max(first - reach, 0), min(last + reach, length)
    if isinstance(encoder, SwinIR):
        return _windowed(encoder, first, last, length)
    return 0, length


def _reach(layer: nn.Conv2d) -> int:
    return layer.kernel_size[0] // 2


def _windowed(encoder: SwinIR, first: int, last: int, length: int) -> Span:
    """Go back through the layers of SwinIR: a convolution, then whole windows, group by group."""
    side, edge = encoder.window, _reach(encoder.last)
    first, last = first - edge, last + edge
    for group in reversed(encoder.groups):
        first, last = first - _reach(group.conv), last + _reach(group.conv)
        for layer in reversed(group.layers):
            first = _down(first - layer.shift, side) + layer.shift
            last = _up(last - layer.shift, side) + layer.shift
    first, last = first - _reach(encoder.first), last + _reach(encoder.first)
    return max(_down(first, side), 0), min(_up(last, side), length)


def _down(x: int, side: int) -> int:
    return x // side * side


def _up(x: int, side: int) -> int:
    return -(-x // side) * side


def bytes_per_pixel(encoder: nn.Module) -> int:
    """Return about how much an encoder takes for a pixel at its peak, in float32 on the CPU."""
    if isinstance(encoder, RDN):
        return 4 * (2 * encoder.blocks[0].fusion.in_channels + 6 * encoder.features)
    if isinstance(encoder, SwinIR):
        layer = encoder.groups[0].layers[0]
        scores = 2 * layer.attention.heads * encoder.window**2
        return 4 * (8 * encoder.features + scores)
    return 0


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

    def part(self, size: tuple[int, int]) -> Part:
        """Return what to draw of an image that is the whole input of `size` (h, w), enlarged."""
        return Part(size, (self.cells[0][0], self.cells[1][0]), self.rows, self.columns)


def tiles(
    model: ASRModel,
    size: tuple[int, int],
    rows: Tensor,
    columns: Tensor,
    memory: int = MEMORY,
) -> list[Tile]:
    """Cut an output into tiles that take about `memory` bytes each; one where that suffices.

    `size` (h, w) is that of the input, `rows` and `columns` are the output pixels' positions in
    it: rising, whole numbers being pixel centres.
    """
    along_y = _spans(model.encoder, rows, size, 0, memory)
    along_x = _spans(model.encoder, columns, size, 1, memory)
    return [
        Tile(down[0], across[0], (down[1], across[1]), (down[2], across[2]))
        for down in along_y
        for across in along_x
    ]


def _spans(
    encoder: nn.Module, positions: Tensor, size: tuple[int, int], axis: int, memory: int
) -> Sequence[tuple[Span, Span, Span]]:
    """Cut one axis of the output: its pixels, the pixels they read and the cells they read."""
    length, count = size[axis], len(positions)

    def read(first: int, last: int) -> tuple[Span, Span, Span]:
        low, high = (math.floor(float(positions[i]) + 0.5) for i in (first, last - 1))
        cells = max(low - REACH, 0), min(high + REACH + 1, length)
        return (first, last), field(encoder, *cells, length), cells

    whole = read(0, count)
    shown = whole[2][1] - whole[2][0]
    pieces = -(-shown // side(encoder, size, memory))
    cuts = [round(count * i / pieces) for i in range(pieces + 1)]
    return [read(*cut) for cut in pairwise(cuts) if cut[0] < cut[1]]


def side(encoder: nn.Module, size: tuple[int, int], memory: int) -> int:
    """Return how many cells a tile has on each side at most, the field around it left out."""
    each = bytes_per_pixel(encoder)
    if not each or size[0] * size[1] * max(each, DECODER_BYTES) <= memory:
        return max(size)
    middle = 1 << 20  # far from any border
    low, high = field(encoder, middle - REACH, middle + REACH + 1, 2 * middle)
    room = math.isqrt(memory // each) - (high - low)
    return max(min(room, math.isqrt(memory // DECODER_BYTES)), SMALLEST)
