"""The arbitrary-scale super-resolution model: an encoder, a decoder and the ways to ask them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from ...config import Config, Method
from ...runtime import seed_everything
from ..base import (
    PLAIN,
    QUERY_CHUNK,
    Encoder,
    Model,
    count_parameters_by_shape,
    find_class,
    parse_options,
    select_class_settings,
)
from . import decoders, local_spectral, rdn, swinir
from .decoders import QueryDecoder
from .local_ensemble import Length, RenderArea, compute_pixel_taps, compute_shown_size


def normalize(images: Tensor) -> Tensor:
    """Map values in [0, 1] to the range [-1, 1] that networks and losses work in."""
    return (images - 0.5) / 0.5


def denormalize(values: Tensor) -> Tensor:
    """Undo `normalize`."""
    return values.mul(0.5).add_(0.5)


class ASRModel(Model):
    """Encodes a low-resolution image once and shows it at any size, anywhere.

    Colors are normalized and denormalized in here and nowhere else. Coordinates are (y, x), each
    from -1 to 1 between the outer edges of the image.

    Only the encoder runs in a lower precision under autocast; basis and coordinates need the
    precision of the weights.
    """

    encoder: Encoder
    decoder: QueryDecoder

    def prepared(self, images: Tensor) -> Tensor:
        """Return the images normalized."""
        return normalize(images)

    def forward(
        self, images: Tensor, sizes: Tensor, pixels: Tensor, path: str | None = None
    ) -> Tensor:
        """Return chosen pixels of enlarged images, for training: (B, Q, 3).

        `images` (B, 3, h, w); sample b is shown at `sizes`[b] = (H, W) and asked for the rows and
        columns `pixels` (B, Q, 2); both int64. Differentiable; the fastest path unless named.
        """
        features = self.encode(images, path)
        path = self._take(path or self.decoder.training_path)
        with torch.autocast(features.device.type, enabled=False):
            values = self.decoder.sample(self._full(features), sizes, pixels, path)
            if self.decoder.adds_input:
                coordinates = (2 * pixels + 1).to(values.dtype) / sizes[:, None] - 1
                values = values + enlarge_at(normalize(images), coordinates)
            return denormalize(values)

    def query(
        self,
        features: Tensor,
        coordinates: Tensor,
        cell: Tensor,
        images: Tensor | None = None,
        chunk: int = QUERY_CHUNK,
    ) -> Tensor:
        """Return colors (B, Q, 3) at coordinates (B, Q, 2) of features (B, D, h, w).

        `cell` (B, Q, 2) is the size of each query's pixel in coordinates: (2 / H, 2 / W) for an
        H x W image. `images` (B, 3, h, w) are the encoder's input; LTE needs them (`ValueError`
        without). Memory is bounded for any Q: `chunk` queries of each image at once. Float64
        coordinates keep the most digits: an error e in a coordinate becomes pi p s n e / 2 in the
        argument of the highest mode, on an axis of n cells.
        """
        self._take(self.decoder.query_path)
        with torch.autocast(features.device.type, enabled=False):
            values = self.decoder.query(self._full(features), coordinates, cell, chunk)
            if self.decoder.adds_input:
                if images is None:
                    raise ValueError("this decoder adds the enlarged input: give query the images")
                values = values + enlarge_at(normalize(images), coordinates.to(values.dtype))
            return denormalize(values)

    def render(
        self, images: Tensor, height: int, width: int, tile_pixels: int, path: str | None = None
    ) -> Tensor:
        """Show images (B, 3, h, w) at height x width: (B, 3, height, width).

        Takes the fastest exact path, or the one named. About `tile_pixels` output pixels are
        decoded at once, at least one row of cells; it bounds the memory and changes no value.

        What the encoder adds to the images (`extend`) is cropped from what is shown. The plain path
        decodes all of it first, as published; the others decode what is shown alone.
        """
        whole = self.encoder.extend(images)
        features = self.encode(whole, path)
        cells = (whole.shape[-2], whole.shape[-1])
        size = compute_shown_size(cells, (images.shape[-2], images.shape[-1]), (height, width))
        part = None if path == PLAIN else RenderArea(cells, (0, 0), (0, height), (0, width))
        shown = self.decode(features, *size, tile_pixels, whole, path, part)
        return shown[..., :height, :width]

    def decode(
        self,
        features: Tensor,
        height: Length,
        width: Length,
        tile_pixels: int,
        images: Tensor,
        path: str | None = None,
        part: RenderArea | None = None,
    ) -> Tensor:
        """Show features (B, D, h, w) of `images` (B, 3, h, w) as `render` does, cropping nothing.

        With `part`, features and images are those of a part of the map and the result is that part
        of the image, (B, 3, rows, columns); the size is still what the whole map shows.
        """
        size = (height, width)
        part = part or RenderArea.whole((features.shape[-2], features.shape[-1]), size)
        path = self._take(path or self.decoder.fastest(part.cells, size))
        with torch.autocast(features.device.type, enabled=False):
            values = self.decoder.render(self._full(features), size, tile_pixels, path, part)
            if self.decoder.adds_input:
                values = values + enlarge_area(normalize(images), size, part)
            return denormalize(values)

    def _full(self, features: Tensor) -> Tensor:
        return features.to(next(self.decoder.parameters()).dtype)


def enlarge_at(images: Tensor, coordinates: Tensor) -> Tensor:
    """Interpolate images (B, C, h, w) bilinearly at coordinates (B, Q, 2): (B, Q, C)."""
    grid = coordinates.flip(-1)[:, None]
    found = F.grid_sample(images, grid, padding_mode="border", align_corners=False)
    return found[:, :, 0].mT


def enlarge_area(images: Tensor, size: tuple[Length, Length], part: RenderArea) -> Tensor:
    """Interpolate a part of images (B, C, h, w) of `size` bilinearly: (B, C, rows, columns)."""
    shape = (part.rows[1] - part.rows[0], part.columns[1] - part.columns[0])
    if shape == size:
        return F.interpolate(images, shape, mode="bilinear")
    for dim, span in ((2, part.rows), (3, part.columns)):
        pixels = torch.arange(*span, device=images.device)
        taps = compute_pixel_taps(pixels, size[dim - 2], part.cells[dim - 2], ensemble=True)
        lower, upper = (images.index_select(dim, c - part.origin[dim - 2]) for c in taps.latent)
        share = taps.weight[1].to(images.dtype)
        images = torch.lerp(lower, upper, share[:, None] if dim == 2 else share)
    return images


# --- from a row of config/methods.tsv to a model -----------------------------------------------


def build_model(method: Method, config: Config, seed: int) -> ASRModel:
    """Build an untrained method from the whole configuration; every draw follows from `seed`.

    Seeds all generators, then makes the encoder first, so methods of one seed and encoder start
    from the same encoder. The model is on the CPU, in training mode. Raises `UserError` for a
    name or an option that does not exist.
    """
    seed_everything(seed)
    return assemble_model(method, config)


def assemble_model(method: Method, config: Config) -> ASRModel:
    """Do what `build` does with the generators as they are."""
    section, parts = config["asr"]["model"], find_classes(method)
    make_encoder, make_decoder = parts
    given = [select_class_settings(part, section, "asr.model") for part in parts]
    options = parse_options(method.options, parts, f"config/methods.tsv, method {method.method}")
    encoder = make_encoder(given[0], **options[0])
    largest = config["asr"]["training"]["scale_range"][1]
    sizes = {"features": encoder.features, "largest_scale": largest}
    return ASRModel(encoder, make_decoder(given[1] | sizes, **options[1]))


def find_classes(method: Method) -> tuple[type[Encoder], type[QueryDecoder]]:
    """Return the classes of a method's encoder and decoder; `UserError` where there is none."""
    place = f"config/methods.tsv, method {method.method}"
    return (
        find_class(method.encoder, Encoder, (rdn, swinir), f"{place}: encoder"),
        find_class(method.decoder, QueryDecoder, (decoders, local_spectral), f"{place}: decoder"),
    )


def count_model_parameters(method: Method, config: Config) -> int:
    """Return the number of trainable parameters that a method has, from its shapes alone."""
    return count_parameters_by_shape(lambda: assemble_model(method, config))
