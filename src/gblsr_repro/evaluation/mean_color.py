"""Score an image's mean color as its reconstruction: what an arm reaches that learned nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from ..config import Config
from .metrics import MetricSettings, compute_psnr


def score_mean_color(array: Path, config: Config) -> float:
    """Compute the mean PSNR in dB of images (N, S, S, 3), uint8, against their mean colors."""
    pixels = torch.from_numpy(np.load(array, allow_pickle=False))
    images = pixels.permute(0, 3, 1, 2).double() / 255
    flat = images.mean((2, 3), keepdim=True).expand_as(images)
    return float(compute_psnr(flat, images, MetricSettings.from_config(config)).mean())
