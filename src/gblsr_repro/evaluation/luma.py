"""Score super-resolution by PSNR-Y and SSIM-Y on clamped output without rounding to 8 bits.

Both compare the studio-range luma of ITU-R BT.601 (16 to 235 for 8-bit color) with a border shaved
off, at a peak of 255. The true image has 8 bits; the output is compared as the model renders it, as
LIIF does, which scores about 0.01 dB more at 38 dB than rounded. SSIM is scikit-image's default
(even 7x7 windows, sample covariance), which the paper's values fit (docs/interpretations.md).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

LUMA = (65.481, 128.553, 24.966)
"""Weights of R, G, B in [0, 1]; luma is 16 for black and 16 + 219 for white."""
BLACK, RANGE, PEAK = 16.0, 219.0, 255.0
WINDOW = 7


class LumaScore(NamedTuple):
    """PSNR-Y in dB (infinite for equal images) and SSIM-Y of one image."""

    psnr_y: float
    ssim_y: float


def compute_luma(image: Tensor, full_range: bool = False) -> Tensor:
    """Compute the luma (H, W) of an RGB `image` (3, H, W) in [0, 255], as float64.

    Studio range: 16 + (65.481 R + 128.553 G + 24.966 B) / 255. With `full_range` the same weights
    are scaled to sum to one, so that a gray picture is its own luma: the rule for grayscale
    images, which have no color to convert.
    """
    weights = torch.tensor(LUMA, dtype=torch.float64, device=image.device)
    mixed = torch.einsum("c,chw->hw", weights, image.double())
    return mixed / RANGE if full_range else BLACK + mixed / PEAK


def shave_border(plane: Tensor, border: int) -> Tensor:
    """Cut `border` pixels off every side of (H, W)."""
    height, width = plane.shape
    return plane[border : height - border, border : width - border]


def compute_psnr(plane: Tensor, truth: Tensor) -> float:
    """Compute the PSNR, 10 log10(255^2 / mse), of two (H, W) planes in dB; infinite if equal."""
    mse = float((plane.double() - truth.double()).square().mean())
    return 10 * math.log10(PEAK**2 / mse) if mse else math.inf


def compute_ssim(plane: Tensor, truth: Tensor) -> float:
    """Compute the mean SSIM of two (H, W) planes in [0, 255] over all whole windows."""
    from skimage.metrics import structural_similarity  # here, since most jobs do without it

    a, b = (image.double().cpu().numpy() for image in (plane, truth))
    return float(structural_similarity(a, b, win_size=WINDOW, data_range=PEAK))


def score_image(output: Tensor, truth: Tensor, border: int) -> LumaScore:
    """Score an RGB `output` (3, H, W) in [0, 1] against the true 8-bit image.

    `truth` is (3, H, W), or (H, W) for a grayscale image, whose samples are its luma. The output
    is clamped first and not rounded; `border` pixels are left out on every side.
    """
    gray = truth.ndim == 2
    output_luma = compute_luma(output.double().clamp(0, 1) * PEAK, full_range=gray)
    true_luma = truth.double() if gray else compute_luma(truth)
    planes = shave_border(output_luma, border), shave_border(true_luma, border)
    return LumaScore(compute_psnr(*planes), compute_ssim(*planes))
