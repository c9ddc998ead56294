"""PSNR-Y and SSIM-Y against scikit-image, which computes neither with our code nor with torch."""

import math

import numpy as np
import pytest
import torch
from skimage.color import rgb2ycbcr
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from gblsr_repro.errors import UserError
from gblsr_repro.evaluation.luma import luma, score, shave, ssim


@pytest.fixture
def pair():
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 256, (40, 52, 3), dtype=np.uint8)
    noisy = truth / 255 + generator.normal(0, 0.05, truth.shape)
    return noisy, truth


def planar(image: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(image).movedim(-1, 0)


def reference(output: np.ndarray, truth: np.ndarray, border: int) -> tuple[float, float]:
    """The metrics of two float images in [0, 255], by scikit-image."""
    a, b = (p[border:-border, border:-border] for p in (output, truth))
    similarity = structural_similarity(
        a, b, data_range=255, gaussian_weights=True, sigma=1.5, use_sample_covariance=False,
        full=True,
    )[1]  # fmt: skip
    return peak_signal_noise_ratio(b, a, data_range=255), similarity[5:-5, 5:-5].mean()


def test_luma_is_bt601_studio_range(pair):
    _, truth = pair
    np.testing.assert_allclose(luma(planar(truth)), rgb2ycbcr(truth)[..., 0], atol=1e-10)


def test_scores_equal_scikit_image(pair):
    noisy, truth = pair
    rounded = np.round(noisy.clip(0, 1) * 255).astype(np.uint8)
    expected = reference(rgb2ycbcr(rounded)[..., 0], rgb2ycbcr(truth)[..., 0], 3)
    measured = score(planar(noisy), planar(truth), 3)
    assert measured.psnr_y == pytest.approx(expected[0], abs=1e-9)
    assert measured.ssim_y == pytest.approx(expected[1], abs=1e-9)


def test_a_grayscale_image_is_its_own_luma(pair):
    noisy, truth = pair
    gray, output = truth[..., 0], np.repeat(noisy[..., :1], 3, axis=2)
    rounded = np.round(noisy[..., 0].clip(0, 1) * 255)
    expected = reference(rounded, gray.astype(float), 2)
    measured = score(planar(output), torch.from_numpy(gray), 2)
    assert measured.psnr_y == pytest.approx(expected[0], abs=1e-9)
    assert measured.ssim_y == pytest.approx(expected[1], abs=1e-9)
    as_color = score(planar(output), torch.from_numpy(gray).expand(3, -1, -1), 2)
    assert as_color.psnr_y - measured.psnr_y == pytest.approx(20 * math.log10(255 / 219), abs=1e-6)


def test_the_border_is_left_out(pair):
    _, truth = pair
    output = planar(truth) / 255
    output[:, :4] = 0
    assert score(output, planar(truth), 4).psnr_y == math.inf
    assert math.isfinite(score(output, planar(truth), 3).psnr_y)
    assert shave(torch.zeros(20, 30), 6).shape == (8, 18)


def test_too_small_an_image_for_ssim_is_a_users_error():
    with pytest.raises(UserError, match="11x11"):
        ssim(torch.zeros(10, 40), torch.zeros(10, 40))
