"""The native model on photographs whose maps do not fit the memory: band after band of rows.

Convolutions need a few rows around a band, but GroupNorm divides by the spread of a group of
channels over the whole image. So every layer goes through the image once to gather its moments,
band by band and joined in float64, and its normalized output is made when the next layer asks for
it. A map is kept where it is small enough and otherwise made again from the one before: at 12
megapixels the first (6 GB) is made twice, the second (1.5 GB) is the largest that is kept. The
features are those that the encoder gives for the whole image, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..data.images import Pixels
from . import native
from .base import QUERY_CHUNK
from .decoders import SpectralDecoder
from .native import NativeModel

KEPT_BYTES = 1_600_000_000  # of a map that is kept; twice as much lives at once without bands
BAND_BYTES = 1 << 24  # of the rows of a map that are made at once; those they are made of take more
BAND_PIXELS = 1 << 18  # rendered at once

Track = Callable[[Sequence[Any]], Iterable[Any]]
Rows = Callable[[int, int], Tensor]  # from rows first ... last + 1 to a map (1, C, rows, W)


@torch.inference_mode()
def encode_in_bands(
    model: NativeModel, pixels: Pixels, track: Track = iter, kept: int = KEPT_BYTES
) -> Tensor:
    """Return the features (1, D, ceil(H / P), ceil(W / P)) of an image, uint8 (H, W, 3).

    In bands where the encoder's largest maps would take more than `kept` bytes. `track` is given
    the list of all bands and yields them one by one, as it likes to show how far it is.
    """
    device = next(model.parameters()).device
    height, width = pixels.shape[:2]
    convolutions = [m for m in model.encoder.layers if isinstance(m, nn.Conv2d)]
    if 2 * 4 * convolutions[0].out_channels * height * width <= kept:
        return model.encode(convert_to_tensor(pixels, device))
    pixels = _pad_pixels(pixels, model.decoder.patch)
    source: Rows = lambda first, last: convert_to_tensor(pixels[first:last], device)  # noqa: E731
    norms = [m for m in model.encoder.layers if isinstance(m, nn.GroupNorm)]
    layers = list(zip(convolutions, [*norms, None], strict=True))
    size, plan = pixels.shape[:2], []
    for layer, (convolution, _) in enumerate(layers):
        size = tuple(length // convolution.stride[0] for length in size)
        rows = max(BAND_BYTES // (4 * convolution.out_channels * size[1]), 1)
        plan += [(layer, size, top, min(top + rows, size[0])) for top in range(0, size[0], rows)]
    features = _allocate_map((1, convolution.out_channels, *size), convolution)
    for layer, size, top, bottom in track(plan):
        convolution, norm = layers[layer]
        if top == 0:
            made = _build_convolution(convolution, source, size[0])
            moments, whole = Moments(), None if norm else features
            if norm and 4 * convolution.out_channels * size[0] * size[1] <= kept:
                whole = _allocate_map((1, convolution.out_channels, *size), convolution)
        band = made(top, bottom)
        moments.add(band)
        if whole is not None:
            whole[:, :, top:bottom] = band
        if bottom == size[0] and norm:
            source = _build_activation(made, whole, norm, moments)
    return features


def convert_to_tensor(pixels: Pixels, device: torch.device) -> Tensor:
    """Return 8-bit colors (H, W, 3) as (1, 3, H, W) in [0, 1]."""
    rows = torch.from_numpy(np.ascontiguousarray(pixels)).to(device)
    return rows.permute(2, 0, 1)[None].float() / 255


def _pad_pixels(pixels: Pixels, patch: int) -> Pixels:
    """Do to 8-bit pixels (H, W, 3) what `native.pad` does to tensors."""
    height, width = pixels.shape[:2]
    left, right, top, bottom = native.compute_padding(height, width, patch)
    reflects = max(top, bottom) < height and max(left, right) < width
    sides = ((top, bottom), (left, right), (0, 0))
    return np.pad(pixels, sides, mode="reflect" if reflects else "edge")


def _allocate_map(shape: tuple[int, ...], convolution: nn.Conv2d) -> Tensor:
    """Return an empty map laid out as the convolution writes it, so that rows are copied whole."""
    weight = convolution.weight
    last = weight.is_contiguous(memory_format=torch.channels_last)
    layout = torch.channels_last if last else torch.contiguous_format
    return torch.empty(shape, device=weight.device, memory_format=layout)


def _build_convolution(convolution: nn.Conv2d, source: Rows, height: int) -> Rows:
    """Return the rows of a 3x3 convolution's output, which has `height` in all."""
    stride = convolution.stride[0]

    def rows(first: int, last: int) -> Tensor:
        low, high = stride * first - 1, stride * (last - 1) + 2
        above, below = int(low < 0), int(high > stride * height)
        given = F.pad(source(low + above, high - below), (1, 1, above, below))
        return F.conv2d(given, convolution.weight, convolution.bias, stride)

    return rows


