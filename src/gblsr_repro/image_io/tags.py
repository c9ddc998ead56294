"""What an image file says of its pixels and is kept: its color profile, and its EXIF data."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import ExifTags, Image

# EXIF tags that are kept when they are asked for, and those that hold for the old size alone.
KEPT_EXIF = [
    ExifTags.Base[name]
    for name in (
        "ImageDescription", "Make", "Model", "Software", "DateTime", "Artist", "Copyright"
    )
]  # fmt: skip
SIZES = (ExifTags.Base.ExifImageWidth, ExifTags.Base.ExifImageHeight)


@dataclass(frozen=True)
class Tags:
    """What an image file says of its pixels: the ICC profile of the colors, the EXIF data."""

    profile: bytes | None = None
    exif: bytes | None = None


def select_exif(exif: Image.Exif) -> bytes | None:
    """Return what EXIF data says of the picture, without what it says of the file."""
    kept = Image.Exif()
    kept.update({tag: exif[tag] for tag in KEPT_EXIF if tag in exif})
    for part in (ExifTags.IFD.Exif, ExifTags.IFD.GPSInfo):
        inner = {k: v for k, v in exif.get_ifd(part).items() if k not in SIZES}
        if inner:
            kept[part] = inner
    return kept.tobytes() if len(kept) else None
