"""Decode untrusted image files to 8-bit arrays.

Every format is decoded by the same rules:

- pictures are turned upright as their EXIF orientation says;
- colors are taken as stored: no color profile and no gamma is applied;
- bilevel and grayscale images keep one channel;
- palette, CMYK, YCbCr, Lab and HSV are converted to RGB by Pillow's formulas;
- an alpha channel is composited over white;
- samples of 16 bits keep their high byte, as Pillow itself does for 16-bit RGB;
- floating-point, signed, 12-bit and wider integer samples, 16-bit ones in uncompressed planes,
  animations, multi-page files and cameras' raw files are refused. Of a multi-picture JPEG (MPO,
  written by many cameras) the first picture is used.
"""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageOps, PngImagePlugin, TiffImagePlugin, features

from ..errors import UserError

if TYPE_CHECKING:  # torch takes longer to import than most images to decode
    import torch
    from torch import Tensor

READ_FORMATS: tuple[str, ...] = ("PNG", "JPEG", "BMP", "PPM", "TIFF", "WEBP", "GIF")
if features.check("avif"):  # not every build of Pillow decodes it
    READ_FORMATS += ("AVIF",)
MAX_PIXELS = 200_000_000

Pixels = NDArray[np.uint8]

# Pillow only warns up to twice this limit, so `_decode_stream` compares the size itself.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS
# Of a PNG's texts and profile Pillow unpacks a megabyte, less than scanners and programs put there.
PngImagePlugin.MAX_TEXT_CHUNK = PngImagePlugin.MAX_TEXT_MEMORY

_GRAY = ("1", "L", "I", "I;16", "I;16B", "I;16L", "LA", "La")
_SIXTEEN_BITS = ("I", "I;16", "I;16B", "I;16L")
_ALPHA = ("LA", "La", "PA", "RGBA", "RGBa")
# Markers of JPEG: after the first byte, 255, comes no 0 as within the compressed data.
_MARKER = re.compile(rb"\xff+([^\x00\xff])", re.DOTALL)
_END, _WITHOUT_LENGTH = 0xD9, (0x01, *range(0xD0, 0xD9))


def is_image(path: Path) -> bool:
    """Return whether a file is an image by its ending."""
    return Image.registered_extensions().get(path.suffix.lower()) in READ_FORMATS


def read_image(path: Path | str) -> Pixels:
    """Read an image file; see `decode_image`, and `read_content`."""
    return decode_image(read_content(path), path)


def read_content(path: Path | str) -> bytes:
    """Read the bytes of a file; raises `UserError` where it does not exist or is not readable."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; check the name or fetch it again.") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; make it readable.") from error


def decode_image(content: bytes, name: Path | str) -> Pixels:
    """Decode the bytes of an image file: uint8 (H, W) when it is grayscale, else (H, W, 3).

    Raises `UserError`, which says its `name`, when it is no image, is damaged or animated, has an
    unsupported sample type, or more than `MAX_PIXELS` pixels.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=READ_FORMATS) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise _build_size_error(name)
                frames = getattr(image, "n_frames", 1)
                if frames > 1 and image.format != "MPO":
                    raise UserError(
                        f"{name} holds {frames} frames or pages; save the one you want as a PNG "
                        "file."
                    )
                image.load()
                _check_whole(content, image.format)
                _check_tiff(image, name)
                return _convert_to_8_bits(turn_upright(image), name)
    except UserError:
        raise
    except Image.UnidentifiedImageError as error:
        raise UserError(
            f"{name} is not an image in a supported format; replace it by a PNG or JPEG file."
        ) from error
    except (Image.DecompressionBombError, MemoryError) as error:
        raise _build_size_error(name) from error
    except Exception as error:  # Pillow's decoders raise many types for damaged files
        if "MAX_TEXT" in str(error):
            raise UserError(
                f"{name} holds texts or a profile of more than "
                f"{PngImagePlugin.MAX_TEXT_MEMORY >> 20} MB; save it without them."
            ) from error
        raise UserError(
            f"{name} is a damaged image ({error}); delete it and fetch or copy it again."
        ) from error


def turn_upright(image: Image.Image) -> Image.Image:
    """Turn an image as its EXIF data says; damaged data counts as none."""
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # Pillow raises nearly anything on damaged data
        return image


