"""The trained models as a tool for one's own images.

Three lines do the common things; the command line has the same names:

    model = inference.load_native("results/native/runs/gblsr_scalar/seed0")
    code = inference.encode(model, inference.read("photo.jpg"))
    inference.write("zoomed.png", inference.decode(code, scale=3.7, crop=(100, 100, 200, 200)))

Positions are pixels of the original image, (top, left, bottom, right), whole numbers being pixel
edges; scales are output pixels per original pixel, any positive number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from .errors import UserError
from .image_io import Box, Photo
from .image_io import read as read
from .image_io import write as write
from .models import bands, native, spectral
from .models.asr import tiling
from .models.asr.local_ensemble import shown_by
from .models.asr.model import ASRModel
from .models.bands import Track
from .models.decoders import SpectralDecoder
from .models.native import NativeModel
from .runs import load_run
from .runtime import for_inference
from .weights import checksum, parsed, write_tensors

FORMAT = "gblsr-code-1"
BYTES = ("profile", "exif")  # fields of a code that are kept as they are, where there are any
BAND_PIXELS = 1 << 18  # rendered at once
MAX_OUTPUT_PIXELS = 200_000_000
BLANK = np.zeros((1, 1, 3), np.uint8)


@dataclass(frozen=True)
class Code:
    """An encoded image: all that decoding needs, no network weights.

    `coefficients` (3, p, p, h, w) float32 with the cutoff applied; `bandwidth` (h, w); `patch`
    pixels per patch side; `top`, `left` the padding before the image of `size` (H, W) pixels;
    `arm` the arm that encoded it; `photo` what else there was of the image, without its colors.
    """

    coefficients: Tensor
    bandwidth: Tensor
    patch: int
    top: int
    left: int
    size: tuple[int, int]
    arm: str
    photo: Photo


def load_native(path: Path | str, device: torch.device | None = None) -> NativeModel:
    """Load a trained arm from its run folder or from a weights file, as `runs.load_run` does."""
    return for_inference(load_run(path, NativeModel), device or torch.device("cpu"))


def load_superres(path: Path | str, device: torch.device | None = None) -> ASRModel:
    """Load a trained super-resolution method likewise."""
    return for_inference(load_run(path, ASRModel), device or torch.device("cpu"))


@torch.inference_mode()
def reconstruct(model: NativeModel, photo: Photo, track: Track = iter) -> Photo:
    """Encode and decode a photo at its own size.

    Large photos go in bands, which changes no value beyond rounding. Here and below `track` is
    given the list of them and yields one after the other, as it likes to show how far it is.
    """
    features = bands.encode(model, photo.rgb, track)
    parts = bands.render(model, features, photo.size, track)
    return photo.painted(photo.size, ((top, 0, colors) for top, colors in parts))


@torch.inference_mode()
def encode(model: NativeModel, photo: Photo, track: Track = iter) -> Code:
    """Encode a photo into coefficients and bandwidths; only arms of the GB-LSR family can."""
    decoder = model.decoder
    if not isinstance(decoder, SpectralDecoder):
        raise UserError(
            f"{type(decoder).__name__} keeps no coefficients to store; use a GB-LSR arm."
        )
    features = bands.encode(model, photo.rgb, track)
    left, _, top, _ = native.padding(*photo.size, decoder.patch)
    coefficients, bandwidth = decoder.code(features)
    return Code(
        coefficients[0].float().cpu().contiguous(),
        bandwidth[0].float().cpu().contiguous(),
        decoder.patch,
        top,
        left,
        photo.size,
        model.name,
        replace(photo, rgb=BLANK),
    )


def save_code(path: Path | str, code: Code) -> None:
    """Write an encoded image as safetensors: all that decoding needs, and a checksum of it."""
    tensors = {"coefficients": code.coefficients, "bandwidth": code.bandwidth}
    if code.photo.alpha is not None:
        tensors["alpha"] = torch.from_numpy(np.ascontiguousarray(code.photo.alpha))
    for name in BYTES:
        if (value := getattr(code.photo, name)) is not None:
            tensors[name] = torch.frombuffer(bytearray(value), dtype=torch.uint8)
    facts = {"patch": code.patch, "top": code.top, "left": code.left, "size": code.size}
    facts |= {"grey": code.photo.gray, "arm": code.arm}
    text = json.dumps(facts)
    header = {"format": FORMAT, "image": text, "sha256": checksum(tensors, text)}
    write_tensors(path, tensors, header)


def load_code(path: Path | str) -> Code:
    """Read an encoded image; `UserError` when it is missing, damaged or of another format."""
    try:
        header, tensors = parsed(Path(path).read_bytes())
    except FileNotFoundError as error:
        raise UserError(
            f"{path} does not exist; name a file that the encode command made."
        ) from error
    except (ValueError, OSError) as error:
        raise UserError(f"{path} is not an encoded image ({error}); encode it again.") from error
    if header.get("format") != FORMAT:
        raise UserError(f"{path} is not an encoded image; make one with the encode command.")
    if header.get("sha256") != checksum(tensors, header.get("image", "")):
        raise UserError(f"{path} is damaged; encode the image again.")
    facts = json.loads(header["image"])
    alpha = tensors["alpha"].numpy() if "alpha" in tensors else None
    kept = {name: tensors[name].numpy().tobytes() for name in BYTES if name in tensors}
    return Code(
        tensors["coefficients"],
        tensors["bandwidth"],
        facts["patch"],
        facts["top"],
        facts["left"],
        tuple(facts["size"]),
        facts["arm"],
        Photo(BLANK, alpha, facts["grey"], **kept),
    )


def _window(size: tuple[int, int], scale: float, crop: Box | None) -> tuple[Box, int, int]:
    """Check scale and crop against an image's size; return the crop and the output's H and W."""
    height, width = size
    if not (scale > 0 and math.isfinite(scale)):
        raise UserError(f"The scale is {scale:g}, but must be more than 0 and finite.")
    top, left, bottom, right = crop or (0, 0, height, width)
    if not (0 <= top < bottom <= height and 0 <= left < right <= width):
        raise UserError(
            f"The crop {top:g} {left:g} {bottom:g} {right:g} does not lie inside the image of "
            f"{height} x {width} pixels; give top, left, bottom, right in pixels."
        )
    out_height = max((bottom - top) * scale, 1)
    out_width = max((right - left) * scale, 1)
    if out_height * out_width > MAX_OUTPUT_PIXELS:  # before rounding: both may be infinite
        raise UserError(
            f"The output would have {out_height:.7g} x {out_width:.7g} pixels, more than "
            f"{MAX_OUTPUT_PIXELS // 1_000_000} megapixels; choose a smaller scale or crop."
        )
    return (top, left, bottom, right), round(out_height), round(out_width)


def _positions(window: Box, height: int, width: int) -> tuple[Tensor, Tensor]:
    """Return the pixel positions of an output grid's rows and columns over `window`, float64."""
    y, x = (
        first + (torch.arange(count, dtype=torch.float64) + 0.5) * (last - first) / count - 0.5
        for count, first, last in zip((height, width), window[:2], window[2:], strict=True)
    )
    return y, x


