"""Sorting patches by their content into smooth, edge, texture and mixed.

Two numbers describe a patch: the share of its power at high frequencies, and the density of its
edges. Thresholds on both are set once, on validation patches, and shared by all arms.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from ..config import Config
from ..data.arrays import ImageArray
from ..errors import UserError
from ..files import read_json, write_json
from . import REGIONS
from .metrics import MetricSettings, compute_patch_power, compute_sobel, cut_into_patches

SMOOTH, EDGE, TEXTURE, MIXED = range(len(REGIONS))


@dataclass(frozen=True)
class Thresholds:
    """Quartiles of the high-frequency share, the median edge density, and of how many patches."""

    hf_q1: float
    hf_q3: float
    edge_median: float
    patches: int

    @classmethod
    def read(cls, path: Path | str) -> Thresholds:
        """Read what `write` wrote; `UserError` when the file is missing or of another kind."""
        record = read_json(path)
        try:
            return cls(**record)
        except TypeError as error:
            raise UserError(
                f"{path} does not hold region thresholds; delete it and run the regions step again."
            ) from error

    def write(self, path: Path | str) -> None:
        """Write the thresholds as JSON."""
        write_json(path, asdict(self))


def compute_high_frequency_share(images: Tensor, settings: MetricSettings) -> Tensor:
    """Return power above the cutoff over all power (mean included) of every patch: (B, h, w).

    `images` are (B, 3, H, W) in [0, 1]; the cutoff is a radial frequency in cycles per pixel.
    """
    power = compute_patch_power(images, settings.patch)
    frequency = torch.fft.fftfreq(settings.patch, device=images.device, dtype=torch.float64)
    radius = torch.hypot(frequency[:, None], frequency[None, :])
    high = (power * (radius > settings.high_frequency_cutoff)).sum(dim=(-2, -1))
    return high / (power.sum(dim=(-2, -1)) + settings.power_floor)


def compute_edge_density(images: Tensor, settings: MetricSettings) -> Tensor:
    """Return the mean Sobel magnitude of every patch: (B, h, w).

    The gradient is that of the whole image, so patch borders are no edges.
    """
    return cut_into_patches(compute_sobel(images), settings.patch).mean(dim=(-2, -1))


def compute_thresholds(images: Tensor, settings: MetricSettings) -> Thresholds:
    """Set the thresholds on the first patches of `images`, image by image and row by row.

    `settings.region_patches` are taken, or all there are. Quantiles interpolate linearly.
    """
    count = settings.region_patches
    share = compute_high_frequency_share(images, settings).flatten()[:count]
    density = compute_edge_density(images, settings).flatten()[:count]
    return Thresholds(
        hf_q1=float(torch.quantile(share, 0.25)),
        hf_q3=float(torch.quantile(share, 0.75)),
        edge_median=float(torch.quantile(density, 0.5)),
        patches=share.numel(),
    )


def label_patches(images: Tensor, bounds: Thresholds, settings: MetricSettings) -> Tensor:
    """Return the region of every patch of `images` (B, 3, H, W): int64 (B, h, w).

    texture: share >= q3. edge: density >= median, share < q3. smooth: share < q1, density <
    median. mixed: the rest.
    """
    share = compute_high_frequency_share(images, settings)
    density = compute_edge_density(images, settings)
    labels = torch.full_like(share, MIXED, dtype=torch.int64)
    labels[(share < bounds.hf_q1) & (density < bounds.edge_median)] = SMOOTH
    labels[density >= bounds.edge_median] = EDGE
    labels[share >= bounds.hf_q3] = TEXTURE
    return labels


def write_thresholds(config: Config, array: Path | str, output: Path | str) -> None:
    """Set the thresholds on a standardized array (.npy) and write them as JSON."""
    settings = MetricSettings.from_config(config)
    arrays = ImageArray.open(array)
    per_image = (arrays.size // settings.patch) ** 2
    needed = -(-settings.region_patches // max(per_image, 1))
    compute_thresholds(arrays.load_images(slice(needed)), settings).write(output)
