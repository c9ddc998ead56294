"""Read an image file into a photograph: upright, with opacity and tags."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from PIL import Image

from ..data import images
from ..data.images import ORIENTATION, Pixels, turn_upright
from ..progress import log
from . import png
from .photo import Photo
from .profiles import convert_to_srgb, is_profile_for
from .tags import Tags, read_density, select_exif

SIDEWAYS = (5, 6, 7, 8)  # its values for pictures whose rows and columns are exchanged


def read(path: Path | str, metadata: bool = False) -> Photo:
    """Read an image file as a photograph; raises `UserError` as `data.images.read_rgb_image` does.

    Pixels are turned upright. Transparent ones keep the color that the file gives them. The density
    and what says which colors are meant come along, with `metadata` the EXIF data too. CMYK colors
    are converted to sRGB by the file's profile. What of these cannot be kept is logged.
    """
    pixels = images.read_image(path)
    gray = pixels.ndim == 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow's, of damaged EXIF data
        with Image.open(path, formats=images.FORMATS) as image:
            exif, kept_exif = _read_exif(path, image, metadata)
            sideways = exif.get(ORIENTATION) in SIDEWAYS
            image.load()  # which turns a TIFF file upright, and takes the tag out of `exif`
            turn = exif.get(ORIENTATION, 1)
            chunks = png.read_chunks(path)
            profile = image.info.get("icc_profile")
            rgb, alpha = _read_transparency(path, image, pixels, chunks, turn)
            if profile and image.mode == "CMYK":
                rgb, profile = _convert_cmyk(path, image, rgb, profile, turn), None
            density = read_density(image, exif)
            tags = Tags(
                _check_profile(path, profile, gray),
                kept_exif,
                density[::-1] if density and sideways else density,
                {name: chunks[name] for name in png.COLOR_CHUNKS if name in chunks},
            )
    return Photo(rgb, alpha, gray, tags)


def _read_transparency(
    path: Path | str, image: Image.Image, pixels: Pixels, chunks: dict[str, bytes], turn: int
) -> tuple[Pixels, Pixels | None]:
    """Return upright colors (H, W, 3) and opacity (H, W) or None.

    `pixels` are the upright colors over white; `turn` is the orientation of those in `image`.
    """
    clear = png.find_transparent_color(path, image, chunks)
    if clear is not None:
        if not image.mode.startswith("I"):  # of 16-bit gray `pixels` have no white in them
            pixels = turn_upright(np.array(image.convert("RGB")), turn)
        opacity = np.where(clear, 0, 255).astype(np.uint8)
        return images.convert_to_rgb(pixels), turn_upright(opacity, turn)
    if image.has_transparency_data:
        rgba = turn_upright(np.array(image.convert("RGBA")), turn)
        return rgba[..., :3], rgba[..., 3]
    return images.convert_to_rgb(pixels), None


def _convert_cmyk(
    path: Path | str, image: Image.Image, plain: Pixels, profile: bytes, turn: int
) -> Pixels:
    """Return CMYK colors as sRGB by their profile, else `plain`, which Pillow's formula gives."""
    try:
        rgb = turn_upright(np.array(convert_to_srgb(image, profile)), turn)
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


def _read_exif(
    path: Path | str, image: Image.Image, metadata: bool
) -> tuple[Image.Exif, bytes | None]:
    """Return an image's EXIF data, and with `metadata` what of it to keep.

    Damaged data counts as none; where it is asked for, that is logged.
    """
    exif = Image.Exif()
    try:
        exif = image.getexif()
        return exif, select_exif(exif) if metadata else None
    except Exception as error:  # Pillow raises nearly anything on damaged data
        if metadata:
            log.warning("%s: its EXIF data is damaged (%s) and is left out.", path, error)
        return exif, None
