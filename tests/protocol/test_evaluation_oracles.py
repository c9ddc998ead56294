"""The native metrics and regions against float64 numpy, scipy and scikit-image."""

import math

import numpy as np
import pytest
import torch
from scipy import ndimage
from skimage import data

from gblsr_repro import config
from gblsr_repro.evaluation import metrics, regions

P = 32


@pytest.fixture(scope="module")
def settings():
    return metrics.MetricConstants.from_config(config.load())


@pytest.fixture(scope="module")
def pair():
    """Two real photographs and blurred, noisy copies of them: float64 (2, 3, 64, 96)."""
    photographs = [data.astronaut()[20:84, 180:276], data.coffee()[100:164, 200:296]]
    truth = np.stack(photographs).transpose(0, 3, 1, 2) / 255.0
    noise = np.random.default_rng(0).normal(0, 0.03, truth.shape)
    images = np.clip(ndimage.gaussian_filter(truth, (0, 0, 1.2, 1.2)) + noise, 0, 1)
    # The oracle sees what the code under test sees: single-precision images.
    return images.astype(np.float32).astype(float), truth.astype(np.float32).astype(float)


def call(function, pair, *rest):
    images, truth = (torch.from_numpy(x).float() for x in pair)
    return function(images, truth, *rest).numpy()


