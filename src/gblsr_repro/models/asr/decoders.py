"""The interface of arbitrary-scale decoders, and the two implicit ones: LIIF and LTE.

A decoder turns features (B, D, h, w), one vector per low-resolution pixel (a latent cell), into
colors at image coordinates (B, Q, 2), in order (y, x), both axes from -1 to 1 over the image. Its
values are in the normalized range that the model trains in. `cell`, LIIF's word, is the size of a
query's pixel in image coordinates: 2 / H and 2 / W for the pixels of an H x W image.

A fast path is named after what makes it fast.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..base import COLORS, PLAIN, QUERY_CHUNK, Decoder
from ..layers import ONEDNN_BATCH, apply_pointwise, build_module_list, relu
from .local_ensemble import (
    Length,
    RenderArea,
    Taps,
    compute_pixel_taps,
    compute_taps,
    iterate_corners,
)

HOISTED = "hoisted"

Corner = tuple[Tensor, Tensor, Tensor]  # cell (Z, Q), offsets (Z, Q, 2), weight (Z, Q); Z = 1 or B
RenderRows = Callable[[int, int], Tensor]


class QueryDecoder(Decoder):
    """Base class of arbitrary-scale decoders; with `ensemble` four cells blend into every query.

    It is built from the settings of asr.model that its `SETTINGS` name, the encoder's `features`
    and the `largest_scale` that training samples. `query_path` is the fastest path for scattered
    queries and `training_path` the fastest for training samples. `adds_input` says whether the
    model adds the bilinearly enlarged input. On a CPU at most `cpu_pixels` pixels are rendered at
    once, except on the plain path.
    """

    query_path = PLAIN
    training_path = PLAIN
    adds_input = False
    cpu_pixels = sys.maxsize

    def __init__(self, section: Mapping[str, Any], ensemble: bool = True) -> None:
        super().__init__(section)
        self.ensemble = ensemble

    # A subclass overrides these two:

    def compute_maps(self, features: Tensor, path: str) -> Tensor:
        """Compute what depends on the cells alone, once: (B, h w, C) from (B, D, h, w)."""
        raise NotImplementedError

    def evaluate_corners(
        self, maps: Tensor, corners: Iterable[Corner], cell: Tensor, path: str
    ) -> Tensor:
        """Evaluate the colors (B, Q, 3) of queries from the cells at their corners.

        `maps` is (B, h w, C); `cell` (Z, Q or 1, 2) is the size of the queries' pixels in units of
        half a low-resolution cell, that is 2 / scale.
        """
        raise NotImplementedError

    # The model calls these:

    def choose_path(self, cells: tuple[int, int], size: tuple[Length, Length]) -> str:
        """Choose the fastest path to render `size` (H, W) from a map of `cells` (h, w)."""
        return self.paths[0]

    def query(self, features: Tensor, coordinates: Tensor, cell: Tensor) -> Tensor:
        """Evaluate colors (B, Q, 3) at any coordinates (B, Q, 2) with cell (B, Q, 2)."""
        h, w = features.shape[-2:]
        path = self.query_path
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
        area: RenderArea | None = None,
    ) -> Tensor:
        """Render an image of `size` (H, W), or an area of it: (B, 3, rows, columns).

        Works in bands of about `tile_pixels` pixels, a multiple of the row count that
        `prepare_rendering` returns; they change the memory, not the values.
        """
        h, w = features.shape[-2:]
        if features.device.type == "cpu" and path != PLAIN:
            tile_pixels = min(tile_pixels, self.cpu_pixels)
        area = area or RenderArea.cover((h, w), size)
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


class ImplicitDecoder(QueryDecoder):
    """A perceptron that is evaluated for every corner and averaged by the corners' weights.

    On the "hoisted" path, the part of the first layer that depends on a cell alone is computed once
    per cell, and the hidden layers use `apply_pointwise`. To average before the last layer, which
    is linear, saves nothing as measured: averaging `hidden` values moves more memory than averaging
    three.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = (*QueryDecoder.SETTINGS, "hidden")
    paths = (HOISTED, PLAIN)
    query_path = training_path = HOISTED
    cpu_pixels = QUERY_CHUNK  # larger bands take gigabytes and are no faster

    def __init__(self, section: Mapping[str, Any], inputs: int, depth: int) -> None:
        super().__init__(section)
        hidden = section["hidden"]
        widths = [inputs] + [hidden] * depth
        self.hidden = build_module_list(nn.Linear(a, b) for a, b in pairwise(widths))
        self.last = nn.Linear(hidden, COLORS)

    def apply_first_layer(self, cells: Tensor, offsets: Tensor, cell: Tensor, path: str) -> Tensor:
        """Apply the first layer and ReLU to the values of corner cells (B, Q, C)."""
        raise NotImplementedError

    def apply_layer(self, layer: nn.Linear, x: Tensor, path: str) -> Tensor:
        """Apply a linear layer to (B, Q, inputs) and ReLU."""
        return relu(layer(x) if path == PLAIN else apply_pointwise(x, layer.weight, layer.bias))

    def prepare_rendering(
        self, features: Tensor, size: tuple[Length, Length], path: str, area: RenderArea
    ) -> tuple[RenderRows, int]:
        """Build the function that renders rows, as many as `apply_pointwise` divides evenly."""
        render_rows, _ = super().prepare_rendering(features, size, path, area)
        left, right = area.columns
        return render_rows, ONEDNN_BATCH // math.gcd(right - left, ONEDNN_BATCH)

    def evaluate_corners(
        self, maps: Tensor, corners: Iterable[Corner], cell: Tensor, path: str
    ) -> Tensor:
        """Evaluate the perceptron for every corner and add up by weight."""
        total: Any = None  # a tensor from the first corner on
        for index, offsets, weight in corners:
            cells = gather_cells(maps, index)
            x = self.apply_first_layer(cells, offsets.to(maps.dtype), cell, path)
            for layer in self.hidden[1:]:
                x = self.apply_layer(layer, x, path)
            x = weight.to(maps.dtype)[..., None] * self.last(x)
            total = x if total is None else total + x
        return total