@torch.inference_mode()
def decode(code: Code, scale: float = 1.0, crop: Box | None = None, track: Track = iter) -> Photo:
    """Render an encoded image at any scale, whole or cropped."""
    window, height, width = _window(code.size, scale, crop)
    y, x = _positions(window, height, width)
    y, x = y + code.top, x + code.left
    coefficients, bandwidth = code.coefficients[None], code.bandwidth[None]
    rows = max(BAND_PIXELS // width, 1)

    def parts() -> Iterator[tuple[int, int, Tensor]]:
        for top in track(range(0, height, rows)):
            some = y[top : top + rows]
            yield top, 0, spectral.evaluate_grid(coefficients, bandwidth, some, x, code.patch)

    return code.photo.painted((height, width), parts(), window)


@torch.inference_mode()
def upscale(
    model: ASRModel,
    photo: Photo,
    scale: float,
    crop: Box | None = None,
    track: Track = iter,
    memory: int | None = None,
) -> Photo:
    """Super-resolve a photo by any scale, whole or cropped.

    What would take more than `memory` bytes goes in tiles, which changes no value beyond rounding
    (see `models.asr.tiling`).
    """
    window, height, width = _window(photo.size, scale, crop)
    y, x = _positions(window, height, width)
    pixels = torch.from_numpy(np.ascontiguousarray(photo.rgb)).permute(2, 0, 1)
    whole = model.encoder.extend(pixels[None])
    cells = (whole.shape[-2], whole.shape[-1])
    tiles = tiling.tiles(model, cells, y, x, memory or tiling.MEMORY)
    device = next(model.parameters()).device

    def parts() -> Iterator[tuple[int, int, Tensor]]:
        for tile in track(tiles):
            rows, columns = (slice(*span) for span in tile.pixels)
            given = whole[:, :, rows, columns].to(device).float() / 255
            features, low = tile.own(model.encode(given)), tile.own(given)
            if crop is None:
                size = shown_by(cells, photo.size, (height, width))
                part = tile.part(cells)
                colors = model.decode(features, *size, BAND_PIXELS, low, part=part)
            else:
                grid = y[slice(*tile.rows)], x[slice(*tile.columns)]
                colors = _queried(model, features, low, tile, grid, scale)
            yield tile.rows[0], tile.columns[0], colors

    return photo.painted((height, width), parts(), window)


def _queried(
    model: ASRModel,
    features: Tensor,
    low: Tensor,
    tile: tiling.Tile,
    grid: tuple[Tensor, Tensor],
    scale: float,
) -> Tensor:
    """Answer every crossing of a grid's rows and columns from the cells of a tile."""
    axes = zip(grid, tile.cells, features.shape[-2:], strict=True)
    rows, columns = ((2 * (at - first) + 1) / count - 1 for at, (first, _), count in axes)
    coordinates = torch.cartesian_prod(rows, columns)[None].to(low.device)
    sizes = [2 / scale / count for count in features.shape[-2:]]
    cell = coordinates.new_tensor(sizes).expand_as(coordinates)
    colors = model.query(features, coordinates, cell, low)
    return colors.mT.reshape(1, -1, *(len(axis) for axis in grid))
