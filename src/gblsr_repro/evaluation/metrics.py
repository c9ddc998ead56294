"""Compute the metrics of the native benchmark: PSNR, SSIM, local spectrum error, seams.

Images are (B, 3, H, W) with values in [0, 1]; a reconstruction is clamped by the caller. All
arithmetic is in float64, so that results do not depend on the order in which a device adds.
Patches are the P x P squares that tile the image, row by row; a per-patch metric is (B, h, w) with
h = H / P and w = W / P.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..config import Config
from . import REGIONS

# The constants (K L)^2 of SSIM (Wang et al. 2004) for the peak value L = 1.
SSIM_C1, SSIM_C2 = 0.01**2, 0.03**2


class MetricConstants(SimpleNamespace):
    """The settings of config native.metrics, and `patch`, the patch side in pixels."""

    @classmethod
    def from_config(cls, config: Config) -> MetricConstants:
        """Read the settings from the whole configuration."""
        native = config["native"]
        return cls(patch=native["model"]["patch"], **native["metrics"])


# --- building blocks ----------------------------------------------------------------------------


def average_channels(images: Tensor) -> Tensor:
    """Average the channels of (B, 3, H, W): float64 (B, H, W)."""
    return images.double().mean(dim=1)


def cut_into_patches(planes: Tensor, patch: int) -> Tensor:
    """Cut (..., H, W) into (..., h, w, P, P); P divides H and W."""
    cut = planes.unflatten(-1, (-1, patch)).unflatten(-3, (-1, patch))
    return cut.transpose(-3, -2)


def compute_sobel(images: Tensor) -> Tensor:
    """Compute the Sobel gradient magnitude of the channel mean, zero-padded: float64 (B, H, W)."""
    across = torch.tensor([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], device=images.device).double()
    kernels = torch.stack((across, across.T)).unsqueeze(1)
    gradient = F.conv2d(average_channels(images).unsqueeze(1), kernels, padding=1)
    return gradient.square().sum(dim=1).sqrt()


def compute_patch_power(images: Tensor, patch: int) -> Tensor:
    """Compute the power |FFT|^2 of every patch of the channel mean: float64 (B, h, w, P, P).

    The transform is orthonormal; frequencies are in the order of `torch.fft.fftfreq`.
    """
    spectrum = torch.fft.fft2(cut_into_patches(average_channels(images), patch), norm="ortho")
    return spectrum.real.square() + spectrum.imag.square()


def _build_blur_matrix(size: int, window: int, sigma: float, device: torch.device) -> Tensor:
    """Build the (size, size) matrix of a Gaussian blur along one axis, zero-padded at its ends."""
    position = torch.arange(size, device=device, dtype=torch.float64)
    distance = (position[:, None] - position).abs()
    weights = torch.exp(-(distance**2) / (2 * sigma**2)) * (distance <= window // 2)
    taps = torch.arange(window, dtype=torch.float64) - window // 2
    return weights / torch.exp(-(taps**2) / (2 * sigma**2)).sum().to(device)


def _combine_moments(
    mean_a: Tensor,
    mean_b: Tensor,
    variance_a: Tensor,
    variance_b: Tensor,
    covariance: Tensor,
    epsilon: float,
) -> Tensor:
    """Combine two means, two variances and the covariance into SSIM, all of one shape."""
    above = (2 * mean_a * mean_b + SSIM_C1) * (2 * covariance + SSIM_C2)
    below = (mean_a**2 + mean_b**2 + SSIM_C1) * (variance_a + variance_b + SSIM_C2)
    return above / (below + epsilon)


# --- whole-image metrics: (B, 3, H, W) twice -> (B,) --------------------------------------------

ImageMetric = Callable[[Tensor, Tensor, MetricConstants], Tensor]
WHOLE_IMAGE: dict[str, ImageMetric] = {}
"""By name: the whole-image metrics of the score files, each a column."""


def column(name: str) -> Callable[[ImageMetric], ImageMetric]:
    """Make a metric a column of the score files."""

    def add(metric: ImageMetric) -> ImageMetric:
        WHOLE_IMAGE[name] = metric
        return metric

    return add


@column("psnr")
def compute_psnr(images: Tensor, truth: Tensor, settings: MetricConstants) -> Tensor:
    """Compute the PSNR of every image, 10 log10(1 / (mse + epsilon)) in dB over all channels."""
    mse = (images.double() - truth.double()).square().mean(dim=(-3, -2, -1))
    return -10 * torch.log10(mse + settings.psnr_epsilon)


def score_mean_color(array: Path, config: Config) -> float:
    """Compute the mean PSNR in dB of images, uint8 (N, S, S, 3) in a .npy file, by mean colors.

    Each image's mean color stands for its reconstruction: what an arm reaches that learned nothing.
    """
    pixels = torch.from_numpy(np.load(array, allow_pickle=False))
    images = pixels.permute(0, 3, 1, 2).double() / 255
    flat = images.mean((2, 3), keepdim=True).expand_as(images)
    return float(compute_psnr(flat, images, MetricConstants.from_config(config)).mean())


@column("ssim")
def compute_ssim(images: Tensor, truth: Tensor, settings: MetricConstants) -> Tensor:
    """Compute the SSIM of every image, averaged over pixels and channels (`compute_ssim_map`)."""
    return compute_ssim_map(images, truth, settings).mean(dim=(-3, -2, -1))


def compute_ssim_map(images: Tensor, truth: Tensor, settings: MetricConstants) -> Tensor:
    """Compute SSIM at every pixel and channel: (B, 3, H, W).

    Gaussian window, biased moments, zero padding (so that border pixels count), and an epsilon
    added to the denominator.
    """
    a, b = images.double(), truth.double()
    window, sigma = settings.ssim_window, settings.ssim_sigma
    rows, columns = (
        _build_blur_matrix(size, window, sigma, images.device) for size in images.shape[-2:]
    )
    mean_a, mean_b, square_a, square_b, product = (
        rows @ plane @ columns for plane in (a, b, a * a, b * b, a * b)
    )
    return _combine_moments(
        mean_a,
        mean_b,
        square_a - mean_a**2,
        square_b - mean_b**2,
        product - mean_a * mean_b,
        settings.ssim_epsilon,
    )


@column("lse")
def compute_lse(images: Tensor, truth: Tensor, settings: MetricConstants) -> Tensor:
    """Compute the local spectrum error of every image: the mean of `compute_patch_lse`."""
    return compute_patch_lse(images, truth, settings).mean(dim=(-2, -1))


def compute_edge_mask(truth: Tensor, settings: MetricConstants) -> Tensor:
    """Compute the edge pixels of `truth`: bool (B, 1, H, W).

    Pixels whose Sobel magnitude reaches `edge_percentile` of their image, dilated by
    `edge_dilation` pixels.
    """
    magnitude = compute_sobel(truth)
    level = [torch.quantile(m.flatten(), settings.edge_percentile) for m in magnitude]
    mask = magnitude >= torch.stack(level)[:, None, None]
    reach = settings.edge_dilation
    wide = F.max_pool2d(mask.float().unsqueeze(1), 2 * reach + 1, stride=1, padding=reach)
    return wide > 0


def measure_border_steps(
    images: Tensor, settings: MetricConstants
) -> tuple[list[float | None], list[float | None]]:
    """Measure how much larger steps are across patch borders, and across patch centers, per image.

    A step is the absolute difference of two neighboring pixels, along both axes and in all
    channels. Both numbers are ratios to the mean of all other steps: 1 for a reconstruction that
    does not depend on the patches, None where no other step is above zero, and of an image that is
    one patch for borders.
    """
    # Sum and number of the steps across borders, across centers, and of the others.
    sums = images.new_zeros(3, images.shape[0], 2, dtype=torch.float64)
    for axis in (-2, -1):
        change = images.double().diff(dim=axis).abs().movedim(axis, -1).flatten(1, -2)
        place = torch.arange(change.shape[-1], device=images.device) % settings.patch
        border, center = place == settings.patch - 1, place == settings.patch // 2 - 1
        for row, mask in enumerate((border, center, ~(border | center))):
            steps = change[..., mask]
            sums[row, :, 0] += steps.sum(dim=(1, 2))
            sums[row, :, 1] += steps[0].numel()
    borders, centers, others = (sums[..., 0] / sums[..., 1]).tolist()
    return _divide(borders, others), _divide(centers, others)


def _divide(numerators: list[float], denominators: list[float]) -> list[float | None]:
    """Divide numbers pair by pair; None where the denominator is 0 or one is NaN."""
    return [
        a / b if a >= 0 and b > 0 else None for a, b in zip(numerators, denominators, strict=True)
    ]


# --- per-patch metrics: (B, 3, H, W) twice -> (B, h, w) -----------------------------------------


def compute_patch_psnr(images: Tensor, truth: Tensor, settings: MetricConstants) -> Tensor:
    """Compute the PSNR in dB of every patch over its pixels and channels."""
    errors = cut_into_patches((images.double() - truth.double()).square(), settings.patch)
    return -10 * torch.log10(errors.mean(dim=(1, -2, -1)) + settings.psnr_epsilon)


def compute_patch_ssim(images: Tensor, truth: Tensor, settings: MetricConstants) -> Tensor:
    """Compute the SSIM of every patch, averaged over channels.

    From one mean, biased variance and covariance per patch and channel, without window or epsilon.
    """
    a, b = (cut_into_patches(x.double(), settings.patch).flatten(-2) for x in (images, truth))
    mean_a, mean_b = a.mean(dim=-1), b.mean(dim=-1)
    off_a, off_b = a - mean_a.unsqueeze(-1), b - mean_b.unsqueeze(-1)
    square_a, square_b, product = (
        (x * y).mean(dim=-1) for x, y in ((off_a, off_a), (off_b, off_b), (off_a, off_b))
    )
    return _combine_moments(mean_a, mean_b, square_a, square_b, product, 0.0).mean(dim=1)


def compute_patch_lse(images: Tensor, truth: Tensor, settings: MetricConstants) -> Tensor:
    """Compute the local spectrum error of every patch: mean |log power - log power of the truth|.

    Over the frequencies of an orthonormal FFT of the channel mean, power clamped from below (paper
    section 4, Metrics).
    """
    logs = [
        compute_patch_power(x, settings.patch).clamp_min(settings.power_floor).log()
        for x in (images, truth)
    ]
    return (logs[0] - logs[1]).abs().mean(dim=(-2, -1))


def average_regions(values: Tensor, labels: Tensor) -> list[dict[str, float | None]]:
    """Average a per-patch metric (B, h, w) over the patches of every region, image by image.

    `labels` (B, h, w) are indices of `REGIONS`. A region without patches in an image is None.
    """
    rows = []
    for image_values, image_labels in zip(values, labels, strict=True):
        means: dict[str, float | None] = {}
        for label, name in enumerate(REGIONS):
            part = image_values[image_labels == label]
            means[name] = float(part.mean()) if part.numel() else None
        rows.append(means)
    return rows


PER_PATCH = {"psnr": compute_patch_psnr, "ssim": compute_patch_ssim, "lse": compute_patch_lse}
"""By name: the per-patch metrics of the score files, which have a column for each region."""
