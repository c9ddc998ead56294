"""Apply trained models to a user's own images.

Three lines do the common things; the command line has the same names:

    model = inference.load_native("results/native/runs/gblsr_scalar/seed0")
    code = inference.encode(model, inference.read("photo.jpg"))
    inference.write("zoomed.png", inference.decode(code, scale=3.7, crop=(100, 100, 200, 200)))

Positions are pixels of the original image, (top, left, bottom, right), whole numbers being pixel
edges; scales are output pixels per original pixel, any positive number. Sizes are rounded half up.
Below a scale of 1 an image is drawn at its own size and then reduced with an antialiased filter.
Colors under transparent pixels have no part in what is visible (`image_io.photo`).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from .data.images import Pixels, read_content
from .errors import UserError
from .files import write_bytes
from .image_io import Box, Photo, Tags
from .image_io import read as read
from .image_io import write as write
from .image_io.photo import Size, extend_visible_colors, paint, reduce, resize_alpha
from .image_io.window import Target, Window
from .image_io.window import select_window as select_window
from .models import bands, native, spectral
from .models.asr import tiling
from .models.asr.local_ensemble import RenderArea, compute_shown_size
from .models.asr.model import ASRModel
from .models.bands import Track
from .models.gblsr import SpectralDecoder
from .models.native import NativeModel
from .runs import load_run
from .runtime import prepare_for_inference
from .weights import compute_checksum, parse_tensors

CODE_FORMAT = "gblsr-code-1"
BYTE_TAGS = ("profile", "exif")  # fields of a code's tags that are stored as tensors of bytes
TRAINED_SIDE = 48  # pixels of a side in the training of super-resolution (asr.training.lr_patch)
MIRRORED = 8  # least pixels added around smaller images: flat colors are then off by 2 levels


@dataclass(frozen=True)
class Code:
    """An encoded image: all that decoding needs, no network weights.

    `coefficients` (3, p, p, h, w) float32 with the cutoff applied; `bandwidth` (h, w); `patch`
    pixels per patch side; `top`, `left` the padding before the image of `size` (H, W) pixels;
    `arm` the arm that encoded it; `alpha`, `gray` and `tags` those of the `Photo`.
    """

    coefficients: Tensor
    bandwidth: Tensor
    patch: int
    top: int
    left: int
    size: Size
    arm: str
    alpha: Pixels | None = None
    gray: bool = False
    tags: Tags = field(default_factory=Tags)


def load_native(path: Path | str, device: torch.device | None = None) -> NativeModel:
    """Load a trained arm from its run folder or from a weights file, as `runs.load_run` does."""
    return prepare_for_inference(load_run(path, NativeModel), device or torch.device("cpu"))


def load_superres(path: Path | str, device: torch.device | None = None) -> ASRModel:
    """Load a trained super-resolution method from its run folder or from a weights file."""
    return prepare_for_inference(load_run(path, ASRModel), device or torch.device("cpu"))


@torch.inference_mode()
def reconstruct(model: NativeModel, photo: Photo, track: Track = iter) -> Photo:
    """Encode and decode a photo at its own size.

    Large photos go in bands, which changes no value beyond rounding. Here and below `track` gets
    the list of them and yields one after the other, so that it can show the progress.
    """
    features = bands.encode_in_bands(model, extend_visible_colors(photo), track)
    parts = (
        (top, 0, colors)
        for top, colors in bands.render_in_bands(model, features, photo.size, track)
    )
    return _make_photo(photo, select_window(photo.size), parts)


@torch.inference_mode()
def encode(model: NativeModel, photo: Photo, track: Track = iter) -> Code:
    """Encode a photo into coefficients and bandwidths; only arms of the GB-LSR family can."""
    decoder = model.decoder
    if not isinstance(decoder, SpectralDecoder):
        raise UserError(
            f"{type(decoder).__name__} keeps no coefficients to store; use a GB-LSR arm."
        )
    features = bands.encode_in_bands(model, extend_visible_colors(photo), track)
    left, _, top, _ = native.compute_padding(*photo.size, decoder.patch)
    coefficients, bandwidth = (
        # A map of one patch is contiguous to torch whatever its strides, which cannot be stored.
        values[0].float().cpu().clone(memory_format=torch.contiguous_format)
        for values in decoder.compute_coefficients(features)
    )
    return Code(
        coefficients,
        bandwidth,
        decoder.patch,
        top,
        left,
        photo.size,
        model.name,
        photo.alpha,
        photo.gray,
        photo.tags,
    )


def save_code(path: Path | str, code: Code) -> None:
    """Write an encoded image as safetensors: all that decoding needs, and a checksum of it."""
    tensors = {"coefficients": code.coefficients, "bandwidth": code.bandwidth}
    if code.alpha is not None:
        tensors["alpha"] = torch.from_numpy(np.ascontiguousarray(code.alpha))
    for name in BYTE_TAGS:
        if (value := getattr(code.tags, name)) is not None:
            tensors[name] = torch.frombuffer(bytearray(value), dtype=torch.uint8)
    facts: dict[str, Any] = {"patch": code.patch, "top": code.top, "left": code.left}
    facts |= {"size": code.size, "grey": code.gray, "arm": code.arm}
    text = json.dumps(facts)
    header = {"format": CODE_FORMAT, "image": text, "sha256": compute_checksum(tensors, text)}
    # One entry, because safetensors writes several in a random order.
    write_bytes(
        os.path.realpath(path), safetensors.torch.save(tensors, {"code": json.dumps(header)})
    )


def load_code(path: Path | str) -> Code:
    """Read an encoded image; `UserError` when it cannot be read, is damaged or something else."""
    content = read_content(path)
    try:
        header, tensors = parse_tensors(content)
        if "code" in header:  # earlier versions wrote its entries side by side
            header = json.loads(header["code"])
    except ValueError as error:
        raise UserError(f"{path} is not an encoded image ({error}); encode it again.") from error
    if not isinstance(header, dict) or header.get("format") != CODE_FORMAT:
        raise UserError(f"{path} is not an encoded image; make one with the encode command.")
    if header.get("sha256") != compute_checksum(tensors, header.get("image", "")):
        raise UserError(f"{path} is damaged; encode the image again.")
    found = {name: tensors[name].numpy().tobytes() for name in BYTE_TAGS if name in tensors}
    try:
        facts = json.loads(header["image"])
        return Code(
            coefficients=tensors["coefficients"],
            bandwidth=tensors["bandwidth"],
            size=tuple(facts.pop("size")),
            alpha=tensors["alpha"].numpy() if "alpha" in tensors else None,
            gray=facts.pop("grey"),
            tags=Tags(**found),
            **facts,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} lacks a part of an encoded image; encode it again.") from error


def _locate_pixels(window: Window) -> tuple[Tensor, Tensor]:
    """Return the positions of the drawn rows and columns in pixels of the image, float64."""
    first, last = window.box[:2], window.box[2:]
    y, x = (
        start + (torch.arange(count, dtype=torch.float64) + 0.5) * (end - start) / count - 0.5
        for count, start, end in zip(window.drawn, first, last, strict=True)
    )
    return y, x


def _make_photo(
    source: Photo | Code, window: Window, parts: Iterable[tuple[int, int, Tensor]]
) -> Photo:
    """Return the photo that drawn parts make together with what is kept of their source."""
    rgb = paint(window.drawn, parts, source.gray)
    alpha = resize_alpha(source.alpha, window.drawn, window.box)
    photo = Photo(rgb, alpha, source.gray, source.tags)
    return photo if window.drawn == window.size else reduce(photo, window.size)


@torch.inference_mode()
def decode(code: Code, scale: float = 1.0, crop: Box | None = None, track: Track = iter) -> Photo:
    """Render an encoded image at any scale, whole or cropped."""
    window = select_window(code.size, scale, crop)
    (height, width), (y, x) = window.drawn, _locate_pixels(window)
    y, x = y + code.top, x + code.left
    coefficients, bandwidth = code.coefficients[None], code.bandwidth[None]
    rows = max(bands.BAND_PIXELS // width, 1)

    def render_bands() -> Iterator[tuple[int, int, Tensor]]:
        for top in track(range(0, height, rows)):
            band = y[top : top + rows]
            yield top, 0, spectral.evaluate_on_grid(coefficients, bandwidth, band, x, code.patch)

    return _make_photo(code, window, render_bands())


@torch.inference_mode()
def upscale(
    model: ASRModel,
    photo: Photo,
    scale: float | None = None,
    crop: Box | None = None,
    track: Track = iter,
    size: Target | None = None,
) -> Photo:
    """Super-resolve a photo, whole or cropped, by any scale or to a size (height, width).

    One of height and width may be None and follows from the other (see `select_window`). A large
    photo goes in tiles, which changes no value beyond rounding (see `models.asr.tiling`). Around
    one smaller than those of the training its mirror image is added (`_count_mirrored`).
    """
    window = select_window(photo.size, scale, crop, size)
    above, before = added = _count_mirrored(model, photo.size, window.drawn)
    y, x = (at + count for at, count in zip(_locate_pixels(window), added, strict=True))
    sides = ((above, above), (before, before), (0, 0))
    pixels = np.pad(extend_visible_colors(photo), sides, mode="symmetric")
    whole = model.encoder.extend_images(torch.from_numpy(pixels).permute(2, 0, 1)[None])
    cells = (whole.shape[-2], whole.shape[-1])
    tiles = tiling.cut_tiles(model.encoder, cells, y, x)
    device = next(model.parameters()).device

    def render_tiles() -> Iterator[tuple[int, int, Tensor]]:
        for tile in track(tiles):
            rows, columns = (slice(*span) for span in tile.pixels)
            images = whole[:, :, rows, columns].to(device).float() / 255
            features, low = tile.crop_to_cells(model.encode(images)), tile.crop_to_cells(images)
            if crop is None:
                shown = compute_shown_size(cells, photo.size, window.drawn)
                area = _move_area(tile.build_area(cells), photo.size, window.drawn, added)
                colors = model.decode(features, *shown, bands.BAND_PIXELS, low, area=area)
                yield tile.rows[0], tile.columns[0], colors
                continue
            across = x[slice(*tile.columns)]
            for down in torch.arange(*tile.rows).split(max(bands.BAND_PIXELS // len(across), 1)):
                grid = y[down], across
                colors = _query_grid(model, features, low, tile, grid, window.scales)
                yield int(down[0]), tile.columns[0], colors

    return _make_photo(photo, window, render_tiles())


def _count_mirrored(model: ASRModel, size: Size, drawn: Size) -> Size:
    """Return how many rows and columns of its mirror image to add on either side of an image.

    Convolutions pad with zeros, which shift the colors near the border of a flat image and all
    colors of a tiny one. A mirror image in place of the zeros mends that, but costs quality at the
    border of larger photographs (measured in docs/images.md). So it is added to images smaller than
    any in training, unless the encoder itself continues images, as SwinIR does.

    `size` (H, W) is drawn as `drawn`, where the counts are whole pixels, too.
    """
    continues = any(model.encoder.extend_length(length) != length for length in size)
    if min(size) >= TRAINED_SIDE or continues:
        return 0, 0
    height, width = (
        math.ceil(MIRRORED / step) * step
        for step in (n // math.gcd(n, shown) for n, shown in zip(size, drawn, strict=True))
    )
    return height, width


def _move_area(area: RenderArea, size: Size, drawn: Size, added: Size) -> RenderArea:
    """Return an area of an image `drawn` from `size` pixels within that of more `added` before."""
    down, right = (a * shown // n for a, shown, n in zip(added, drawn, size, strict=True))
    (top, bottom), (left, end) = area.rows, area.columns
    return replace(area, rows=(top + down, bottom + down), columns=(left + right, end + right))


def _query_grid(
    model: ASRModel,
    features: Tensor,
    low: Tensor,
    tile: tiling.Tile,
    grid: tuple[Tensor, Tensor],
    scales: tuple[float, float],
) -> Tensor:
    """Return the colors (1, 3, R, C) at the crossings of a grid's R rows and C columns.

    `features` and `low`, the image, are those of the tile's cells; `grid` is in pixels of the whole
    image, with `scales` crossings per pixel, down and across.
    """
    axes = zip(grid, tile.cells, features.shape[-2:], strict=True)
    rows, columns = ((2 * (at - first) + 1) / count - 1 for at, (first, _), count in axes)
    coordinates = torch.cartesian_prod(rows, columns)[None].to(low.device)
    counts = features.shape[-2:]
    sizes = [2 / scale / count for scale, count in zip(scales, counts, strict=True)]
    cell = coordinates.new_tensor(sizes).expand_as(coordinates)
    colors = model.query(features, coordinates, cell, low)
    return colors.mT.reshape(1, -1, *(len(axis) for axis in grid))
