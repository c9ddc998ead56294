"""PSNR-Y by LIIF's rule and SSIM-Y by its formula, window by window, written anew."""

import math

import numpy as np
import pytest
import torch
from skimage.color import rgb2ycbcr
from skimage.metrics import peak_signal_noise_ratio

from gblsr_repro.evaluation.luma import score_image


@pytest.fixture
def pair():
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 256, (40, 52, 3), dtype=np.uint8)
    noisy = truth / 255 + generator.normal(0, 0.05, truth.shape)
    return noisy, truth


def planar(image: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(image).movedim(-1, 0)


def reference(output: np.ndarray, truth: np.ndarray, border: int) -> tuple[float, float]:
    """PSNR and SSIM of two float images in [0, 255]; SSIM over even 7x7 windows (Wang 2004)."""
    a, b = (p[border:-border, border:-border] for p in (output, truth))
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    values = []
    for y in range(a.shape[0] - 6):
        for x in range(a.shape[1] - 6):
            u, v = a[y : y + 7, x : x + 7].ravel(), b[y : y + 7, x : x + 7].ravel()
            covariance = np.cov(u, v)  # of a sample: divided by 48
            luminance = (2 * u.mean() * v.mean() + c1) / (u.mean() ** 2 + v.mean() ** 2 + c1)
            structure = (2 * covariance[0, 1] + c2) / (covariance[0, 0] + covariance[1, 1] + c2)
            values.append(luminance * structure)
    return peak_signal_noise_ratio(b, a, data_range=255), float(np.mean(values))


def liif_psnr(output: np.ndarray, truth: np.ndarray, border: int) -> float:
    """LIIF's rule: the difference of both images in [0, 1], output clamped; grey; shaved."""
    difference = output.clip(0, 1) - truth / 255
    grey = difference @ np.array([65.738, 129.057, 25.064]) / 256
    return -10 * math.log10(np.mean(grey[border:-border, border:-border] ** 2))


@pytest.mark.parametrize("noise", [0.0005, 0.002, 0.05])  # of a step of 8 bits 0.13, 0.5 and 13
def test_psnr_y_is_that_of_liif_on_an_output_that_is_not_rounded(pair, noise):
    _, truth = pair
    output = truth / 255 + np.random.default_rng(1).normal(0, noise, truth.shape)
    measured = score_image(planar(output), planar(truth), 3).psnr_y
    assert measured == pytest.approx(liif_psnr(output, truth, 3), abs=2e-4)
    rounded = np.round(output.clip(0, 1) * 255) / 255
    assert abs(score_image(planar(rounded), planar(truth), 3).psnr_y - measured) > 1e-3


def test_scores_equal_their_formulas(pair):
    noisy, truth = pair
    expected = reference(rgb2ycbcr(noisy.clip(0, 1))[..., 0], rgb2ycbcr(truth)[..., 0], 3)
    measured = score_image(planar(noisy), planar(truth), 3)
    assert measured.psnr_y == pytest.approx(expected[0], abs=1e-9)
    assert measured.ssim_y == pytest.approx(expected[1], abs=1e-9)


def test_a_grayscale_image_is_its_own_luma(pair):
    noisy, truth = pair
    gray, output = truth[..., 0], np.repeat(noisy[..., :1], 3, axis=2)
    expected = reference(noisy[..., 0].clip(0, 1) * 255, gray.astype(float), 2)
    measured = score_image(planar(output), torch.from_numpy(gray), 2)
    assert measured.psnr_y == pytest.approx(expected[0], abs=1e-9)
    assert measured.ssim_y == pytest.approx(expected[1], abs=1e-9)
    as_color = score_image(planar(output), torch.from_numpy(gray).expand(3, -1, -1), 2)
    assert as_color.psnr_y - measured.psnr_y == pytest.approx(20 * math.log10(255 / 219), abs=1e-6)
