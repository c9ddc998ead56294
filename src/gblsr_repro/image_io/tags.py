"""What an image file says of its pixels: color profile, density, EXIF data, PNG's color chunks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from PIL import ExifTags, Image

# EXIF tags that are kept when they are asked for, and those that hold for the old size alone.
KEPT_EXIF = [
    ExifTags.Base[name]
    for name in (
        "ImageDescription", "Make", "Model", "Software", "DateTime", "Artist", "Copyright"
    )
]  # fmt: skip
SIZES = (ExifTags.Base.ExifImageWidth, ExifTags.Base.ExifImageHeight)
RESOLUTIONS = (ExifTags.Base.XResolution, ExifTags.Base.YResolution)
PER_INCH = {2: 1.0, 3: 2.54}  # by EXIF's ResolutionUnit: inch, centimeter
# PNG's chunks that say what its colors mean, with the values that say what no chunk says: sRGB.
SRGB_CHUNKS = {
    "cICP": bytes([1, 13, 0, 1]),
    "gAMA": (45455).to_bytes(4),
    "cHRM": b"".join(
        value.to_bytes(4) for value in (31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)
    ),
}

HDR_TRANSFERS = (bytes([16]), bytes([18]))  # PQ and HLG: the second byte of cICP, by ITU-T H.273


@dataclass(frozen=True)
class Tags:
    """What an image file says of its pixels.

    `profile` is the ICC profile of the colors, `exif` the EXIF data to keep, `density` the pixels
    per inch across and down, `chunks` the content of PNG's color chunks by name (cICP, sRGB, gAMA,
    cHRM).
    """

    profile: bytes | None = None
    exif: bytes | None = None
    density: tuple[float, float] | None = None
    chunks: Mapping[str, bytes] = field(default_factory=dict)

    def is_hdr(self) -> bool:
        """Return whether the cICP chunk says that the colors are coded by PQ or HLG."""
        return self.chunks.get("cICP", b"")[1:2] in HDR_TRANSFERS

    def list_color_chunks(self) -> list[str]:
        """Return the names of the PNG chunks that decide on the colors, where they are not sRGB.

        By PNG's specification cICP goes before a profile, a profile before sRGB, and that before
        gAMA and cHRM.
        """
        if "cICP" in self.chunks:
            deciding = ["cICP"]
        elif self.profile or "sRGB" in self.chunks:
            deciding = []
        else:
            deciding = [name for name in ("gAMA", "cHRM") if name in self.chunks]
        return [name for name in deciding if self.chunks[name] != SRGB_CHUNKS[name]]


def select_exif(exif: Image.Exif) -> bytes | None:
    """Return what EXIF data says of the picture, without what it says of the file."""
    kept = Image.Exif()
    kept.update({tag: exif[tag] for tag in KEPT_EXIF if tag in exif})
    for part in (ExifTags.IFD.Exif, ExifTags.IFD.GPSInfo):
        inner = {k: v for k, v in exif.get_ifd(part).items() if k not in SIZES}
        if inner:
            kept[part] = inner
    return kept.tobytes() if len(kept) else None


def read_density(image: Image.Image, exif: Image.Exif) -> tuple[float, float] | None:
    """Return the pixels per inch across and down that an image or its EXIF data gives, or None.

    One pixel per inch and less, which files hold that say nothing of it, counts as none.
    """
    values, rate = image.info.get("dpi"), 1.0
    if not values:
        values = [exif.get(tag, 0) for tag in RESOLUTIONS]
        rate = PER_INCH.get(exif.get(ExifTags.Base.ResolutionUnit, 2), 0.0)
    try:
        across, down = (float(value) * rate for value in values)
    except (TypeError, ValueError, ZeroDivisionError):  # damaged EXIF data
        return None
    usable = min(across, down) > 1 and math.isfinite(across) and math.isfinite(down)
    return (across, down) if usable else None


def add_density(exif: bytes | None, density: tuple[float, float]) -> bytes:
    """Return EXIF data with a density (pixels per inch) added: all that WebP has room for."""
    added = Image.Exif()
    if exif:
        added.load(exif)
        for part in (ExifTags.IFD.Exif, ExifTags.IFD.GPSInfo):
            if inner := added.get_ifd(part):
                added[part] = inner
    added.update(zip(RESOLUTIONS, density, strict=True))
    added[ExifTags.Base.ResolutionUnit] = 2
    return added.tobytes()
