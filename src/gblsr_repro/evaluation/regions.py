"""Classify patches by their content as smooth, edge, texture or mixed.

A patch is described by the share of its power at high frequencies and by the density of its edges.
The thresholds of both are computed once, on validation patches, and used for all arms.
"""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor

from ..config import Config
from ..data.arrays import ImageArray
from ..files import write_json
from ..metadata import JsonObject, read_metadata
from . import REGIONS
from .metrics import MetricConstants, compute_patch_power, compute_sobel, cut_into_patches

SMOOTH, EDGE, TEXTURE, MIXED = range(len(REGIONS))


class RegionThresholds(JsonObject):
    """Quartiles of the high-frequency share, median edge density, and the number of patches."""

    hf_q1: float
    hf_q3: float
    edge_median: float
    patches: int

    @classmethod
    def read(cls, path: Path) -> RegionThresholds:
        """Read a file of `write`; `UserError` when it is missing or damaged."""
        return cls(**read_metadata(path, cls))

    def write(self, path: Path) -> None:
        """Write the thresholds as JSON."""
        write_json(path, self.model_dump())


def compute_high_frequency_share(images: Tensor, settings: MetricConstants) -> Tensor:
    """Compute the share of every patch's power above the cutoff frequency: (B, h, w).

    `images` are (B, 3, H, W) in [0, 1]. The cutoff is a radial frequency in cycles per pixel; the
    share is of all power, the mean included.
    """
    power = compute_patch_power(images, settings.patch)
    frequency = torch.fft.fftfreq(settings.patch, device=images.device, dtype=torch.float64)
    radius = torch.hypot(frequency[:, None], frequency[None, :])
    high = (power * (radius > settings.high_frequency_cutoff)).sum(dim=(-2, -1))
    return high / (power.sum(dim=(-2, -1)) + settings.power_floor)


def compute_edge_density(images: Tensor, settings: MetricConstants) -> Tensor:
    """Compute the mean Sobel magnitude of every patch: (B, h, w).

    The gradient is taken on the whole image, so that patch borders are not edges.
    """
    return cut_into_patches(compute_sobel(images), settings.patch).mean(dim=(-2, -1))


def compute_thresholds(images: Tensor, settings: MetricConstants) -> RegionThresholds:
    """Compute the thresholds from the first `region_patches` patches of `images`, or from all.

    Patches are counted image by image and row by row. Quantiles are interpolated linearly.
    """
    count = settings.region_patches
    share = compute_high_frequency_share(images, settings).flatten()[:count]
    density = compute_edge_density(images, settings).flatten()[:count]
    return RegionThresholds(
        hf_q1=float(torch.quantile(share, 0.25)),
        hf_q3=float(torch.quantile(share, 0.75)),
        edge_median=float(torch.quantile(density, 0.5)),
        patches=share.numel(),
    )


def label_patches(
    images: Tensor, thresholds: RegionThresholds, settings: MetricConstants
) -> Tensor:
    """Label the region of every patch of `images` (B, 3, H, W): int64 (B, h, w).

    texture: share >= q3. edge: density >= median, share < q3. smooth: share < q1, density <
    median. mixed: the rest.
    """
    share = compute_high_frequency_share(images, settings)
    density = compute_edge_density(images, settings)
    labels = torch.full_like(share, MIXED, dtype=torch.int64)
    labels[(share < thresholds.hf_q1) & (density < thresholds.edge_median)] = SMOOTH
    labels[density >= thresholds.edge_median] = EDGE
    labels[share >= thresholds.hf_q3] = TEXTURE
    return labels


def write_thresholds(config: Config, array: Path, output: Path) -> None:
    """Compute the thresholds from a standardized array (.npy) and write them as JSON."""
    settings = MetricConstants.from_config(config)
    opened = ImageArray.open(array)
    images = math.ceil(settings.region_patches / (opened.size // settings.patch) ** 2)
    compute_thresholds(opened.load_images(slice(images)), settings).write(output)
