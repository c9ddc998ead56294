"""A user's own photographs: read with transparency and greyness, written back the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import ExifTags, Image, ImageOps
from torch import Tensor

from .data import images
from .data.images import Pixels
from .errors import UserError, memory_told
from .files import atomic_path
from .progress import each, log

WRITTEN = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".bmp": "BMP",
    ".ppm": "PPM",
}
OPAQUE = ("JPEG", "BMP", "PPM")
BARE = ("BMP", "PPM")  # hold neither color profile nor EXIF data
Box = tuple[float, float, float, float]  # top, left, bottom, right in pixels
ORIENTATION = 0x0112  # the EXIF tag; its values say how a picture is turned upright
# EXIF tags that are kept when they are asked for, and those that hold for the old size alone.
TOLD = [
    ExifTags.Base[name]
    for name in (
        "ImageDescription", "Make", "Model", "Software", "DateTime", "Artist", "Copyright"
    )
]  # fmt: skip
SIZES = (ExifTags.Base.ExifImageWidth, ExifTags.Base.ExifImageHeight)


@dataclass(frozen=True)
class Photo:
    """An 8-bit photograph: colors (H, W, 3), opacity (H, W) or None, and whether it is grey.

    `profile` is the ICC profile that says what the colors mean, `exif` the EXIF data that was
    asked for.
    """

    rgb: Pixels
    alpha: Pixels | None = None
    gray: bool = False
    profile: bytes | None = None
    exif: bytes | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Height and width in pixels."""
        return self.rgb.shape[0], self.rgb.shape[1]

    def painted(
        self,
        size: tuple[int, int],
        parts: Iterable[tuple[int, int, Tensor]],
        box: Box | None = None,
    ) -> Photo:
        """Return this photo with other colors, of another `size` (H, W).

        `parts` are the first row, the first column and the colors (1, 3, h, w) of rectangles that
        cover it, clamped and rounded to 8 bits one by one. A grey photo stays grey: its three
        channels are averaged. The opacity of what lies in `box` (the whole) is resampled.
        """
        rgb = np.empty((*size, 3), np.uint8)
        for top, left, colors in parts:
            values = colors[0].permute(1, 2, 0).clamp(0, 1).mul(255)
            if self.gray:
                values = values.mean(dim=2, keepdim=True).expand(-1, -1, 3)
            height, width = values.shape[:2]
            shown = values.round().to(torch.uint8).cpu().numpy()
            rgb[top : top + height, left : left + width] = shown
        alpha = self.alpha
        if alpha is not None:
            top, left, bottom, right = box or (0, 0, *alpha.shape)
            image, edges = Image.fromarray(alpha), (left, top, right, bottom)
            alpha = np.array(image.resize(size[::-1], Image.Resampling.BICUBIC, box=edges))
        return replace(self, rgb=rgb, alpha=alpha)


def read(path: Path | str, metadata: bool = False) -> Photo:
    """Read an image file upright, with its opacity; raises `UserError` as `images.open_rgb` does.

    Transparent pixels keep the color that the file gives them. The color profile comes along
    where it is one for the channels that are read, the EXIF data with `metadata`.
    """
    pixels = images.open_native(path)
    rgb, alpha, gray = images.as_rgb(pixels), None, pixels.ndim == 2
    with Image.open(path, formats=images.FORMATS) as image:
        profile = _profile(image, gray)
        transparent = image.has_transparency_data
        if transparent or metadata or image.getexif().get(ORIENTATION, 1) != 1:
            image.load()  # turns a TIFF file upright, and forgets its tag
        turn = image.getexif().get(ORIENTATION, 1)
        exif = _exif(image) if metadata else None
        if transparent and image.mode.startswith("I"):  # 16 bits, of which one value is clear
            clear = np.asarray(image) == image.info["transparency"]
            alpha = np.where(clear, 0, 255).astype(np.uint8)
        elif transparent:
            rgba = np.array(image.convert("RGBA"))
            rgb, alpha = rgba[..., :3], rgba[..., 3]
    rgb, alpha = _upright(rgb, turn), None if alpha is None else _upright(alpha, turn)
    return Photo(rgb, alpha, gray, profile, exif)