class LIIF(ImplicitDecoder):
    """The local implicit image function with feature unfolding, cell decoding, local ensemble.

    The perceptron reads the 3x3 neighborhood of a cell (9 D values), the query's offset from the
    cell's center and the size of its pixel: 9 D + 4 -> 4 hidden layers with ReLU -> 3.
    """

    DEPTH = 4

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__(section, 9 * section["features"] + 4, self.DEPTH)

    def compute_maps(self, features: Tensor, path: str) -> Tensor:
        """Unfold features; on the hoisted path apply the first layer to them as a convolution."""
        if path == PLAIN:
            return F.unfold(features, 3, padding=1).mT.contiguous()
        first = self.hidden[0]
        kernel = first.weight[:, :-4].unflatten(1, (-1, 3, 3))
        return flatten_cells(F.conv2d(features, kernel, first.bias, padding=1))

    def apply_first_layer(self, cells: Tensor, offsets: Tensor, cell: Tensor, path: str) -> Tensor:
        """Apply the first layer and ReLU to features, offset and pixel size."""
        batch, queries, _ = cells.shape
        first = self.hidden[0]
        if path == PLAIN:
            place = [x.expand(batch, queries, 2) for x in (offsets, cell)]
            return relu(first(torch.cat((cells, *place), dim=-1)))
        placed = cells + F.linear(offsets, first.weight[:, -4:-2])
        return relu(placed + F.linear(cell, first.weight[:, -2:]))


class LTE(ImplicitDecoder):
    """The local texture estimator: the perceptron reads a local Fourier series of the features.

    3x3 convolutions compute `hidden` amplitudes and hidden/2 two-dimensional frequencies per cell;
    the phases follow from the pixel's size. amplitude * [cos, sin](pi (frequency . offset + phase))
    -> 3 hidden layers with ReLU -> 3, to which the model adds the bilinearly enlarged input. Both
    paths compute the heads once per cell; the hoisted one also multiplies by pi there. Pixels
    smaller than any seen in training, those beyond `largest_scale`, count as the smallest seen, as
    in LTE's published tests.
    """

    DEPTH = 3
    adds_input = True

    def __init__(self, section: Mapping[str, Any]) -> None:
        hidden = section["hidden"]
        super().__init__(section, hidden, self.DEPTH)
        self.smallest_cell = 2 / section["largest_scale"]
        self.amplitude = nn.Conv2d(self.features, hidden, 3, padding=1)
        self.frequency = nn.Conv2d(self.features, hidden, 3, padding=1)
        self.phase = nn.Linear(2, hidden // 2, bias=False)

    def compute_maps(self, features: Tensor, path: str) -> Tensor:
        """Compute the cells' amplitudes, then their frequencies along y, then along x.

        On the hoisted path the frequencies are multiplied by pi.
        """
        frequency = self.frequency(features)
        if path == HOISTED:
            frequency = math.pi * frequency
        return flatten_cells(torch.cat((self.amplitude(features), frequency), dim=1))

    def apply_first_layer(self, cells: Tensor, offsets: Tensor, cell: Tensor, path: str) -> Tensor:
        """Evaluate the Fourier series and apply the first layer and ReLU."""
        count = self.phase.out_features
        amplitude, along_y, along_x = cells.split((2 * count, count, count), dim=-1)
        phase = self.phase(cell.clamp(min=self.smallest_cell))
        if path == HOISTED:
            angle = torch.addcmul(math.pi * phase, along_y, offsets[..., :1])
            angle = torch.addcmul(angle, along_x, offsets[..., 1:])
        else:
            angle = math.pi * (along_y * offsets[..., :1] + along_x * offsets[..., 1:] + phase)
        waves = torch.cat((angle.cos(), angle.sin()), dim=-1)
        return self.apply_layer(self.hidden[0], amplitude * waves, path)
