"""LIIF as a baseline of the native benchmark (paper appendix A.1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, cast

import torch
from torch import Tensor

from .base import COLORS
from .coordinates import compute_offsets, find_cells
from .decoders import apply_later_layers, build_perceptron, reshape_to_image
from .latent import ACTIVATIONS, NEAREST, RELATIVE, LatentDecoder
from .layers import ONEDNN_BATCH, apply_pointwise


class LIIFDecoder(LatentDecoder):
    """LIIF: an MLP on features, relative coordinate and cell size, blended over four corner cells.

    The cell size is that of a pixel; features are not unfolded. Option `units`: coordinate and cell
    size are in image coordinates, [-1, 1] over the image, or multiplied by the number of cells of
    their axis, hence in half cells, as LIIF was published. Option `shift`: the corners are the
    cells that contain the position moved by half a cell, or by half a pixel (the published rule
    with the image's size for the latent grid's: one pixel before each border blends two cells), on
    both axes. Option `weights`: a corner counts by the area between its cell's center and the
    position (own), by that of the opposite corner, as LIIF was published, or all count equally.
    Option `centers`: coordinates and areas are measured from the cell's center, or from a place
    that linspace(-1, 1) gives it, spread evenly from edge to edge of the image. Option
    `activation`: that of the hidden layers.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ("features", "patch", "hidden")
    OPTIONS: ClassVar = {
        "shift": ("half_cell", "half_pixel"),
        "weights": ("own", "opposite", "equal"),
        "units": ("half_cell", "image"),
        "centers": ("cell", "even"),
        "activation": tuple(ACTIVATIONS),
    }

    def __init__(
        self,
        section: Mapping[str, Any],
        *,
        shift: str,
        weights: str,
        units: str,
        centers: str,
        activation: str = "relu",
    ) -> None:
        super().__init__(section, features=NEAREST, coordinates=RELATIVE)
        self.even = centers == "even"
        self.shift = 0.5 / self.patch if shift == "half_pixel" else 0.5
        self.weights, self.units = weights, units
        self.activate = ACTIVATIONS[activation]
        self.layers = build_perceptron(self.features + 4, section["hidden"], 5)

    def render_fast(self, features: Tensor) -> Tensor:
        """Render; the first layer is applied per cell, the relative coordinate added per axis.

        Pixels of an axis with the same two corner cells form groups, to which values are expanded.
        The blend's weights are products of one weight per axis.
        """
        batch, d, h, w = features.shape
        weight, cells = self.layers[0].weight, self._apply_first_layer(features)
        across = self._compute_corners(w, cells)
        group = self.patch // 2 if self.shift == 0.5 else 1
        image: Any = 0.0  # a tensor once something is added
        for cell_y, rel_y, share_y in self._compute_corners(h, cells):
            rows = cells.index_select(1, cell_y[::group])
            part_y = rel_y.view(-1, group, 1, 1, 1) * weight[:, d]
            for cell_x, rel_x, share_x in across:
                near = rows.index_select(2, cell_x[::group])[:, :, None, :, None, :]
                near = near + rel_x.view(-1, group, 1) * weight[:, d + 1]
                hidden = (near + part_y).view(batch, h * self.patch, w * self.patch, -1)
                share = share_y[:, None, None] * share_x[:, None]
                image = image + apply_later_layers(hidden, self.layers, self.activate) * share
        return reshape_to_image(image, batch, h * self.patch, w * self.patch)

    def render_pixels(self, features: Tensor, pixels: Tensor) -> Tensor:
        """Render single pixels as `render_fast` does, without the corners of weight zero."""
        batch, d, h, w = features.shape
        cells = self._apply_first_layer(features)
        coordinates_part = self.layers[0].weight[:, d : d + 2].mT
        y, x = (part.flatten() for part in (pixels // (w * self.patch), pixels % (w * self.patch)))
        first = torch.arange(batch, device=features.device).repeat_interleave(pixels.shape[1]) * h
        across = self._compute_corners(w, cells)
        image = features.new_zeros(len(y), COLORS)
        for cell_y, rel_y, share_y in self._compute_corners(h, cells):
            for cell_x, rel_x, share_x in across:
                share = share_y[y] * share_x[x]
                # Rounded up to what `apply_pointwise` divides evenly.
                counted = math.ceil(share.count_nonzero().item() / ONEDNN_BATCH) * ONEDNN_BATCH
                if not counted:
                    continue
                at = (share == 0).to(torch.uint8).argsort(stable=True)[:counted]
                row, column = y[at], x[at]
                near = cells.flatten(0, 2)[(first[at] + cell_y[row]) * w + cell_x[column]]
                relative = torch.stack((rel_y[row], rel_x[column]), dim=-1)
                hidden = torch.addmm(near, relative, coordinates_part)
                colors = apply_later_layers(hidden, self.layers, self.activate) * share[at, None]
                image = image.index_add(0, at, colors)
        return image.view(batch, -1, COLORS)

    def _apply_first_layer(self, features: Tensor) -> Tensor:
        """Apply the first layer to all of its input but the coordinate: (B, h, w, hidden)."""
        d, first = features.shape[1], self.layers[0]
        size = self._compute_half_cells(features) * (2 / self.patch)
        size_part = first.weight[:, d + 2 :] @ size
        return self.apply_per_cell(features, first.weight[:, :d], first.bias + size_part)

    def _compute_corners(self, count: int, like: Tensor) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Compute index, offset and share of the lower and the upper corner cell on an axis.

        For every pixel, (count P,): the cell, the offset from its place (`locate_cells`), its share
        in the pixel. Where both are the same cell, the upper one's share is 0.
        """
        pixels = torch.arange(count * self.patch, dtype=torch.float64, device=like.device)
        cells = [find_cells(pixels, self.patch, count, sign * self.shift) for sign in (-1, 1)]
        offsets = [
            compute_offsets(pixels, self.patch, self.locate_cells(cell, (count,))) for cell in cells
        ]
        upper = self._compute_shares([offset.abs() for offset in offsets])[1]
        upper = upper.where(cells[0] != cells[1], 0.0)
        half_cell = self._compute_half_cell(count)
        return [
            (cell, (offset * half_cell).to(like.dtype), share.to(like.dtype))
            for cell, offset, share in zip(cells, offsets, (1 - upper, upper), strict=True)
        ]

    def locate_cells(self, cell: Tensor, counts: tuple[int, ...]) -> Tensor:
        """Return the places of cells, counted in cells: their indices, or spread edge to edge.

        The first and the last of an axis' cells then lie at -0.5 and at their number - 0.5.
        """
        if not self.even:
            return cell
        cell = cell.double()
        return cell * _stack_numbers((n / max(n - 1, 1) for n in counts), cell) - 0.5

    def _compute_half_cell(self, count: int) -> float:
        """Compute half a cell of an axis with `count` cells in the units of the coordinates."""
        return 1 / count if self.units == "image" else 1.0

    def _compute_half_cells(self, features: Tensor) -> Tensor:
        """Compute half a cell of either axis, (2,)."""
        return _stack_numbers(map(self._compute_half_cell, features.shape[-2:]), features)

    def _compute_shares(self, sizes: list[Tensor]) -> list[Tensor]:
        """Compute the corners' shares from their areas, or an axis' from its distances."""
        if self.weights == "equal":
            sizes = [torch.ones_like(size) for size in sizes]
        total = sum(sizes)
        return [size / total for size in (sizes[::-1] if self.weights == "opposite" else sizes)]

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the MLP for all four corners and blend them by their areas."""
        colors, areas = [], []
        half_cells = self._compute_half_cells(features)
        size = (half_cells * (2 / self.patch)).expand(*positions.shape[:2], 2)
        first = self.layers[0]
        for shift_y in (-self.shift, self.shift):
            for shift_x in (-self.shift, self.shift):
                near, relative = self.look_up_corner(features, positions, (shift_y, shift_x))
                hidden = torch.cat((near, relative * half_cells, size), dim=-1)
                hidden = apply_pointwise(hidden, first.weight, first.bias)
                colors.append(apply_later_layers(hidden, self.layers, self.activate))
                areas.append(relative.prod(dim=-1, keepdim=True).abs() + 1e-9)
        shares = self._compute_shares(areas)
        return cast("Tensor", sum(c * share for c, share in zip(colors, shares, strict=True)))


def _stack_numbers(numbers: Iterable[float], like: Tensor) -> Tensor:
    """Stack numbers on the device of `like` and in its type, without waiting for the device."""
    return torch.stack([like.new_full((), number) for number in numbers])
