"""Read an image file into a photograph: upright, with opacity and tags."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import ExifTags, Image

from ..data import images
from ..data.images import Pixels
from ..progress import log
from .photo import Photo, Tags
from .profiles import convert_to_srgb, is_profile_for

BASE = ExifTags.Base
# What EXIF data says of the picture, without what it says of the file or of its size.
KEPT_EXIF = (BASE.ImageDescription, BASE.Make, BASE.Model, BASE.Software, BASE.DateTime,
             BASE.Artist, BASE.Copyright)  # fmt: skip
# And of its parts: the pixels of the file, and where in it a further part begins.
LEFT_OUT = (BASE.ExifImageWidth, BASE.ExifImageHeight, ExifTags.IFD.Interop)
DEEP = tuple(f"'{mode};16" for mode in ("L", "LA", "RGB", "RGBA"))
"""How the tiles of a file begin whose 16-bit samples Pillow decodes to 8 bits."""


def read(path: Path | str, metadata: bool = False) -> Photo:
    """Read an image file as a photograph; raises `UserError` as `data.images` does.

    Pixels are turned upright. Transparent ones keep the color that the file gives them. The color
    profile comes along, with `metadata` the EXIF data too. CMYK colors are converted to sRGB by the
    file's profile. What of these cannot be kept is logged, and that 16 bits are read as 8.
    """
    content = images.read_content(path)
    pixels = images.decode_image(content, path)
    gray = pixels.ndim == 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow's, of damaged EXIF data
        # From bytes: of a file Pillow maps the pixels of a turned TIFF image in the wrong shape.
        with Image.open(io.BytesIO(content), formats=images.READ_FORMATS) as image:
            is_sixteen = image.mode.startswith("I")
            if is_sixteen or any(mode in str(image.tile) for mode in DEEP):
                log.warning("%s: its 16 bits are read as 8.", path)
            exif = _read_exif(path, image) if metadata else None
            upright = images.turn_upright(image)
            profile = image.info.get("icc_profile")
            rgb, alpha = images.convert_to_rgb(pixels), None
            if image.has_transparency_data and not is_sixteen:
                rgba = np.array(upright.convert("RGBA"))
                if rgba[..., 3].min() < 255:  # screenshots have an opacity, and are opaque
                    rgb, alpha = rgba[..., :3], rgba[..., 3]
            if profile and image.mode == "CMYK":
                rgb, profile = _convert_cmyk(path, upright, rgb, profile), None
            tags = Tags(_check_profile(path, profile, gray), exif)
    return Photo(rgb, alpha, gray, tags)


def _convert_cmyk(path: Path | str, image: Image.Image, plain: Pixels, profile: bytes) -> Pixels:
    """Return CMYK colors as sRGB by their profile, else `plain`, which Pillow's formula gives."""
    try:
        rgb = np.array(convert_to_srgb(image, profile))
    except ValueError as error:
        log.warning("%s: its CMYK colors are converted without its profile (%s).", path, error)
        return plain
    log.info("%s: its CMYK colors are converted to sRGB by its profile.", path)
    return rgb


def _check_profile(path: Path | str, profile: bytes | None, gray: bool) -> bytes | None:
    """Return the profile where it is for the pixels as they are read; log that it is not."""
    if not profile or is_profile_for(profile, "L" if gray else "RGB"):
        return profile or None
    log.warning(
        "%s: its color profile is not for %s pixels and is left out; colors may look different.",
        path,
        "gray" if gray else "RGB",
    )
    return None


def _read_exif(path: Path | str, image: Image.Image) -> bytes | None:
    """Return what of an image's EXIF data to keep; None, which is logged, where it is damaged."""
    try:
        exif, kept = image.getexif(), Image.Exif()
        kept.update({tag: _keep_bytes(exif[tag]) for tag in KEPT_EXIF if tag in exif})
        for part in (ExifTags.IFD.Exif, ExifTags.IFD.GPSInfo):
            inner = {k: _keep_bytes(v) for k, v in exif.get_ifd(part).items() if k not in LEFT_OUT}
            if inner:
                kept[part] = inner
        return kept.tobytes() if len(kept) else None
    except Exception as error:  # Pillow raises nearly anything on damaged data
        log.warning("%s: its EXIF data is damaged (%s) and is left out.", path, error)
        return None


def _keep_bytes(value: Any) -> Any:
    """Return a text as its bytes: Pillow reads Latin-1 and would write other letters as "?"."""
    return value.encode("latin-1") if isinstance(value, str) and not value.isascii() else value
