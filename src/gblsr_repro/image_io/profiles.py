"""Color profiles (ICC): which colors one is for, and the way from them to sRGB."""

from __future__ import annotations

import io

from PIL import Image, ImageCms

SPACES = {"L": b"GRAY", "RGB": b"RGB ", "CMYK": b"CMYK"}  # by Pillow's name of the channels


def is_profile_for(profile: bytes, mode: str) -> bool:
    """Return whether an ICC profile is for images of a mode: "L", "RGB" or "CMYK"."""
    return profile[16:20] == SPACES[mode]  # the header's signature of the color space


def convert_to_srgb(image: Image.Image, profile: bytes) -> Image.Image:
    """Convert an image of mode L, RGB or CMYK from its profile's colors to sRGB, mode RGB.

    Raises `ValueError` for a damaged profile and for one of other channels.
    """
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        target = ImageCms.createProfile("sRGB")
        converted = ImageCms.profileToProfile(image, source, target, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError) as error:
        raise ValueError(f"the profile cannot be used: {error}") from error
    assert converted is not None  # it is only when the image is changed in place
    return converted