def convert_to_rgb(pixels: Pixels) -> Pixels:
    """Convert uint8 (H, W) or (H, W, 3) to (H, W, 3), grayscale repeated."""
    return np.repeat(pixels[:, :, None], 3, axis=2) if pixels.ndim == 2 else pixels


def convert_to_tensor(pixels: Pixels) -> Tensor:
    """Convert an array (H, W, 3) to a tensor (3, H, W), or (H, W) to (H, W); values are kept."""
    import torch

    tensor = torch.from_numpy(np.array(pixels))
    return tensor if tensor.ndim == 2 else tensor.permute(2, 0, 1)


def convert_to_batch(pixels: Pixels, device: torch.device) -> Tensor:
    """Convert colors (H, W, 3) to a batch of one image, (1, 3, H, W) in [0, 1], on `device`."""
    import torch

    tensor = torch.from_numpy(np.array(pixels, order="C")).to(device)
    return tensor.permute(2, 0, 1)[None].float() / 255


def _check_whole(content: bytes, form: str | None) -> None:
    """Raise where a file whose pixels were decoded tells that it is not whole.

    Decoders do not ask for it: of a PNG file Pillow takes the pixels whatever their checksums are.
    """
    if form in ("JPEG", "MPO") and not _has_end(content):
        raise ValueError("its end is missing")
    if form == "PNG":
        with Image.open(io.BytesIO(content), formats=[form]) as image:
            image.verify()


def _has_end(jpeg: bytes) -> bool:
    """Return whether a JPEG file, of several pictures the first, has its end marker.

    Decoders fill with gray what is missing before it, also where zeros stand in its place: space
    that was set aside for a transfer that broke off.
    """
    at = 2
    while found := _MARKER.search(jpeg, at):
        marker, at = found[1][0], found.end()
        if marker == _END:
            return True
        if marker not in _WITHOUT_LENGTH:  # what has a length may hold a thumbnail, with its end
            at += int.from_bytes(jpeg[at : at + 2])
    return False


def _build_size_error(name: Path | str) -> UserError:
    return UserError(
        f"{name} is larger than {MAX_PIXELS // 1_000_000} megapixels, the limit; scale it down or "
        "crop it."
    )


def _convert_to_8_bits(image: Image.Image, name: Path | str) -> Pixels:
    """Convert a decoded image of any mode to uint8 (H, W) or (H, W, 3)."""
    if image.mode in _SIXTEEN_BITS:
        return (np.asarray(image) >> 8).astype(np.uint8)
    if image.mode == "F":
        raise UserError(f"{name} has floating-point samples; save it with 8 or 16 bits per sample.")
    if image.mode in _ALPHA or "transparency" in image.info:
        gray = image.mode in _GRAY
        opaque = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, opaque).convert("L" if gray else "RGB")
    return np.array(image.convert("L" if image.mode in _GRAY else "RGB"))


def _check_tiff(image: Image.Image, name: Path | str) -> None:
    """Raise `UserError` for a raw file's preview, and for samples that Pillow takes for others."""
    if not isinstance(image, TiffImagePlugin.TiffImageFile):
        return
    tags = image.tag_v2
    if tags.get(ExifTags.Base.NewSubfileType, 0) & 1:
        raise UserError(
            f"{name} shows a small preview of its picture, as the raw files of cameras do; develop "
            "it, and take the PNG or JPEG file that this gives."
        )
    bits = tags.get(TiffImagePlugin.BITSPERSAMPLE, (1,))
    is_white_at_0 = tags.get(TiffImagePlugin.PHOTOMETRIC_INTERPRETATION) == 0
    in_planes = tags.get(TiffImagePlugin.PLANAR_CONFIGURATION) == 2
    if (
        2 in tags.get(TiffImagePlugin.SAMPLEFORMAT, ())  # signed
        or (image.mode in _SIXTEEN_BITS and (bits != (16,) or is_white_at_0))
        or (in_planes and bits[0] == 16 and image.info["compression"] == "raw")
    ):
        raise UserError(
            f"{name} has samples that are signed, of 12 bits or wider than 16 bits, or 16-bit ones "
            "that are white at 0 or in uncompressed planes; save it with 8 bits per sample."
        )
