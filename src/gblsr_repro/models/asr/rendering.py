"""Fast, exact ways to evaluate the local spectral decoder on a pixel grid.

The decoder's value at a query is, per color c, the sum over its taps (see `local_ensemble`) and
over the modes i, j of

    w_y w_x psi_i(offset_y) psi_j(offset_x) (sum_d W[c, i, j, d] f[d] + b[c, i, j]),

with f the features of the tap's cell. Both weight and basis are products over the axes, and the
offsets on a pixel grid depend on the row or the column alone. So the sums can be computed in any
order; every function below uses the order that is cheapest for one kind of grid. Tables of basis
and weights are computed in float64 and rounded once.

`projection` is W with b as one more plane, (3, p, p, D + 1): mode i of y before mode j of x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..spectral import evaluate_modes
from .local_ensemble import Length, PaddedGroups, RenderArea, Span, find_group, group_pixels


def build_bank(axis: PaddedGroups, count: int, bandwidth: Tensor) -> Tensor:
    """Build the bank of weight times modes for all slots of an axis: (Z, G, T, S, p), float64."""
    return axis.weight[..., None] * evaluate_modes(axis.offset, count, bandwidth.double())


# --- integer scales: one convolution and a pixel shuffle ---------------------------------------


@dataclass(frozen=True)
class FoldedKernel:
    """The whole decoder at an integer scale s as one convolution on cells.

    `kernel` is (3 s^2, D, T, T), `bias` (3 s^2, 1, T, T), T as for taps. With T = 2 the outputs of
    the convolution belong to the corners between cells: one output has the s x s pixels around a
    corner. Outside the map it reads zeros, so a border half-cell has one tap with a hat weight
    below 1; `gains` are the factors that raise it to 1, for the first and the last pixels of an
    axis.
    """

    kernel: Tensor
    bias: Tensor
    scale: int
    gains: tuple[Tensor, ...]


def fold_decoder(projection: Tensor, bandwidth: Tensor, scale: int, ensemble: bool) -> FoldedKernel:
    """Fold projection, basis and local ensemble into one kernel; differentiable.

    Per axis, the pixels of a cell lie at offsets r_t = (2 t + 1) / s - 1. Those with r_t >= 0 form
    the far half and read this cell and the next, so in the block of the corner between the two
    they come first; the near half of the next cell, at r_t + 2 from this one, follows. The two
    taps of a pixel at offset r from the corner's first cell are at r and r - 2.
    """
    index = torch.arange(scale, device=projection.device, dtype=torch.float64)
    offset = (2 * index + 1 - scale) / scale
    near, far = offset[: scale // 2], offset[scale // 2 :]
    this = torch.cat((far, near + 2))
    taps = torch.stack((this, this - 2)) if ensemble else offset[None]
    table = evaluate_modes(taps, projection.shape[1], bandwidth.double())
    if ensemble:
        table = (1 - taps.abs() / 2)[..., None] * table
    sums = torch.einsum("euj,cijd->cidue", table, projection.double())
    full = torch.einsum("ati,cidue->ctudae", table, sums).to(projection.dtype)
    kernel = full.reshape(-1, *full.shape[3:])
    weight, bias = kernel[:, :-1].contiguous(), kernel[:, -1:].contiguous()
    gains = ((1 / (1 - offsets.abs() / 2)).to(projection.dtype) for offsets in (near, far))
    return FoldedKernel(weight, bias, scale, tuple(gains) if ensemble else ())


def render_folded(features: Tensor, folded: FoldedKernel) -> Tensor:
    """Render features (B, D, h, w) at the integer scale of `folded`: (B, 3, s h, s w)."""
    scale, (h, w) = folded.scale, features.shape[-2:]
    if not folded.gains:
        blocks = F.conv2d(features, folded.kernel, folded.bias.flatten())
        return F.pixel_shuffle(blocks, scale)
    blocks = F.conv2d(features, folded.kernel, padding=1)
    blocks += F.conv2d(features.new_ones(1, 1, h, w), folded.bias, padding=1)
    first, last = folded.gains
    image = F.pixel_shuffle(blocks, scale)[..., len(last) :, len(last) :]
    image = image[..., : scale * h, : scale * w]
    # `*=` on a slice would also copy it onto itself.
    image[..., : len(first), :].mul_(first[:, None])
    image[..., -len(last) :, :].mul_(last[:, None])
    image[..., : len(first)].mul_(first)
    image[..., -len(last) :].mul_(last)
    return image


# --- any scale: sums over one axis, then over the other ----------------------------------------


def sum_over_x(features: Tensor, projection: Tensor, table: Tensor) -> Tensor:
    """Sum over x: features (B, D, h, w) and an x bank (Z, G, T, S, p) to (B, h, G S 3, p).

    Z is B, a table per image, or 1, one for all. The result has, per row of cells and per slot, the
    coefficients of the y modes for every color. Mode j is summed on the weights, once per slot
    instead of once per slot and row: the map of all 3 p p coefficients is never formed.
    """
    batch, _, h, w = features.shape
    tables, groups, taps, width, count = table.shape
    planes = projection.permute(2, 0, 1, 3).reshape(count, -1)
    weights = [
        (tap.reshape(-1, count) @ planes).view(tables * groups, width * 3 * count, -1)
        for tap in table.to(features.dtype).unbind(2)
    ]
    # With one table for all, the images are stacked as rows of one.
    order = (0, 3, 2, 1) if tables == batch else (3, 0, 2, 1)
    cells = features.permute(order).reshape(tables, w, batch * h // tables, -1)
    cells = F.pad(cells, (0, 1), value=1.0)  # the plane that the biases multiply
    sums = _TapProducts.apply(True, _line_up_cells(cells, taps), *weights)
    sums = sums.view(tables, groups, batch // tables, h, -1).permute(0, 2, 3, 1, 4)
    return sums.reshape(batch, h, -1, count)


def sum_over_y(sums: Tensor, table: Tensor) -> Tensor:
    """Sum over y: (B, h, X 3, p) and a y bank (Z, G, T, S, p) to (B, G S, X, 3)."""
    batch, _, _, count = sums.shape
    groups, taps, width = table.shape[1:4]
    table = table.to(sums.dtype).expand(batch, -1, -1, -1, -1)
    table = table.reshape(batch * groups, taps, width, count)
    image = _TapProducts.apply(False, _line_up_cells(sums, taps), *table.unbind(1))
    return image.view(batch, groups * width, -1, 3)


def _line_up_cells(cells: Tensor, taps: int) -> Tensor:
    """Line up the cells of all images so that tap t of group g reads entry g + t: (B, n, ...).

    With two taps a zero cell is inserted before every image and after the last; the tables have
    weight 0 at it, so one zero cell ends an image and starts the next. Entries after the last one
    of a batch are not read.
    """
    if taps == 1:
        return cells.flatten(0, 1)
    ends = (1, 1, 0, 0) if cells.shape[0] == 1 else (1, 0, 0, 1)
    return F.pad(cells, (*[0, 0] * (cells.ndim - 2), *ends)).flatten(0, 1)


class _TapProducts(torch.autograd.Function):
    """Sum over taps t of cells[g + t] @ weights_t[g]^T, or of the transposed products.

    `cells` is (G + T - 1 or more, m, k) and each of the T weights (G, n, k); the result is
    (G, m, n) with `cells_first`, otherwise (G, n, m). Written out because the derivative of a
    plain batched product lays the weights' gradients out transposed and sums the overlapping
    cells' in copies.
    """

    @staticmethod
    def forward(ctx: Any, cells_first: bool, cells: Tensor, *weights: Tensor) -> Tensor:
        ctx.save_for_backward(cells, *weights)
        ctx.cells_first = cells_first
        pairs = [(cells[tap : tap + w.shape[0]], w) for tap, w in enumerate(weights)]
        (left, right), *others = pairs if cells_first else [(w, part) for part, w in pairs]
        total = torch.bmm(left, right.mT)
        for left, right in others:
            total.baddbmm_(left, right.mT)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        cells, *weights = ctx.saved_tensors
        gradient = gradient if ctx.cells_first else gradient.mT
        of_cells, of_weights = torch.zeros_like(cells), []
        for tap, weight in enumerate(weights):
            place = slice(tap, tap + weight.shape[0])
            of_cells[place].baddbmm_(gradient, weight)
            of_weights.append(torch.bmm(gradient.mT, cells[place]))
        return None, of_cells, *of_weights


def render_separable(
    features: Tensor,
    projection: Tensor,
    bandwidth: Tensor,
    size: tuple[Length, Length],
    ensemble: bool,
    area: RenderArea,
) -> Tensor:
    """Render an area of an image of any size (H, W) from features (B, D, h, w): (B, 3, rows, W)."""
    axes = [
        _group_axis(cells, length, span, ensemble, features.device)
        for cells, length, span in zip(area.cells, size, (area.rows, area.columns), strict=True)
    ]
    rows, columns = (
        slice(first - origin, last - origin)
        for (_, (first, last), _), origin in zip(axes, area.origin, strict=True)
    )
    down, across = (build_bank(groups, projection.shape[1], bandwidth) for groups, _, _ in axes)
    sums = sum_over_x(features[:, :, rows, columns], projection, across)
    image = sum_over_y(sums, down)
    for dim, (_, _, slots) in enumerate(axes, 1):
        image = image.index_select(dim, slots)
    return image.permute(0, 3, 1, 2).contiguous()


def _group_axis(
    cells: int, length: Length, pixels: Span, ensemble: bool, device: torch.device
) -> tuple[PaddedGroups, Span, Tensor]:
    """Group some pixels of an axis: the groups, the cells that they read, the pixels' slots."""
    lengths, parts = torch.full((1,), length.numerator, device=device), length.denominator
    whole = group_pixels(cells, lengths, -(-length // cells), ensemble, parts)
    first, last = (find_group(p, length, cells, ensemble) for p in (pixels[0], pixels[1] - 1))
    low, high = (max(first - 1, 0), min(last + 1, cells)) if ensemble else (first, last + 1)
    slots = whole.locate_slots(torch.arange(*pixels, device=device)[None])[0] - low * whole.width
    groups = slice(low, high + 1 if ensemble else high)
    fields = (whole.first[:, groups], whole.offset[:, groups], whole.weight[:, groups])
    return PaddedGroups(*fields), (low, high), slots


def sample_separable(
    features: Tensor,
    projection: Tensor,
    bandwidth: Tensor,
    sizes: Tensor,
    pixels: Tensor,
    slots_per_group: int,
    ensemble: bool,
) -> Tensor:
    """Compute the colors of single pixels of images of different sizes: (B, Q, 3).

    `sizes` (B, 2) are the images' heights and widths in pixels and `pixels` (B, Q, 2) rows and
    columns in them, int64. `slots_per_group` is at least ceil of the largest scale. All images of
    the batch share the padded slots, so the whole batch takes a few batched products;
    differentiable in features, projection and bandwidth.
    """
    batch, _, h, w = features.shape
    count = projection.shape[1]
    rows = group_pixels(h, sizes[:, 0], slots_per_group, ensemble)
    columns = group_pixels(w, sizes[:, 1], slots_per_group, ensemble)
    sums = sum_over_x(features, projection, build_bank(columns, count, bandwidth))
    raster = sum_over_y(sums, build_bank(rows, count, bandwidth))
    index = rows.locate_slots(pixels[..., 0]) * raster.shape[2]
    index = index + columns.locate_slots(pixels[..., 1])
    return raster.view(batch, -1, 3).gather(1, index[..., None].expand(-1, -1, 3))
