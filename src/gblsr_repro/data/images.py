"""Decoding image files that nobody vouches for into plain 8-bit arrays.

One reading for every kind of file, so that a number never depends on a viewer's habits:

- pixels are taken as stored: no color profile, no gamma and no EXIF rotation is applied;
- bilevel and greyscale stay one channel where the caller asks for it, else are repeated thrice;
- palette, CMYK, YCbCr, Lab and HSV are converted to RGB by Pillow's plain formulas;
- an alpha channel is composited over white;
- samples of 16 bits keep their high byte, as Pillow itself does for 16-bit RGB;
- floating-point and wider integer samples, animations and multi-page files are refused. Of a
  multi-picture JPEG (MPO, written by many cameras) the first picture is the photograph.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ..errors import UserError

if TYPE_CHECKING:  # torch takes longer to import than most images to decode
    from torch import Tensor

FORMATS = ("PNG", "JPEG", "BMP", "PPM", "TIFF", "WEBP", "GIF")
MAX_PIXELS = 200_000_000

Pixels = NDArray[np.uint8]

# Pillow warns above its own limit and refuses twice that; the limit here is one and refuses.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS

_GRAY = ("1", "L", "I", "I;16", "I;16B", "I;16L", "LA", "La")
_SIXTEEN_BITS = ("I", "I;16", "I;16B", "I;16L")
_ALPHA = ("LA", "La", "PA", "RGBA", "RGBa")


def read_rgb_image(path: Path | str) -> Pixels:
    """Decode an image file to uint8 (H, W, 3), greyscale repeated to three channels.

    Raises `UserError` when the file is absent, not an image, damaged, animated, of a sample type
    that is not taken, or larger than `MAX_PIXELS`.
    """
    return convert_to_rgb(read_image(path))


def read_image(path: Path | str) -> Pixels:
    """Decode an image file to uint8: (H, W) when it is greyscale, else (H, W, 3).

    Raises `UserError` as `open_rgb` does.
    """
    try:
        with Path(path).open("rb") as stream:
            return _decode_stream(stream, path)
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; check the name or fetch it again.") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; make it readable.") from error


def decode_image(content: bytes, name: Path | str) -> Pixels:
    """Decode the bytes of an image file as `open_native` does; `name` is used in messages."""
    return _decode_stream(io.BytesIO(content), name)


def convert_to_rgb(pixels: Pixels) -> Pixels:
    """Return uint8 (H, W, 3) of (H, W) or (H, W, 3), greyscale repeated."""
    return np.repeat(pixels[:, :, None], 3, axis=2) if pixels.ndim == 2 else pixels


def convert_to_tensor(pixels: Pixels) -> Tensor:
    """Return (H, W, 3) as a tensor (3, H, W), and (H, W) as it is; uint8, values as they are."""
    import torch

    tensor = torch.from_numpy(np.array(pixels))
    return tensor if tensor.ndim == 2 else tensor.permute(2, 0, 1)


def _decode_stream(stream: BinaryIO, name: Path | str) -> Pixels:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(stream, formats=FORMATS) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise _build_size_error(name)
                frames = getattr(image, "n_frames", 1)
                if frames > 1 and image.format != "MPO":
                    raise UserError(
                        f"{name} holds {frames} frames or pages; save the one you want as a PNG "
                        "file."
                    )
                image.load()
                return _convert_pixels(image, name)
    except UserError:
        raise
    except Image.UnidentifiedImageError as error:
        raise UserError(
            f"{name} is not an image of a known format; replace it by a PNG or JPEG file."
        ) from error
    except (Image.DecompressionBombError, MemoryError) as error:
        raise _build_size_error(name) from error
    except Exception as error:  # a damaged file makes Pillow's decoders raise nearly anything
        raise UserError(
            f"{name} is a damaged image ({error}); delete it and fetch or copy it again."
        ) from error


def _build_size_error(name: Path | str) -> UserError:
    return UserError(
        f"{name} is larger than {MAX_PIXELS // 1_000_000} megapixels and is not opened; scale it "
        "down or crop it."
    )


def _convert_pixels(image: Image.Image, name: Path | str) -> Pixels:
    if image.mode in _SIXTEEN_BITS:
        return _keep_high_byte(np.asarray(image), name)
    if image.mode == "F":
        raise UserError(f"{name} has floating-point samples; save it with 8 or 16 bits each.")
    if image.mode in _ALPHA or "transparency" in image.info:
        gray = image.mode in _GRAY
        opaque = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, opaque).convert("L" if gray else "RGB")
    return np.array(image.convert("L" if image.mode in _GRAY else "RGB"))


def _keep_high_byte(samples: NDArray[np.generic], name: Path | str) -> Pixels:
    wide = samples.astype(np.int64)
    if wide.min() < 0 or wide.max() > 0xFFFF:
        raise UserError(f"{name} has samples wider than 16 bits; save it with 8 or 16 bits each.")
    return (wide >> 8).astype(np.uint8)