def patches_of(image):
    """Yield (row, column, patch) of (..., H, W)."""
    for r in range(image.shape[-2] // P):
        for c in range(image.shape[-1] // P):
            yield r, c, image[..., r * P : (r + 1) * P, c * P : (c + 1) * P]


def per_patch(function, a, b):
    """Apply `function` to the matching patches of two batches: (B, h, w)."""
    out = np.zeros((len(a), a.shape[-2] // P, a.shape[-1] // P))
    for i in range(len(a)):
        for (r, c, x), (_, _, y) in zip(patches_of(a[i]), patches_of(b[i]), strict=True):
            out[i, r, c] = function(x, y)
    return out


def test_psnr(pair, settings):
    mse = ((pair[0] - pair[1]) ** 2).reshape(2, -1).mean(axis=1)
    np.testing.assert_allclose(
        call(metrics.compute_psnr, pair, settings), 10 * np.log10(1 / (mse + 1e-8)), rtol=1e-12
    )


def test_ssim_against_numpy_on_every_pixel(pair, settings):
    taps = np.exp(-(np.arange(-5, 6) ** 2) / (2 * 1.5**2))
    taps /= taps.sum()

    def mean(x):
        for axis in (2, 3):
            x = ndimage.correlate1d(x, taps, axis=axis, mode="constant", cval=0.0)
        return x

    a, b = pair
    ma, mb = mean(a), mean(b)
    va, vb, cov = mean(a * a) - ma**2, mean(b * b) - mb**2, mean(a * b) - ma * mb
    above = (2 * ma * mb + 1e-4) * (2 * cov + 9e-4)
    below = (ma**2 + mb**2 + 1e-4) * (va + vb + 9e-4) + 1e-8
    np.testing.assert_allclose(
        call(metrics.compute_ssim_map, pair, settings), above / below, rtol=1e-9
    )
    np.testing.assert_allclose(
        call(metrics.compute_ssim, pair, settings), (above / below).mean(axis=(1, 2, 3)), rtol=1e-10
    )


def log_spectrum_error(x, y):
    power = [np.abs(np.fft.fft2(p.mean(axis=0), norm="ortho")) ** 2 for p in (x, y)]
    logs = [np.log(np.maximum(p, 1e-8)) for p in power]
    return np.abs(logs[0] - logs[1]).mean()


def test_lse(pair, settings):
    expected = per_patch(log_spectrum_error, *pair)
    np.testing.assert_allclose(call(metrics.compute_patch_lse, pair, settings), expected, rtol=1e-8)
    np.testing.assert_allclose(
        call(metrics.compute_lse, pair, settings), expected.mean(axis=(1, 2)), rtol=1e-8
    )


def test_patch_psnr_and_ssim(pair, settings):
    def psnr(x, y):
        return 10 * np.log10(1 / (((x - y) ** 2).mean() + 1e-8))

    def ssim(x, y):
        values = []
        for a, b in zip(x, y, strict=True):
            cov = ((a - a.mean()) * (b - b.mean())).mean()
            above = (2 * a.mean() * b.mean() + 1e-4) * (2 * cov + 9e-4)
            values.append(
                above / ((a.mean() ** 2 + b.mean() ** 2 + 1e-4) * (a.var() + b.var() + 9e-4))
            )
        return np.mean(values)

    np.testing.assert_allclose(
        call(metrics.compute_patch_psnr, pair, settings), per_patch(psnr, *pair), rtol=1e-12
    )
    np.testing.assert_allclose(
        call(metrics.compute_patch_ssim, pair, settings), per_patch(ssim, *pair), rtol=1e-10
    )


def sobel(image):
    """Magnitude of scipy's Sobel of the channel mean, zero-padded."""
    return np.hypot(*(ndimage.sobel(image.mean(axis=0), axis=a, mode="constant") for a in (0, 1)))


def test_edge_mask(pair, settings):
    mask = metrics.compute_edge_mask(torch.from_numpy(pair[1]).float(), settings).numpy()
    assert mask.shape == (2, 1, 64, 96)
    for ours, image in zip(mask, pair[1], strict=True):
        magnitude = sobel(image)
        strong = magnitude >= np.quantile(magnitude, 0.8)
        np.testing.assert_array_equal(ours[0], ndimage.binary_dilation(strong, np.ones((3, 3))))


def high_frequency_share(patch):
    power = np.abs(np.fft.fft2(patch.mean(axis=0), norm="ortho")) ** 2
    frequency = np.fft.fftfreq(P)
    radius = np.sqrt(frequency[:, None] ** 2 + frequency[None, :] ** 2)
    return power[radius > 0.25].sum() / (power.sum() + 1e-8)


def test_region_features(pair, settings):
    truth = pair[1]
    share = per_patch(lambda x, _: high_frequency_share(x), truth, truth)
    density = np.stack([sobel(x) for x in truth])
    density = per_patch(lambda x, _: x.mean(), density, density)
    images = torch.from_numpy(truth).float()
    np.testing.assert_allclose(
        regions.compute_high_frequency_share(images, settings).numpy(), share, rtol=1e-8
    )
    np.testing.assert_allclose(
        regions.compute_edge_density(images, settings).numpy(), density, rtol=1e-10
    )


@pytest.mark.parametrize("frequency", [7, 8, 9])
def test_high_frequencies_begin_above_a_quarter_cycle_per_pixel(frequency, settings):
    wave = 0.5 + 0.25 * torch.cos(2 * torch.pi * frequency * torch.arange(P) / P)
    share = regions.compute_high_frequency_share(wave.expand(1, 3, P, P), settings).item()
    # The wave carries an eighth of the mean's power: 0.25^2 / 2 beside 0.5^2.
    assert share == pytest.approx(1 / 9 if frequency > 8 else 0.0, abs=1e-6)


def test_thresholds_are_linear_quantiles_of_the_first_patches(settings):
    images = torch.rand(3, 3, 64, 96, generator=torch.Generator().manual_seed(3))
    images[:, :, :, 48:] *= 0.3
    few = metrics.MetricConstants(**vars(settings) | {"region_patches": 8})
    found = regions.compute_thresholds(images, few)
    # 6 patches an image: all of the first, and the first two of the second in its top row.
    share = regions.compute_high_frequency_share(images, settings).numpy()
    density = regions.compute_edge_density(images, settings).numpy()
    first = [np.concatenate([x[0].ravel(), x[1, 0, :2]]) for x in (share, density)]
    assert found.model_dump() == {
        "hf_q1": pytest.approx(np.quantile(first[0], 0.25), rel=1e-12),
        "hf_q3": pytest.approx(np.quantile(first[0], 0.75), rel=1e-12),
        "edge_median": pytest.approx(np.quantile(first[1], 0.5), rel=1e-12),
        "patches": 8,
    }


def test_labels_follow_their_definition(settings, monkeypatch):
    share = torch.tensor([[[0.1, 0.1, 0.2, 0.5, 0.8, 0.8, 0.7999, 0.2]]]).double()
    density = torch.tensor([[[0.3, 0.5, 0.4, 0.6, 0.1, 0.9, 0.4, 0.5]]]).double()
    monkeypatch.setattr(regions, "compute_high_frequency_share", lambda *_: share)
    monkeypatch.setattr(regions, "compute_edge_density", lambda *_: density)
    bounds = regions.RegionThresholds(hf_q1=0.2, hf_q3=0.8, edge_median=0.5, patches=1)
    names = [metrics.REGIONS[i] for i in regions.label_patches(share, bounds, settings)[0, 0]]
    assert names == ["smooth", "edge", "mixed", "edge", "texture", "texture", "mixed", "edge"]


# --- at their limits -----------------------------------------------------------------------------


def test_flat_image_has_finite_metrics(settings):
    flat = torch.zeros(1, 3, 32, 32)
    for metric in (metrics.compute_psnr, metrics.compute_ssim, metrics.compute_lse):
        assert math.isfinite(metric(flat, 1 - flat, settings).item())
    assert metrics.compute_edge_mask(flat, settings).all()
    assert regions.compute_high_frequency_share(flat, settings).item() == 0.0


def test_seams_tell_a_jump_at_borders_from_one_at_centers(settings):
    """A ramp with steps of 1, and 5 where the patch of 32 ends: (5, 1); nothing else: none."""
    steps = torch.ones(2, 95)
    steps[0, 31::32] = 5.0
    steps[1, 15::32] = 3.0
    ramp = torch.cat((torch.zeros(2, 1), steps.cumsum(1)), dim=1)
    images = (ramp[:, None, :, None] + ramp[:, None, None, :]).expand(2, 3, 96, 96) / 512
    border, center = metrics.measure_border_steps(images, settings)
    assert border == pytest.approx([5.0, 1.0])
    assert center == pytest.approx([1.0, 3.0])
    assert metrics.measure_border_steps(torch.zeros(1, 3, 32, 32), settings) == ([None], [None])
    assert metrics.measure_border_steps(images[1:, :, :32, :32], settings) == ([None], [3.0])
