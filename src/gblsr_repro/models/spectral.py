"""The local spectral basis: modes, cutoff, bandwidth maps, rendering, evaluation anywhere.

Paper section 3.1. Every patch carries coefficients c[k, i, j] per color k; row index i goes with
y, column index j with x, and the patch shows sum_ij c[k, i, j] psi_i(y) psi_j(x) at its local
coordinate (y, x). The native convention puts the P pixel centers of an axis at linspace(-1, 1, P),
both ends included.

Coefficients are laid out (B, C, p, p, h, w): what a 1x1 convolution with C p p outputs yields.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .coordinates import find_cells


def evaluate_modes(v: Tensor, count: int, bandwidth: Tensor | float) -> Tensor:
    """Return the 1D modes 1, cos(pi s v), sin(pi s v), cos(2 pi s v), ... at `v`: (..., count).

    `bandwidth` s is broadcast against `v` (...). An even count ends in an unpaired cosine.
    """
    frequencies = math.pi * torch.arange(1, count // 2 + 1, device=v.device, dtype=v.dtype)
    scaled = (v * bandwidth).unsqueeze(-1)
    angles = scaled * frequencies
    pairs = torch.stack((angles.cos(), angles.sin()), dim=-1).flatten(-2)
    return torch.cat((torch.ones_like(scaled), pairs[..., : count - 1]), dim=-1)


def compute_cutoff(order: Tensor, count: int, sharpness: float) -> Tensor:
    """Return the weights sigmoid(sharpness (order - max(i, j))) of all modes: (..., count, count).

    `order` (...) is the effective cutoff order, at which a mode keeps half its weight.
    """
    index = torch.arange(count, device=order.device, dtype=order.dtype)
    highest = torch.maximum(index[:, None], index[None, :])
    return torch.sigmoid(sharpness * (order[..., None, None] - highest))


def map_to_log_bandwidth(raw: Tensor, low: float, high: float) -> Tensor:
    """Map raw values to bandwidths in [low, high] (0 < low < high), even on a logarithmic scale.

    That is exp(log low + log(high / low) sigmoid(raw)), element by element.
    """
    return torch.exp(math.log(low) + math.log(high / low) * torch.sigmoid(raw))


def map_to_linear_bandwidth(raw: Tensor, low: float, high: float) -> Tensor:
    """Do the same on a linear scale: low + (high - low) sigmoid(raw)."""
    return low + (high - low) * torch.sigmoid(raw)


def build_pixel_basis(patch: int, count: int, bandwidth: Tensor) -> Tensor:
    """Return the modes at a patch's pixel centers: (..., patch, count) for `bandwidth` (...)."""
    v = torch.linspace(-1, 1, patch, device=bandwidth.device, dtype=bandwidth.dtype)
    return evaluate_modes(v, count, bandwidth.unsqueeze(-1))


def render_grid(coefficients: Tensor, basis: Tensor) -> Tensor:
    """Render all patches on the pixel grid: (B, C, p, p, h, w) -> image (B, C, h P, w P).

    `basis` is (P, p), one for all patches, or (B, h, w, P, p), one for each. The sum over modes is
    two matrix products, x first; the 2D basis (P, P, p, p) is never formed. With a shared basis
    the second product writes straight into image layout.
    """
    batch, channels, count, _, h, w = coefficients.shape
    patch = basis.shape[-2]
    if basis.ndim == 2:
        rows = coefficients.permute(0, 1, 4, 2, 5, 3).reshape(-1, count)
        half = (rows @ basis.T).view(batch * channels * h, count, w * patch)
        image = torch.bmm(basis.expand(half.shape[0], -1, -1), half)
        return image.view(batch, channels, h * patch, w * patch)
    each = basis.reshape(-1, patch, count)
    rows = coefficients.permute(0, 4, 5, 2, 1, 3).reshape(-1, count * channels, count)
    half = torch.bmm(rows, each.mT).view(-1, count, channels * patch)
    del rows  # or it would be held while the image is laid out
    image = torch.bmm(each, half).view(batch, h, w, patch, channels, patch)
    del half
    return image.permute(0, 4, 1, 3, 2, 5).reshape(batch, channels, h * patch, w * patch)


def render_plain(coefficients: Tensor, basis: Tensor) -> Tensor:
    """Do what `render_grid` does by the defining sum, patch by patch, in one einsum.

    The yardstick of tests and benchmarks.
    """
    batch, channels, count, _, h, w = coefficients.shape
    patch = basis.shape[-2]
    each = basis.expand(batch, h, w, patch, count)
    image = torch.einsum("bcijhw,bhwyi,bhwxj->bchywx", coefficients, each, each)
    return image.reshape(batch, channels, h * patch, w * patch)


def evaluate_at_positions(
    coefficients: Tensor, bandwidth: Tensor, positions: Tensor, patch: int
) -> Tensor:
    """Evaluate the representation at any pixel positions: (B, Q, 2) -> (B, Q, C).

    `bandwidth` is a scalar or (B, h, w). A position belongs to the patch whose pixels are around
    it; its local coordinate is -1 at the patch's first and 1 at its last pixel center, so that
    whole positions give what `render_grid` gives. Between two patches' outermost pixel centers
    the local coordinate runs on to 1 + 1 / (P - 1), half a pixel beyond.
    """
    batch, _, count, _, h, w = coefficients.shape
    cell_y = find_cells(positions[..., 0], patch, h)
    cell_x = find_cells(positions[..., 1], patch, w)
    local = positions - patch * torch.stack((cell_y, cell_x), dim=-1)
    v = (2 * local / (patch - 1) - 1).to(coefficients.dtype)
    item = torch.arange(batch, device=positions.device)[:, None]
    s = bandwidth[item, cell_y, cell_x] if bandwidth.ndim else bandwidth
    own = coefficients.permute(0, 4, 5, 1, 2, 3)[item, cell_y, cell_x]
    half = torch.einsum("bqcij,bqj->bqci", own, evaluate_modes(v[..., 1], count, s))
    return torch.einsum("bqci,bqi->bqc", half, evaluate_modes(v[..., 0], count, s))


def evaluate_on_grid(
    coefficients: Tensor, bandwidth: Tensor, rows: Tensor, columns: Tensor, patch: int
) -> Tensor:
    """Do what `evaluate` does at every crossing of pixel positions: (B, C, R, Q).

    `rows` (R,) and `columns` (Q,) are float64, `bandwidth` is (B, h, w). The sum over the modes of
    y is done once for each row and patch and not once for each pixel.
    """
    count, h, w = coefficients.shape[2], *coefficients.shape[-2:]
    cell_y, cell_x = find_cells(rows, patch, h), find_cells(columns, patch, w)
    v_y, v_x = (
        (2 * (at - patch * cell) / (patch - 1) - 1).to(coefficients.dtype)
        for at, cell in ((rows, cell_y), (columns, cell_x))
    )
    s = bandwidth[:, cell_y]
    along_y = evaluate_modes(v_y[:, None], count, s).permute(0, 1, 3, 2)  # (B, R, p, w)
    own = coefficients[..., cell_y, :]
    half = torch.einsum("bcijrw,briw->bcrjw", own, along_y)
    along_x = evaluate_modes(v_x, count, s[:, :, cell_x]).permute(0, 1, 3, 2)
    return (half[..., cell_x] * along_x[:, None]).sum(3)
