"""The local spectral basis: modes, cutoff, bandwidth maps, rendering, evaluation anywhere.

Paper section 3.1. Every patch has coefficients c[k, i, j] per color k; row index i goes with y,
column index j with x, and the patch's color is sum_ij c[k, i, j] psi_i(y) psi_j(x) at its local
coordinate (y, x). The native convention puts the P pixel centers of an axis at linspace(-1, 1, P),
both ends included.

Coefficients are laid out (B, C, p, p, h, w): what a 1x1 convolution with C p p outputs yields.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .coordinates import find_cells, locate_cells


def evaluate_modes(v: Tensor, count: int, bandwidth: Tensor | float) -> Tensor:
    """Evaluate the 1D modes 1, cos(pi s v), sin(pi s v), cos(2 pi s v), ... at `v`: (..., count).

    `bandwidth` s is broadcast against `v` (...). An even count ends in an unpaired cosine.
    """
    frequencies = math.pi * torch.arange(1, count // 2 + 1, device=v.device, dtype=v.dtype)
    scaled = (v * bandwidth).unsqueeze(-1)
    angles = scaled * frequencies
    pairs = torch.stack((angles.cos(), angles.sin()), dim=-1).flatten(-2)
    return torch.cat((torch.ones_like(scaled), pairs[..., : count - 1]), dim=-1)


def compute_cutoff(order: Tensor, count: int, sharpness: float) -> Tensor:
    """Compute the weights sigmoid(sharpness (order - max(i, j))) of all modes: (..., count, count).

    `order` (...) is the effective cutoff order, at which a mode keeps half its weight.
    """
    index = torch.arange(count, device=order.device, dtype=order.dtype)
    highest = torch.maximum(index[:, None], index[None, :])
    return torch.sigmoid(sharpness * (order[..., None, None] - highest))


def map_to_log_bandwidth(raw: Tensor, low: float, high: float) -> Tensor:
    """Map raw values to bandwidths in [low, high] (0 < low < high) on a logarithmic scale.

    That is exp(log low + log(high / low) sigmoid(raw)), element by element.
    """
    return torch.exp(math.log(low) + math.log(high / low) * torch.sigmoid(raw))


def map_to_linear_bandwidth(raw: Tensor, low: float, high: float) -> Tensor:
    """Map raw values to bandwidths on a linear scale: low + (high - low) sigmoid(raw)."""
    return low + (high - low) * torch.sigmoid(raw)


def build_pixel_basis(patch: int, count: int, bandwidth: Tensor) -> Tensor:
    """Build the modes at a patch's pixel centers: (..., patch, count) for `bandwidth` (...)."""
    v = torch.linspace(-1, 1, patch, device=bandwidth.device, dtype=bandwidth.dtype)
    return evaluate_modes(v, count, bandwidth.unsqueeze(-1))


def render_grid(coefficients: Tensor, basis: Tensor) -> Tensor:
    """Render all patches on the pixel grid: (B, C, p, p, h, w) -> image (B, C, h P, w P).

    `basis` is (P, p), one for all patches, or (B, h, w, P, p), one per patch. The sum over modes is
    two matrix products, x first; the 2D basis (P, P, p, p) is never formed. With a shared basis
    the second product writes straight into image layout.
    """
    batch, channels, count, _, h, w = coefficients.shape
    patch = basis.shape[-2]
    if basis.ndim == 2:
        rows = coefficients.permute(0, 1, 4, 2, 5, 3).reshape(-1, count)
        sums = (rows @ basis.T).view(batch * channels * h, count, w * patch)
        image = torch.bmm(basis.expand(sums.shape[0], -1, -1), sums)
        return image.view(batch, channels, h * patch, w * patch)
    bases = basis.reshape(-1, patch, count)
    rows = coefficients.permute(0, 4, 5, 2, 1, 3).reshape(-1, count * channels, count)
    sums = torch.bmm(rows, bases.mT).view(-1, count, channels * patch)
    del rows  # free it before the image is laid out
    image = torch.bmm(bases, sums).view(batch, h, w, patch, channels, patch)
    del sums
    return image.permute(0, 4, 1, 3, 2, 5).reshape(batch, channels, h * patch, w * patch)


def render_plain(coefficients: Tensor, basis: Tensor) -> Tensor:
    """Render all patches as `render_grid` does, by the defining sum in one einsum.

    Tests and benchmarks compare the fast paths with it.
    """
    batch, channels, count, _, h, w = coefficients.shape
    patch = basis.shape[-2]
    bases = basis.expand(batch, h, w, patch, count)
    image = torch.einsum("bcijhw,bhwyi,bhwxj->bchywx", coefficients, bases, bases)
    return image.reshape(batch, channels, h * patch, w * patch)


def evaluate_at_positions(
    coefficients: Tensor, bandwidth: Tensor, positions: Tensor, patch: int
) -> Tensor:
    """Evaluate the representation at any pixel positions: (B, Q, 2) -> (B, Q, C).

    `bandwidth` is (B, h, w). A position belongs to the patch whose pixels surround it;
    its local coordinate is -1 at the patch's first and 1 at its last pixel center, so that whole
    positions have the colors of `render_grid`. Between two patches' outermost pixel centers the
    local coordinate continues to 1 + 1 / (P - 1), half a pixel beyond.
    """
    count = coefficients.shape[2]
    image, cell_y, cell_x = locate_cells(coefficients, positions, patch)
    local = positions - patch * torch.stack((cell_y, cell_x), dim=-1)
    v = (2 * local / (patch - 1) - 1).to(coefficients.dtype)
    s = bandwidth[image, cell_y, cell_x]
    gathered = coefficients.permute(0, 4, 5, 1, 2, 3)[image, cell_y, cell_x]
    sums = torch.einsum("bqcij,bqj->bqci", gathered, evaluate_modes(v[..., 1], count, s))
    return torch.einsum("bqci,bqi->bqc", sums, evaluate_modes(v[..., 0], count, s))


def evaluate_on_grid(
    coefficients: Tensor, bandwidth: Tensor, rows: Tensor, columns: Tensor, patch: int
) -> Tensor:
    """Evaluate the representation at all crossings of rows (R,) and columns (Q,): (B, C, R, Q).

    `rows` and `columns` are pixel positions, float64, `bandwidth` is (B, h, w). The sum over the
    modes of y is computed once per row and patch instead of once per pixel.
    """
    count, h, w = coefficients.shape[2], *coefficients.shape[-2:]
    cell_y, cell_x = find_cells(rows, patch, h), find_cells(columns, patch, w)
    v_y, v_x = (
        (2 * (at - patch * cell) / (patch - 1) - 1).to(coefficients.dtype)
        for at, cell in ((rows, cell_y), (columns, cell_x))
    )
    s = bandwidth[:, cell_y]
    along_y = evaluate_modes(v_y[:, None], count, s).permute(0, 1, 3, 2)  # (B, R, p, w)
    sums = torch.einsum("bcijrw,briw->bcrjw", coefficients[..., cell_y, :], along_y)
    along_x = evaluate_modes(v_x, count, s[:, :, cell_x]).permute(0, 1, 3, 2)
    return (sums[..., cell_x] * along_x[:, None]).sum(3)