def _profile(image: Image.Image, gray: bool) -> bytes | None:
    """Return an image's ICC profile where it is for grey or RGB pixels, as they are read."""
    profile = image.info.get("icc_profile") or b""
    space = profile[16:20]  # the header's signature of the color space
    return profile if space == (b"GRAY" if gray else b"RGB ") else None


def _exif(image: Image.Image) -> bytes | None:
    """Return what an image's EXIF data tells of the picture, without what it tells of the file."""
    found, kept = image.getexif(), Image.Exif()
    kept.update({tag: found[tag] for tag in TOLD if tag in found})
    for part in (ExifTags.IFD.Exif, ExifTags.IFD.GPSInfo):
        inner = {k: v for k, v in found.get_ifd(part).items() if k not in SIZES}
        if inner:
            kept[part] = inner
    return kept.tobytes() if len(kept) else None


def _upright(pixels: Pixels, turn: int) -> Pixels:
    """Turn pixels as the EXIF tag says that their picture is turned."""
    if turn == 1:
        return pixels
    image = Image.fromarray(np.ascontiguousarray(pixels))
    image.getexif()[ORIENTATION] = turn
    return np.array(ImageOps.exif_transpose(image))


def _transparent(path: Path) -> bool:
    """Tell from a file's header; of what is no image, which its reader will say, False."""
    try:
        with Image.open(path, formats=images.FORMATS) as image:
            return image.has_transparency_data
    except Exception:  # a damaged header makes Pillow raise nearly anything
        return False


def _format(path: Path | str, transparent: bool) -> str:
    """Return the format of a file to write; `UserError` when there is none that holds the photo."""
    form = WRITTEN.get(Path(path).suffix.lower())
    if form is None:
        raise UserError(f"{path} has no ending of a format to write; use {', '.join(WRITTEN)}.")
    if transparent and form in OPAQUE:
        raise UserError(f"{path} cannot hold transparency; write a .png file.")
    return form


def write(path: Path | str, photo: Photo) -> None:
    """Write a photo in the format of the name's ending; raises `UserError` for an unknown one."""
    form = _format(path, photo.alpha is not None)
    image = Image.fromarray(photo.rgb)
    if photo.gray:
        image = image.getchannel(0)
    if photo.alpha is not None:
        image.putalpha(Image.fromarray(photo.alpha))
    options: dict[str, Any] = {"quality": 95, "subsampling": 0} if form == "JPEG" else {}
    kept = {"icc_profile": photo.profile, "exif": photo.exif}
    kept = {name: value for name, value in kept.items() if value}
    if kept and form in BARE:
        log.warning("%s cannot hold color profile or EXIF data; write a .png file.", path)
    elif kept:
        options |= kept
    with atomic_path(path) as temporary:
        image.save(temporary, format=form, **options)


def convert(
    source: Path,
    target: Path,
    work: Callable[[Path, Path], None],
    endings: tuple[str, ...] = tuple(WRITTEN),
    ending: str | None = None,
) -> int:
    """Do `work(input, output)` for a file or a folder's files with `endings`; return how many.

    A folder's outputs keep their names, with `ending` in place of the old one where it is given.
    Raises `UserError` before the first when there is nothing to read, or when an output would
    overwrite its input or another output or, being an image, has no ending of a format to write;
    and when the memory does not hold an image.
    """
    if source.is_dir():
        found = sorted(p for p in source.iterdir() if p.suffix.lower() in endings)
        if not found:
            raise UserError(f"{source} holds no file ending in {', '.join(endings)}.")
    elif source.is_file():
        found = [source]
    else:
        raise UserError(f"{source} does not exist; name an image file or a folder of images.")
    inside = source.is_dir() or target.is_dir() or not target.suffix
    pairs: dict[Path, Path] = {}
    for one in found:
        other = target / (one.stem + (ending or one.suffix)) if inside else target
        if other.exists() and one.samefile(other):
            raise UserError(f"{other} would overwrite its input; name another output.")
        if (first := pairs.setdefault(other, one)) is not one:
            raise UserError(f"{first} and {one} would both become {other}; rename one of them.")
        if ending is None or ending in WRITTEN:
            _format(other, _transparent(one))
    for other, one in each(list(pairs.items()), source.name or "images", "image"):
        with memory_told(str(one)):
            work(one, other)
    return len(pairs)
