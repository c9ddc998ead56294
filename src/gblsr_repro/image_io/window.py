"""Choose what of an image to draw, and the size of the output: by a scale, or to a size.

A size to reach is (height, width), one of them None where it is to follow from the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import UserError
from .photo import Box, Size

MAX_OUTPUT_PIXELS = 200_000_000
Target = tuple[int | None, int | None]  # height, width to reach


@dataclass(frozen=True)
class Window:
    """The part of an image to draw, and the sizes (H, W) of the output and of what is drawn.

    `drawn` is `size` where the part is enlarged; else it is the part's own size. `scales` are the
    drawn pixels per original pixel, down and across.
    """

    box: Box
    size: Size
    drawn: Size
    scales: tuple[float, float]


def select_window(
    image: Size,
    scale: float | None = None,
    crop: Box | None = None,
    size: Target | None = None,
) -> Window:
    """Return what to draw of an image of (H, W) pixels, whole or cropped, at a scale or a size.

    The scale is 1 where neither is given. Raises `UserError` for both, for a scale that is not
    positive and finite, for a size of another aspect than the image or its crop, for a crop that
    does not lie inside the image, and for an output of more than `MAX_OUTPUT_PIXELS`.
    """
    height, width = image
    box = top, left, bottom, right = crop or (0, 0, height, width)
    if not (0 <= top < bottom <= height and 0 <= left < right <= width):
        raise UserError(
            f"The crop {top:g} {left:g} {bottom:g} {right:g} does not lie inside the image of "
            f"{width} x {height} pixels (width x height); give top, left, bottom, right in pixels."
        )
    if size is not None:
        if scale is not None:
            raise UserError("Give a scale or a size, not both.")
        return _fit_window(box, size)
    scale = 1.0 if scale is None else scale
    if not (scale > 0 and math.isfinite(scale)):
        raise UserError(f"The scale is {scale:g}, but must be more than 0 and finite.")
    # Before rounding: both may be infinite.
    _check_pixels(max((bottom - top) * scale, 1), max((right - left) * scale, 1), "scale")
    drawn = max(scale, 1)
    return Window(box, _scale_size(box, scale), _scale_size(box, drawn), (drawn, drawn))


def _fit_window(box: Box, size: Target) -> Window:
    """Return the window of a box whose output has a size: see `_fit_size`."""
    fitted, own = _fit_size(box, size), _scale_size(box, 1)
    _check_pixels(*fitted, "size")
    height, width = drawn = max(fitted[0], own[0]), max(fitted[1], own[1])
    top, left, bottom, right = box
    return Window(box, fitted, drawn, (height / (bottom - top), width / (right - left)))


def _fit_size(box: Box, size: Target) -> Size:
    """Return the height and the width that a box gets for a height, a width or both.

    Both fit where one of them is what the other gives at the box's aspect, rounded half up.
    """
    height, width = size
    if size == (None, None) or any(length is not None and length < 1 for length in size):
        raise UserError("A size has a height, a width or both, of at least one pixel.")
    top, left, bottom, right = box
    down, across = bottom - top, right - left
    fitting: list[Size] = []
    if width is not None:
        fitting.append((_round_length(width * down / across), width))
    if height is not None:
        fitting.append((height, _round_length(height * across / down)))
    if len(fitting) > 1 and (height, width) not in fitting:
        nearest = " and ".join(f"{wide}x{high}" for high, wide in fitting)
        raise UserError(
            f"{width}x{height} has another aspect than the {across:g}x{down:g} pixels of the image "
            f"or its crop; the nearest sizes that fit are {nearest}."
        )
    return next((fit for fit in fitting if fit == (height, width)), fitting[0])


def _check_pixels(height: float, width: float, means: str) -> None:
    """Raise `UserError` where an output would have more than `MAX_OUTPUT_PIXELS`."""
    if height * width > MAX_OUTPUT_PIXELS:
        raise UserError(
            f"The output would have {width:.7g} x {height:.7g} pixels (width x height), more "
            f"than {MAX_OUTPUT_PIXELS // 1_000_000} megapixels; choose a smaller {means} or crop."
        )


def _scale_size(box: Box, scale: float) -> Size:
    """Return the height and width of a box at a scale, each rounded half up and at least 1."""
    top, left, bottom, right = box
    return _round_length((bottom - top) * scale), _round_length((right - left) * scale)


def _round_length(length: float) -> int:
    """Round the pixels of a side half up, to at least 1.

    What falls short of a half by binary fractions alone counts as one: 100 pixels at 1.005 are 101.
    """
    return max(math.floor(length + 0.5 + 1e-9), 1)
