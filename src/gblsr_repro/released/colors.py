"""Decide by measuring whether a released super-resolution network uses normalized colors.

Nothing that is published with GB-LSR-ASR says whether it was trained on values in [0, 1] or on
normalized ones; its authors' module does not normalize, their paper's protocol does. With the wrong
range an image comes out far off, so that a few images tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import torch

from ..config import Config
from ..errors import UserError
from ..evaluation.asr import build_upsampler
from ..evaluation.asr_scores import FirstImages
from ..models.asr.model import NORMALIZED, UNIT, ASRModel
from ..progress import log

RANGES = (NORMALIZED, UNIT)
IMAGES = 3
LEAST_DIFFERENCE = 1.0  # dB, below which the figures decide nothing


@dataclass(frozen=True)
class Colors:
    """A range of colors, the reason for it (`by`), and the scores if it was measured."""

    range: str
    by: str
    measured: dict[str, Any] = field(default_factory=dict)


def measure_colors(
    model: ASRModel, images: FirstImages, config: Config, device: torch.device
) -> dict[str, float]:
    """Measure the mean PSNR-Y (dB) of images by range."""
    upsample = build_upsampler(model, config, device)
    figures = {}
    before = model.colors
    with torch.inference_mode():
        for each in RANGES:
            model.colors = each
            figures[each] = fmean(score.psnr_y for score in images.score(upsample))
    model.colors = before
    return figures


def decide_colors(model: ASRModel, config: Config, device: torch.device, place: str) -> Colors:
    """Choose the range with the higher PSNR-Y on a few images.

    They are enlarged by asr.training.validation_scale from low-resolution images as the protocol
    makes them, which are the published ones. Raises `UserError` without the images to measure on,
    or if the two differ by less than 1 dB.
    """
    try:
        images = FirstImages(config, IMAGES)
        figures = measure_colors(model, images, config, device)
    except UserError as error:
        raise UserError(
            f"{place} does not say in which range it takes colors, and it cannot be measured "
            f"({str(error).rstrip('.')}); do that, or say it with --colors {NORMALIZED} or "
            f"--colors {UNIT}."
        ) from error
    low, high = sorted(figures, key=lambda each: figures[each])
    shown = ", ".join(f"{each} {psnr:.2f} dB" for each, psnr in figures.items())
    if not figures[high] - figures[low] >= LEAST_DIFFERENCE:
        raise UserError(
            f"{place} does not show in which range it takes colors ({shown}); import it with "
            f"--colors {NORMALIZED} or --colors {UNIT}, and name the folder of that run in the "
            "config where a workflow is to use it."
        )
    log.info("%s: takes colors %s (PSNR-Y: %s)", place, high, shown)
    facts = {
        "psnr_y": figures,
        "dataset": images.dataset,
        "images": IMAGES,
        "scale": images.scale,
    }
    return Colors(high, "measured", facts)