class Moments:
    """Mean and variance of every channel, from bands of rows that are added one by one."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = self.squares = torch.zeros((), dtype=torch.float64)

    def add(self, band: Tensor) -> None:
        """Take in a band (1, C, rows, W); sums of squares are about each band's own mean."""
        variance, mean = (m.double() for m in torch.var_mean(band, (0, 2, 3), correction=0))
        count = band.shape[2] * band.shape[3]
        total, step = self.count + count, mean - self.mean.to(mean.device)
        squares = self.squares.to(mean.device) + count * variance
        self.squares = squares + step.square() * (self.count * count / total)
        self.mean = mean - step * (self.count / total)
        self.count = total

    def scale_and_shift(self, norm: nn.GroupNorm) -> tuple[Tensor, Tensor]:
        """Return what a channel is multiplied by and what is added: each (C, 1, 1), float32."""
        mean, variance = (m.view(norm.num_groups, -1) for m in (self.mean, self.squares))
        group = mean.mean(1, keepdim=True)
        spread = (variance / self.count + (mean - group).square()).mean(1, keepdim=True)
        rate = (spread + norm.eps).rsqrt()
        scale = norm.weight.double() * rate.expand_as(mean).flatten()
        shift = norm.bias.double() - group.expand_as(mean).flatten() * scale
        return scale.float()[:, None, None], shift.float()[:, None, None]


def _build_activation(
    made: Rows, whole: Tensor | None, norm: nn.GroupNorm, moments: Moments
) -> Rows:
    """Return rows normalized and activated: those kept in `whole`, or made again."""
    scale, shift = moments.scale_and_shift(norm)

    def rows(first: int, last: int) -> Tensor:
        own = made(first, last) if whole is None else whole[:, :, first:last].clone()
        return F.silu(own.mul_(scale).add_(shift), inplace=True)

    return rows


@torch.inference_mode()
def render_in_bands(
    model: NativeModel, features: Tensor, size: tuple[int, int], track: Track = iter
) -> Iterator[tuple[int, Tensor]]:
    """Yield an image of `size` (H, W) in bands: the first row and the colors (1, 3, rows, W).

    GB-LSR's patches do not depend on each other, so rows of patches are rendered on the grid. Of
    the other arms every pixel of a large image is queried, since their grids are for whole images.
    """
    decoder, (height, width) = model.decoder, size
    if height * width <= BAND_PIXELS:
        yield 0, model.decode(features, height, width)
        return
    left, _, above, _ = native.compute_padding(height, width, decoder.patch)
    if isinstance(decoder, SpectralDecoder):
        rows = max(BAND_PIXELS // (decoder.patch * width), 1)
        for first in track(range(0, features.shape[2], rows)):
            band = decoder.render(features[:, :, first : first + rows])
            start = first * decoder.patch - above  # where in the image the band begins
            low, high = max(start, 0), min(start + band.shape[2], height)
            yield low, band[:, :, low - start : high - start, left : left + width]
        return
    columns = torch.arange(width, dtype=torch.float64, device=features.device) + left
    rows = max(BAND_PIXELS // width, 1)
    for top in track(range(0, height, rows)):
        lines = torch.arange(top, min(top + rows, height), dtype=torch.float64) + above
        positions = torch.cartesian_prod(lines.to(columns.device), columns)[None]
        parts = positions.split(QUERY_CHUNK, dim=1)
        colors = torch.cat([decoder.query(features, part) for part in parts], dim=1)
        yield top, colors.mT.reshape(1, -1, len(lines), width)
