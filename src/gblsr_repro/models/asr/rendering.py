"""Fast, exact ways to evaluate the local spectral decoder on a pixel grid.

The decoder's value at a query is, per colour c, the sum over its taps (see `taps`) and over the
modes i, j of

    w_y w_x psi_i(offset_y) psi_j(offset_x) (sum_d W[c, i, j, d] f[d] + b[c, i, j]),

with f the features of the tap's cell. Both weight and basis are products over the axes, and the
offsets on a pixel grid depend on the row or the column alone. So the sums can be done in any
order; each function below picks the order that is cheapest for one kind of grid. Tables of basis
and weights are made in float64 and rounded once.

Weights of the projection are given as (3, p, p, D) and its biases as (3, p, p), mode i of y before
mode j of x.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from ..spectral import modes
from .taps import Slots


def bank(slots: Slots, count: int, bandwidth: Tensor) -> Tensor:
    """Return weight times modes for all slots of an axis: (Z, G, T, S, p), float64."""
    return slots.weight[..., None] * modes(slots.offset, count, bandwidth.double())


# --- integer scales: one convolution and a pixel shuffle ---------------------------------------


@dataclass(frozen=True)
class Folded:
    """The whole decoder at integer scales (s_y, s_x) as one convolution on cells.

    `kernel` is (3 s_y s_x, D, T, T), `bias` (3 s_y s_x, 1, T, T), T as for taps. With T = 2 the
    convolution lives on the corners between cells: its output block (g_y, g_x) holds the pixels
    around corner (g_y, g_x), `lead` of them on the far side of it per axis. `gains` are per axis
    the factors that turn a border half-cell's hat weights into 1: first pixels, last pixels.
    """

    kernel: Tensor
    bias: Tensor
    scales: tuple[int, int]
    lead: tuple[int, int]
    gains: tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]


def fold(
    weight: Tensor, bias: Tensor, bandwidth: Tensor, scales: tuple[int, int], ensemble: bool
) -> Folded:
    """Fold projection, basis and local ensemble into one kernel; differentiable.

    Per axis, the pixels of a cell lie at offsets r_t = (2 t + 1) / s - 1. Those with r_t >= 0 form
    the far half and read this cell and the next, so in the block of the corner between the two
    they come first; the near half of the next cell, at r_t + 2 from this one, follows.
    """
    tables, leads, gains = [], [], []
    for scale in scales:
        axis = torch.arange(scale, device=weight.device)
        offset = (2 * axis + 1 - scale).double() / scale
        hat = 1 - offset.abs() / 2
        lead = scale - scale // 2 if ensemble else 0
        if ensemble:
            near, far = offset[: scale // 2], offset[scale // 2 :]
            this = torch.cat((far, near + 2))
            taps = torch.stack((this, this - 2))  # offsets from the two cells of a corner
            table = (1 - taps.abs() / 2)[..., None] * modes(taps, weight.shape[1], bandwidth.double())
        else:
            table = modes(offset[None], weight.shape[1], bandwidth.double())
        tables.append(table)
        leads.append(lead)
        gains.append((1 / hat[: scale // 2], 1 / hat[scale // 2 :]))
    joined = torch.cat((weight, bias[..., None]), dim=-1).double()
    half = torch.einsum("euj,cijd->cidue", tables[1], joined)
    full = torch.einsum("ati,cidue->ctudae", tables[0], half).to(weight.dtype)
    kernel = full.reshape(-1, *full.shape[3:])
    first, second = (tuple(g.to(weight.dtype) for g in pair) for pair in gains)
    return Folded(
        kernel[:, :-1].contiguous(),
        kernel[:, -1:].contiguous(),
        scales,
        (leads[0], leads[1]),
        (first, second),
    )


def render_folded(features: Tensor, folded: Folded) -> Tensor:
    """Render features (B, D, h, w) at the integer scales of `folded`: (B, 3, s_y h, s_x w)."""
    scale_y, scale_x = folded.scales
    h, w = features.shape[-2:]
    if folded.kernel.shape[-1] == 1:
        blocks = F.conv2d(features, folded.kernel, folded.bias.flatten())
        return _shuffle(blocks, scale_y, scale_x)
    ones = features.new_ones(1, 1, h, w)
    blocks = F.conv2d(features, folded.kernel, padding=1)
    blocks = blocks + F.conv2d(ones, folded.bias, padding=1)
    rows, columns = folded.lead
    image = _shuffle(blocks, scale_y, scale_x)
    image = image[..., rows : rows + scale_y * h, columns : columns + scale_x * w]
    (top, bottom), (left, right) = folded.gains
    image[..., : len(top), :] *= top[:, None]
    image[..., -len(bottom) :, :] *= bottom[:, None]
    image[..., : len(left)] *= left
    image[..., -len(right) :] *= right
    return image


def _shuffle(blocks: Tensor, scale_y: int, scale_x: int) -> Tensor:
    """Spread channels (colour, row, column) of each block over pixels."""
    if scale_y == scale_x:
        return F.pixel_shuffle(blocks, scale_y)
    batch, _, h, w = blocks.shape
    blocks = blocks.view(batch, 3, scale_y, scale_x, h, w).permute(0, 1, 4, 2, 5, 3)
    return blocks.reshape(batch, 3, h * scale_y, w * scale_x)


# --- any scale: one axis after the other -------------------------------------------------------


def along_columns(features: Tensor, weight: Tensor, bias: Tensor, table: Tensor) -> Tensor:
    """Sum over x: features (B, D, h, w) and an x bank (Z, G, T, S, p) to (B, h, p * 3 * G * S).

    Z is B, one table for each image, or 1, one for all. The last axis runs over mode i of y,
    colour, group, slot. The sum over mode j is done on the weights, once per slot and not once per
    slot and row: the map of all 3 p p coefficients is never formed.
    """
    batch, depth, h, w = features.shape
    tables, groups, taps, width, count = table.shape
    table = table.to(features.dtype)
    # (Z, G, T, S, i, c, d): what each slot takes from its cells.
    reads = table.reshape(-1, count) @ weight.permute(2, 1, 0, 3).reshape(count, -1)
    reads = reads.view(tables * groups, taps, width * count * 3, depth)
    offset = table.sum(dim=2).reshape(-1, count) @ bias.permute(2, 1, 0).reshape(count, -1)
    # One table for all images: they stand below each other, as more rows of one image.
    cells = features.permute(0, 3, 1, 2) if tables == batch else features.permute(3, 1, 0, 2)
    cells = cells.reshape(tables, w, depth, batch * h // tables)
    sums = offset.view(tables * groups, -1, 1)
    for tap, near in enumerate(_neighbours(cells, taps)):
        sums = torch.baddbmm(sums, reads[:, tap], near)
    sums = sums.view(tables, groups, width, count, 3, batch // tables, h)
    return sums.permute(0, 5, 6, 3, 4, 1, 2).reshape(batch, h, count * 3 * groups * width)


def along_rows(sums: Tensor, table: Tensor) -> Tensor:
    """Sum over y: (B, h, p * X) and a y bank (Z, G, T, S, p) to (B, X, G * S)... rows first.

    Returns (B, G * S, X), with Z as in `along_columns`.
    """
    batch, h, _ = sums.shape
    tables, groups, taps, width, count = table.shape
    table = table.to(sums.dtype).expand(batch, -1, -1, -1, -1)
    rows = sums.view(batch, h, count, -1)
    out: Tensor | None = None
    for tap, near in enumerate(_neighbours(rows, taps)):
        part = table[:, :, tap].reshape(batch * groups, width, count)
        out = torch.bmm(part, near) if out is None else torch.baddbmm(out, part, near)
    return out.view(batch, groups * width, -1)


def _neighbours(cells: Tensor, taps: int) -> tuple[Tensor, ...]:
    """Return each group's cell for every tap: (B, n, ...) to T times (B * G, ...).

    With two taps a zero cell is put between the images and at both ends; the tables have weight 0
    there, so one such cell serves the end of one image and the start of the next.
    """
    if taps == 1:
        return (cells.flatten(0, 1),)
    batch, n = cells.shape[:2]
    padded = cells.new_zeros(batch * (n + 1) + 1, *cells.shape[2:])
    padded[1:].view(batch, n + 1, *cells.shape[2:])[:, :n] = cells
    return padded[:-1], padded[1:]
