"""The arbitrary-scale super-resolution model: an encoder and a decoder, rendered or queried."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ...config import Config
from ..base import COLORS, PLAIN, Encoder, Model
from .decoders import QueryDecoder
from .local_ensemble import Length, RenderArea, compute_pixel_taps, compute_shown_size


def normalize(images: Tensor) -> Tensor:
    """Map values from [0, 1] to the range [-1, 1] that networks and losses work in."""
    return (images - 0.5) / 0.5


def denormalize(values: Tensor) -> Tensor:
    """Map values from [-1, 1] back to [0, 1], undoing `normalize`."""
    return values.mul(0.5).add_(0.5)


NORMALIZED, UNIT = "normalized", "unit"
"""The ranges of values that a network takes and gives: [-1, 1] as trained here, or [0, 1]."""


class ASRModel(Model):
    """Encode a low-resolution image once and decode it at any size or coordinates.

    Only this class normalizes and denormalizes colors, unless `colors` says that the network was
    trained on values in [0, 1]. Coordinates are (y, x), both from -1 to 1 between the outer edges
    of the image.

    Only the encoder runs in a lower precision under autocast; basis and coordinates need the
    precision of the weights.
    """

    benchmark, subject = "asr", "method"
    bases = (Encoder, QueryDecoder)
    encoder: Encoder
    decoder: QueryDecoder
    colors = NORMALIZED

    @classmethod
    def describe_input(cls, encoder: Encoder, config: Config) -> dict[str, Any]:
        """Describe the decoder's input: the encoder's features and the largest trained scale."""
        largest = config["asr"]["training"]["scale_range"][1]
        return {"features": encoder.features, "largest_scale": largest}

    def prepare_images(self, images: Tensor) -> Tensor:
        """Convert images with values in [0, 1] to the range that the network takes."""
        return images if self.colors == UNIT else normalize(images)

    def restore_colors(self, values: Tensor) -> Tensor:
        """Convert outputs of the network to colors in [0, 1]; may overwrite `values`."""
        return values if self.colors == UNIT else denormalize(values)

    def forward(
        self, images: Tensor, sizes: Tensor, pixels: Tensor, path: str | None = None
    ) -> Tensor:
        """Compute single pixels of enlarged images, for training: (B, Q, 3).

        `images` (B, 3, h, w); image b is enlarged to `sizes`[b] = (H, W) and sampled at the rows
        and columns `pixels` (B, Q, 2); both int64. Differentiable; `path` defaults to the decoder's
        first. Raises `UserError` when the decoder gives colors of another shape or type.
        """
        features = self.encode(images, path)
        path = self._select_path(path or self.decoder.paths[0])
        with torch.autocast(features.device.type, enabled=False):
            features = self._match_precision(features)
            values = self.decoder.sample(features, sizes, pixels, path)
            self.decoder.check_colors(values, (*pixels.shape[:2], COLORS), features)
            if self.decoder.adds_input:
                coordinates = (2 * pixels + 1).to(values.dtype) / sizes[:, None] - 1
                values = values + enlarge_at(self.prepare_images(images), coordinates)
            return self.restore_colors(values)

    def query(self, features: Tensor, coordinates: Tensor, cell: Tensor, images: Tensor) -> Tensor:
        """Evaluate colors (B, Q, 3) at coordinates (B, Q, 2) from features (B, D, h, w).

        `cell` (B, Q, 2) is the size of every query's pixel in coordinates: (2 / H, 2 / W) for an
        H x W image; `images` (B, 3, h, w) are the encoder's input. Memory is bounded for any Q.
        Float64 coordinates keep the most digits: an error e in a coordinate becomes pi p s n e / 2
        in the argument of the highest mode, on an axis of n cells.
        """
        with torch.autocast(features.device.type, enabled=False):
            values = self.decoder.query(self._match_precision(features), coordinates, cell)
            if self.decoder.adds_input:
                enlarged = enlarge_at(self.prepare_images(images), coordinates.to(values.dtype))
                values = values + enlarged
            return self.restore_colors(values)

    def render(
        self, images: Tensor, height: int, width: int, tile_pixels: int, path: str | None = None
    ) -> Tensor:
        """Enlarge images (B, 3, h, w) to height x width: (B, 3, height, width).

        `path` defaults to the fastest exact one. About `tile_pixels` output pixels are decoded at
        once, at least one row of cells; this bounds the memory and changes no value.

        The encoder may extend the images (`extend_images`); the output of the extension is cropped.
        The plain path decodes it first, as published; the others decode only what remains.
        """
        extended = self.encoder.extend_images(images)
        features = self.encode(extended, path)
        cells = (extended.shape[-2], extended.shape[-1])
        size = compute_shown_size(cells, (images.shape[-2], images.shape[-1]), (height, width))
        area = None if path == PLAIN else RenderArea(cells, (0, 0), (0, height), (0, width))
        enlarged = self.decode(features, *size, tile_pixels, extended, path, area)
        return enlarged[..., :height, :width]

    def decode(
        self,
        features: Tensor,
        height: Length,
        width: Length,
        tile_pixels: int,
        images: Tensor,
        path: str | None = None,
        area: RenderArea | None = None,
    ) -> Tensor:
        """Decode features (B, D, h, w) of `images` (B, 3, h, w) as `render` does, without cropping.

        With `area`, features and images are those of a part of the map and the result is that area
        of the image, (B, 3, rows, columns); height and width are still those of the whole map.
        """
        size = (height, width)
        area = area or RenderArea.cover((features.shape[-2], features.shape[-1]), size)
        path = self._select_path(path or self.decoder.choose_path(area.cells, size))
        with torch.autocast(features.device.type, enabled=False):
            features = self._match_precision(features)
            values = self.decoder.render(features, size, tile_pixels, path, area)
            if self.decoder.adds_input:
                values = values + enlarge_area(self.prepare_images(images), size, area)
            return self.restore_colors(values)

    def _match_precision(self, features: Tensor) -> Tensor:
        """Convert features to the precision of the decoder's weights."""
        return features.to(next(self.decoder.parameters()).dtype)


def enlarge_at(images: Tensor, coordinates: Tensor) -> Tensor:
    """Interpolate images (B, C, h, w) bilinearly at coordinates (B, Q, 2): (B, Q, C)."""
    grid = coordinates.flip(-1)[:, None]
    colors = F.grid_sample(images, grid, padding_mode="border", align_corners=False)
    return colors[:, :, 0].mT


def enlarge_area(images: Tensor, size: tuple[Length, Length], area: RenderArea) -> Tensor:
    """Interpolate an area of images (B, C, h, w) of `size` bilinearly: (B, C, rows, columns)."""
    shape = (area.rows[1] - area.rows[0], area.columns[1] - area.columns[0])
    if shape == size:
        return F.interpolate(images, shape, mode="bilinear")
    for dim, span in ((2, area.rows), (3, area.columns)):
        pixels = torch.arange(*span, device=images.device)
        taps = compute_pixel_taps(pixels, size[dim - 2], area.cells[dim - 2], ensemble=True)
        lower, upper = (images.index_select(dim, c - area.origin[dim - 2]) for c in taps.latent)
        share = taps.weight[1].to(images.dtype)
        images = torch.lerp(lower, upper, share[:, None] if dim == 2 else share)
    return images
