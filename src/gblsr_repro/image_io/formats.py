"""The image formats that are written: their endings, their limits and what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from .photo import Size


@dataclass(frozen=True)
class Format:
    """A format that is written.

    `name` is Pillow's; `largest` the most pixels of a side, None where it is more than any output
    has; `tags`, `alpha` and `gray` whether it holds `Tags`, an opacity and images of one channel.
    """

    name: str
    endings: tuple[str, ...]
    tags: bool
    largest: int | None = None
    alpha: bool = False
    gray: bool = True


FORMATS = (
    Format("PNG", (".png",), True, alpha=True),
    Format("JPEG", (".jpg", ".jpeg", ".jpe", ".jfif"), True, 65500),
    Format("WebP", (".webp",), True, 16383, alpha=True, gray=False),
    Format("TIFF", (".tif", ".tiff"), True, alpha=True),
    Format("BMP", (".bmp",), False),
    Format("PPM", (".ppm",), False),
)
BY_ENDING = {ending: form for form in FORMATS for ending in form.endings}


def check_output(path: Path | str, size: Size, alpha: bool) -> Format:
    """Return the format that a file's ending names, where it can hold such a photograph.

    `size` is the height and the width in pixels, `alpha` whether there is an opacity. Raises
    `UserError` for an ending of no format that is written, and for more than a format holds.
    """
    form = BY_ENDING.get(Path(path).suffix.lower())
    if form is None:
        endings = ", ".join(BY_ENDING)
        raise UserError(f"{path} has no ending of a format to write; use {endings}.")
    if alpha and not form.alpha:
        raise UserError(f"{path} cannot hold transparency; write a .png file.")
    if form.largest and max(size) > form.largest:
        raise UserError(
            f"{path} would have {size[1]} x {size[0]} pixels (width x height), but a side of a "
            f"{form.name} file has at most {form.largest}; write a .png file, or choose a smaller "
            "scale or crop."
        )
    return form
