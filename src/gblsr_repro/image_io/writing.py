"""Write a photograph as an image file, with the tags that its format holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from PIL import Image

from ..errors import UserError
from ..files import write_atomically
from ..progress import log
from .formats import Format, check_output
from .photo import Photo
from .profiles import convert_to_srgb

JPEG_QUALITY = 95


def write(path: Path | str, photo: Photo, quality: int | None = None) -> None:
    """Write a photograph in the format of the file's ending.

    `quality`, 1 to 100, is that of JPEG (95 when None) and of WebP (lossless when None); the other
    formats are always lossless. Colors are converted to sRGB where the format does not hold their
    profile; EXIF data that it does not hold is logged. Raises `UserError` as `check_output` does.
    """
    form = check_output(path, photo.size, photo.alpha is not None)
    image = Image.fromarray(photo.rgb)
    if photo.gray:
        image = image.getchannel(0)
    image, profile = _settle_colors(path, image, photo, form)
    if photo.alpha is not None:
        image.putalpha(Image.fromarray(photo.alpha))
    kept = {"icc_profile": profile} if profile else {}
    if photo.tags.exif and form.tags:
        kept["exif"] = photo.tags.exif
    elif photo.tags.exif:
        log.warning("%s cannot hold its EXIF data; write a .png file.", path)
    try:
        # What a link leads to is written in the format of the link's ending.
        with write_atomically(os.path.realpath(path)) as temporary:
            image.save(temporary, format=form.name, **_quality_options(form, quality), **kept)
    except ValueError as error:
        raise UserError(
            f"{path} cannot be written as {form.name} ({error}); write a .png file."
        ) from error


def _quality_options(form: Format, quality: int | None) -> dict[str, Any]:
    if form.name == "JPEG":
        return {"quality": quality or JPEG_QUALITY, "subsampling": 0}
    if form.name == "WebP":
        return {"quality": quality} if quality else {"lossless": True, "exact": True}
    return {}


def _settle_colors(
    path: Path | str, image: Image.Image, photo: Photo, form: Format
) -> tuple[Image.Image, bytes | None]:
    """Return the image and the profile to embed; without one, colors are converted to sRGB.

    A profile for gray pixels has no place in a format that stores them as RGB.
    """
    profile = photo.tags.profile
    if profile is None or (form.tags and (form.gray or not photo.gray)):
        return image, profile
    try:
        converted = convert_to_srgb(image, profile)
    except ValueError as error:
        log.warning("%s: its colors may look different (%s).", path, error)
        return image, None
    log.info("%s: colors are converted to sRGB, as %s holds no such profile.", path, form.name)
    return converted.convert(image.mode), None
