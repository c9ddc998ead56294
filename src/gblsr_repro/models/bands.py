"""Run the native model on large photographs in bands of rows, so that they fit the memory.

Convolutions need a few rows around a band, but GroupNorm divides by the standard deviation of a
group of channels over the whole image. So every layer first passes over the image to collect its
moments, band by band and joined in float64; its normalized output is computed when the next layer
reads it. A map is stored where it is small enough and otherwise recomputed from the one before: at
12 megapixels the first (6 GB) is computed twice, the second (1.5 GB) is the largest that is stored.
The features equal those of the whole image, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..data.images import Pixels, convert_to_batch
from . import native
from .base import QUERY_CHUNK
from .gblsr import SpectralDecoder
from .native import NativeModel

MAP_BYTES = 1_600_000_000  # largest map that is stored; without bands two of them exist at once
BAND_BYTES = 1 << 24  # largest part of a map that is computed at once; its inputs take more
BAND_PIXELS = 1 << 18  # pixels that are rendered at once

Track = Callable[[Sequence[Any]], Iterable[Any]]
Rows = Callable[[int, int], Tensor]  # from rows first ... last + 1 to a map (1, C, rows, W)


@torch.inference_mode()
def encode_in_bands(model: NativeModel, pixels: Pixels, track: Track = iter) -> Tensor:
    """Encode an image, uint8 (H, W, 3), into features (1, D, ceil(H / P), ceil(W / P)).

    Works in bands where the encoder's two largest maps would take more than `MAP_BYTES`.
    `track` receives the list of all bands and yields them one by one, so that it can show progress.
    """
    device = next(model.parameters()).device
    height, width = pixels.shape[:2]
    convolutions = [m for m in model.encoder.layers if isinstance(m, nn.Conv2d)]
    if 2 * 4 * convolutions[0].out_channels * height * width <= MAP_BYTES:
        return model.encode(convert_to_batch(pixels, device))
    pixels = _pad_pixels(pixels, model.decoder.patch)
    source: Rows = lambda first, last: convert_to_batch(pixels[first:last], device)  # noqa: E731
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
            convolve = _build_convolution(convolution, source, size[0])
            moments, stored = Moments(), None if norm else features
            if norm and 4 * convolution.out_channels * size[0] * size[1] <= MAP_BYTES:
                stored = _allocate_map((1, convolution.out_channels, *size), convolution)
        band = convolve(top, bottom)
        moments.add(band)
        if stored is not None:
            stored[:, :, top:bottom] = band
        if bottom == size[0] and norm:
            source = _build_activation(convolve, stored, norm, moments)
    return features


def _pad_pixels(pixels: Pixels, patch: int) -> Pixels:
    """Pad 8-bit pixels (H, W, 3) as `native.pad_images` pads tensors."""
    height, width = pixels.shape[:2]
    left, right, top, bottom = native.compute_padding(height, width, patch)
    reflects = max(top, bottom) < height and max(left, right) < width
    sides = ((top, bottom), (left, right), (0, 0))
    return np.pad(pixels, sides, mode="reflect" if reflects else "edge")


def _allocate_map(shape: tuple[int, ...], convolution: nn.Conv2d) -> Tensor:
    """Allocate a map in the memory format of the convolution's output, to copy whole rows."""
    weight = convolution.weight
    last = weight.is_contiguous(memory_format=torch.channels_last)
    layout = torch.channels_last if last else torch.contiguous_format
    return torch.empty(shape, device=weight.device, memory_format=layout)


def _build_convolution(convolution: nn.Conv2d, source: Rows, height: int) -> Rows:
    """Build the function that computes rows of a 3x3 convolution's output of `height` rows."""
    stride = convolution.stride[0]

    def convolve(first: int, last: int) -> Tensor:
        low, high = stride * first - 1, stride * (last - 1) + 2
        above, below = int(low < 0), int(high > stride * height)
        inputs = F.pad(source(low + above, high - below), (1, 1, above, below))
        return F.conv2d(inputs, convolution.weight, convolution.bias, stride)

    return convolve


class Moments:
    """Accumulate mean and variance of every channel over bands of rows."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = self.squares = torch.zeros((), dtype=torch.float64)

    def add(self, band: Tensor) -> None:
        """Add a band (1, C, rows, W); sums of squares are about its mean."""
        variance, mean = (m.double() for m in torch.var_mean(band, (0, 2, 3), correction=0))
        count = band.shape[2] * band.shape[3]
        total, step = self.count + count, mean - self.mean.to(mean.device)
        squares = self.squares.to(mean.device) + count * variance
        self.squares = squares + step.square() * (self.count * count / total)
        self.mean = mean - step * (self.count / total)
        self.count = total

    def compute_scale_and_shift(self, norm: nn.GroupNorm) -> tuple[Tensor, Tensor]:
        """Compute the factor and the summand that normalize a channel: (C, 1, 1), float32."""
        mean, variance = (m.view(norm.num_groups, -1) for m in (self.mean, self.squares))
        group = mean.mean(1, keepdim=True)
        spread = (variance / self.count + (mean - group).square()).mean(1, keepdim=True)
        rate = (spread + norm.eps).rsqrt()
        scale = norm.weight.double() * rate.expand_as(mean).flatten()
        shift = norm.bias.double() - group.expand_as(mean).flatten() * scale
        return scale.float()[:, None, None], shift.float()[:, None, None]


def _build_activation(
    convolve: Rows, stored: Tensor | None, norm: nn.GroupNorm, moments: Moments
) -> Rows:
    """Build the function that normalizes and activates rows, from `stored` or recomputed."""
    scale, shift = moments.compute_scale_and_shift(norm)

    def activate(first: int, last: int) -> Tensor:
        rows = convolve(first, last) if stored is None else stored[:, :, first:last].clone()
        return F.silu(rows.mul_(scale).add_(shift), inplace=True)

    return activate


@torch.inference_mode()
def render_in_bands(
    model: NativeModel, features: Tensor, size: tuple[int, int], track: Track = iter
) -> Iterator[tuple[int, Tensor]]:
    """Render an image of `size` (H, W) in bands: yields first row and colors (1, 3, rows, W).

    GB-LSR's patches are independent, so it renders rows of patches on the grid. Other arms query
    every pixel of a large image, since they render grids of whole images only.
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
