"""A photograph in memory, and how its pixels are prepared for a model and put together after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from PIL import Image
from torch import Tensor

from ..data.images import Pixels
from ..errors import UserError

Box = tuple[float, float, float, float]  # top, left, bottom, right in pixels
Size = tuple[int, int]  # height, width in pixels
HIDDEN_ALPHA = 1  # opacity up to which a color shows by one level of 255 at most


@dataclass(frozen=True)
class Tags:
    """What an image file says of its pixels: the ICC profile of the colors, the EXIF data."""

    profile: bytes | None = None
    exif: bytes | None = None


@dataclass(frozen=True)
class Photo:
    """An 8-bit photograph.

    `rgb` are the colors (H, W, 3); `alpha` the opacity (H, W), from 0 to 255, or None for an opaque
    photograph; `gray` says that the file has one channel for all colors; `tags` are what the file
    says of its pixels. Raises `UserError` for other arrays.
    """

    rgb: Pixels
    alpha: Pixels | None = None
    gray: bool = False
    tags: Tags = field(default_factory=Tags)

    def __post_init__(self) -> None:
        """Refuse arrays of other values or shapes, which would be shown as what they are not."""
        size = getattr(self.rgb, "shape", ())[:2]
        _check_array("rgb", self.rgb, (*size, 3), "(H, W, 3)")
        if self.alpha is not None:
            _check_array("alpha", self.alpha, size, "(H, W), that of the colors")

    @property
    def size(self) -> Size:
        """Height and width in pixels."""
        return self.rgb.shape[0], self.rgb.shape[1]


def _check_array(name: str, array: object, shape: tuple[int, ...], expected: str) -> None:
    """Raise `UserError` unless an array of a photograph holds levels from 0 to 255 in `shape`."""
    found = getattr(array, "shape", ())
    if isinstance(array, np.ndarray) and array.dtype == np.uint8 and found == shape and array.size:
        return
    raise UserError(
        f"Photo takes for {name} a numpy array of uint8, from 0 to 255, of shape {expected}, but "
        f"got {getattr(array, 'dtype', type(array).__name__)} {tuple(found)}; convert it first."
    )


def extend_visible_colors(photo: Photo) -> Pixels:
    """Return the colors (H, W, 3) with those under transparent pixels replaced by visible ones.

    Every pixel that is as good as invisible takes the color of the nearest visible one. So a model,
    which reads the neighbors of a pixel, reads nothing that the photograph does not show.
    """
    if photo.alpha is None:
        return photo.rgb
    hidden = photo.alpha <= HIDDEN_ALPHA
    if hidden.all() or not hidden.any():
        return photo.rgb
    from scipy import ndimage  # most photographs are opaque, and do without its import

    nearest = ndimage.distance_transform_edt(hidden, return_distances=False, return_indices=True)
    return photo.rgb[tuple(nearest)]


def paint(size: Size, parts: Iterable[tuple[int, int, Tensor]], gray: bool) -> Pixels:
    """Assemble 8-bit colors (H, W, 3) of `size` from rectangles that cover it.

    `parts` yields first row, first column and colors (1, 3, h, w) in [0, 1], which are clamped and
    rounded. With `gray` the three channels of each pixel become their mean.
    """
    rgb = np.empty((*size, 3), np.uint8)
    for top, left, colors in parts:
        values = colors[0].permute(1, 2, 0).clamp(0, 1).mul(255)
        if gray:
            values = values.mean(dim=2, keepdim=True).expand(-1, -1, 3)
        height, width = values.shape[:2]
        rounded = values.round().byte().cpu().numpy()
        rgb[top : top + height, left : left + width] = rounded
    return rgb


def resize_alpha(alpha: Pixels | None, size: Size, box: Box) -> Pixels | None:
    """Resize the part of an opacity (H, W) inside `box` to `size`, bicubic; None stays None."""
    if alpha is None:
        return None
    top, left, bottom, right = box
    image = Image.fromarray(alpha)
    edges = (left, top, right, bottom)
    return np.array(image.resize(size[::-1], Image.Resampling.BICUBIC, box=edges))


def reduce(photo: Photo, size: Size) -> Photo:
    """Resize a photograph to a smaller `size`, bicubic and antialiased.

    Colors are weighted by their opacity, so that hidden ones have no part in what is visible.
    """
    image = Image.fromarray(photo.rgb)
    if photo.alpha is not None:
        image.putalpha(Image.fromarray(photo.alpha))
    pixels = np.array(image.resize(size[::-1], Image.Resampling.BICUBIC))
    alpha = None if photo.alpha is None else pixels[..., 3]
    return replace(photo, rgb=pixels[..., :3], alpha=alpha)
