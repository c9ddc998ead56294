"""A user's own photographs: read with transparency and greyness, written back the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from .data import images
from .data.images import Pixels
from .errors import UserError
from .files import atomic_path
from .progress import Progress

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".ppm")
WRITTEN = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP", ".tif": "TIFF"}


@dataclass(frozen=True)
class Photo:
    """An 8-bit photograph: colours (H, W, 3), opacity (H, W) or None, and whether it is grey."""

    rgb: Pixels
    alpha: Pixels | None = None
    grey: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """Height and width in pixels."""
        return self.rgb.shape[0], self.rgb.shape[1]

    def tensor(self, device: torch.device) -> Tensor:
        """Return the colours as (1, 3, H, W) in [0, 1]."""
        pixels = torch.from_numpy(np.ascontiguousarray(self.rgb)).to(device)
        return pixels.permute(2, 0, 1)[None].float() / 255

    def with_colours(self, colours: Tensor, alpha: Pixels | None = None) -> Photo:
        """Return this photo with colours (1, 3, H', W'), clamped and rounded to 8 bits.

        A grey photo stays grey: its three channels are averaged. `alpha` replaces the opacity.
        """
        values = colours[0].permute(1, 2, 0).clamp(0, 1).mul(255)
        if self.grey:
            values = values.mean(dim=2, keepdim=True).expand(-1, -1, 3)
        rgb = values.round().to(torch.uint8).cpu().numpy()
        return replace(self, rgb=rgb, alpha=alpha)


def read(path: Path | str) -> Photo:
    """Read an image file upright, with its opacity; raises `UserError` as `images.open_rgb` does.

    Transparent pixels keep the colour that the file gives them.
    """
    pixels = images.open_native(path)
    grey = pixels.ndim == 2
    with Image.open(path, formats=images.FORMATS) as image:
        transparent = image.has_transparency_data
        turned = image.getexif().get(0x0112, 1) != 1
        if not (transparent or turned):
            return Photo(images.as_rgb(pixels), grey=grey)
        upright = ImageOps.exif_transpose(image)
        if not transparent:
            return Photo(np.array(upright.convert("RGB")), grey=grey)
        rgba = np.array(upright.convert("RGBA"))
    return Photo(np.ascontiguousarray(rgba[..., :3]), rgba[..., 3], grey)


def write(path: Path | str, photo: Photo) -> None:
    """Write a photo in the format of the name's ending; raises `UserError` for an unknown one."""
    form = WRITTEN.get(Path(path).suffix.lower())
    if form is None:
        raise UserError(f"{path} has no ending of a format to write; use {', '.join(WRITTEN)}.")
    if photo.alpha is not None and form == "JPEG":
        raise UserError(f"{path} cannot hold transparency; write a .png file.")
    image = Image.fromarray(photo.rgb)
    if photo.grey:
        image = image.getchannel(0)
    if photo.alpha is not None:
        image.putalpha(Image.fromarray(photo.alpha))
    options = {"quality": 95, "subsampling": 0} if form == "JPEG" else {}
    with atomic_path(path) as temporary:
        image.save(temporary, format=form, **options)


def resize_alpha(
    alpha: Pixels | None, box: tuple[float, float, float, float], size: tuple[int, int]
) -> Pixels | None:
    """Resample an opacity plane: `box` (top, left, bottom, right) in pixels to `size` (H, W)."""
    if alpha is None:
        return None
    top, left, bottom, right = box
    image = Image.fromarray(alpha).resize(
        (size[1], size[0]), Image.Resampling.BICUBIC, box=(left, top, right, bottom)
    )
    return np.array(image)


def pairs(
    source: Path, target: Path, endings: tuple[str, ...], ending: str | None
) -> Iterator[tuple[Path, Path]]:
    """Yield input and output files: one pair for a file, all files with `endings` for a folder.

    A folder's outputs keep their names, with `ending` in place of the old one where it is given.
    Raises `UserError` when there is nothing to read or an output would overwrite its input.
    """
    if source.is_dir():
        found = sorted(p for p in source.iterdir() if p.suffix.lower() in endings)
        if not found:
            raise UserError(f"{source} holds no file ending in {', '.join(endings)}.")
        targets = [target / (p.stem + (ending or p.suffix)) for p in found]
    elif source.is_file():
        found = [source]
        inside = target.is_dir() or not target.suffix
        targets = [target / (source.stem + (ending or source.suffix)) if inside else target]
    else:
        raise UserError(f"{source} does not exist; name an image file or a folder of images.")
    for one, other in zip(found, targets, strict=True):
        if other.exists() and one.samefile(other):
            raise UserError(f"{other} would overwrite its input; name another output.")
    yield from zip(found, targets, strict=True)


def convert(
    source: Path,
    target: Path,
    work: Callable[[Path, Path], None],
    endings: tuple[str, ...] = SUFFIXES,
    ending: str | None = None,
) -> int:
    """Do `work(input, output)` for a file or every file of a folder; return how many."""
    todo = list(pairs(source, target, endings, ending))
    with Progress(source.name or "images", len(todo), "image") as progress:
        for one, other in todo:
            work(one, other)
            progress.update()
    return len(todo)
