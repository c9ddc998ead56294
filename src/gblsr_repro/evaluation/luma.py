"""PSNR-Y and SSIM-Y of a model's output, clamped and not rounded to 8 bits, as LIIF measures it.

Both compare the studio-range luma of ITU-R BT.601 (16 to 235 for 8-bit color) with a border shaved
off, at a peak of 255. The true image has 8 bits; the output is compared as the model gives it,
which scores about 0.01 dB more at 38 dB than rounded. SSIM is that of Wang et al. (2004): an 11x11
Gaussian window of sigma 1.5, K1 = 0.01, K2 = 0.03, only where the window lies inside the image.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ..errors import UserError

LUMA = (65.481, 128.553, 24.966)
"""Weights of R, G, B in [0, 1]; black is at 16 and white at 16 + 219."""
BLACK, RANGE, PEAK = 16.0, 219.0, 255.0
WINDOW, SIGMA = 11, 1.5
STABILIZERS = ((0.01 * PEAK) ** 2, (0.03 * PEAK) ** 2)


class Score(NamedTuple):
    """PSNR-Y in dB (infinite for equal images) and SSIM-Y of one image."""

    psnr_y: float
    ssim_y: float


def luma(image: Tensor, full_range: bool = False) -> Tensor:
    """Return the luma (H, W) of an RGB `image` (3, H, W) in [0, 255], as float64.

    Studio range: 16 + (65.481 R + 128.553 G + 24.966 B) / 255. With `full_range` the same weights
    are scaled to sum to one, so that a grey picture is its own luma: the rule for greyscale
    images, which have no color to convert.
    """
    weights = torch.tensor(LUMA, dtype=torch.float64, device=image.device)
    mixed = torch.einsum("c,chw->hw", weights, image.double())
    return mixed / RANGE if full_range else BLACK + mixed / PEAK


def shave(plane: Tensor, border: int) -> Tensor:
    """Cut `border` pixels off every side of (H, W)."""
    height, width = plane.shape
    return plane[border : height - border, border : width - border]


def psnr(plane: Tensor, truth: Tensor) -> float:
    """Return 10 log10(255^2 / mse) of two (H, W) planes in dB, infinite where they are equal."""
    mse = float((plane.double() - truth.double()).square().mean())
    return 10 * math.log10(PEAK**2 / mse) if mse else math.inf


def ssim(plane: Tensor, truth: Tensor) -> float:
    """Return the mean SSIM of two (H, W) planes in [0, 255] over all whole windows.

    Raises `UserError` when the planes are smaller than the window.
    """
    if min(plane.shape) < WINDOW:
        raise UserError(
            f"SSIM-Y needs at least {WINDOW}x{WINDOW} pixels after the border is shaved off, here "
            f"are {plane.shape[0]}x{plane.shape[1]}; use larger images or smaller scales."
        )
    a, b = plane.double(), truth.double()
    stack = torch.stack([a, b, a * a, b * b, a * b])
    mean_a, mean_b, square_a, square_b, product = _windowed(_windowed(stack, 1), 2)
    c1, c2 = STABILIZERS
    both = mean_a * mean_b
    squares = mean_a * mean_a + mean_b * mean_b
    covariance, variances = product - both, square_a + square_b - squares
    value = (2 * both + c1) * (2 * covariance + c2) / ((squares + c1) * (variances + c2))
    return float(value.mean())


def _windowed(planes: Tensor, axis: int) -> Tensor:
    """Return the Gaussian mean over every whole window along one axis."""
    weights = [math.exp(-((i - WINDOW // 2) ** 2) / (2 * SIGMA**2)) for i in range(WINDOW)]
    count = planes.shape[axis] - WINDOW + 1
    # Shifted sums: several times faster than a convolution in float64, in which the variances of
    # flat regions need to be computed.
    total = torch.zeros_like(planes.narrow(axis, 0, count))
    for shift, weight in enumerate(weights):
        total.add_(planes.narrow(axis, shift, count), alpha=weight / sum(weights))
    return total


def score(output: Tensor, truth: Tensor, border: int) -> Score:
    """Compare an RGB `output` (3, H, W) in [0, 1] with the 8-bit image it should be.

    `truth` is (3, H, W), or (H, W) for a greyscale image, whose samples are its luma. The output
    is clamped first and not rounded; `border` pixels are left out on every side.
    """
    gray = truth.ndim == 2
    wanted = truth.double() if gray else luma(truth)
    found = luma(output.double().clamp(0, 1) * PEAK, full_range=gray)
    planes = shave(found, border), shave(wanted, border)
    return Score(psnr(*planes), ssim(*planes))
