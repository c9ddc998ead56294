"""A part of an image to draw, and the features that are at hand for it."""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True)
class Part:
    """Rows and columns, each first ... last + 1, of the image to draw.

    `cells` (h, w) is the size of the whole map of features, `origin` (y, x) the first cell of
    those at hand. The ones at hand must reach `REACH` cells beyond those that own the pixels, or to
    the border of the map; then the part has the values that it has within the whole image.
    """

    cells: tuple[int, int]
    origin: tuple[int, int]
    rows: Span
    columns: Span

    @classmethod
    def whole(cls, cells: tuple[int, int], size: tuple[int, int]) -> Part:
        """Return the whole image of `size` (H, W), all features being at hand."""
        return cls(cells, (0, 0), (0, size[0]), (0, size[1]))


# The ensemble reads a cell's neighbor; LIIF's unfolding and LTE's heads one more.
REACH = 2
