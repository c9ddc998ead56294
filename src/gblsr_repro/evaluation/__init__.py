"""Measure image quality, perceptual distance, patch regions, bandwidth locality and latency."""

import math
from collections.abc import Mapping
from typing import Any

REGIONS = ("smooth", "edge", "texture", "mixed")
"""Names of the patch regions, in the order of their labels 0, 1, 2, 3."""

PAPER, FAST = "paper", "fast"
"""Names of the clocks of `latency`; only times by the paper's are compared with the paper."""

TRUTH, NEAREST, BICUBIC = "ground_truth", "nearest", "bicubic"
"""Names of the pictures that no model renders: the original, and two ways to enlarge."""


def list_compared_scales(config: Mapping[str, Any]) -> list[float]:
    """List the scales at which pictures are compared: the highest trained, the highest of all."""
    asr = config["asr"]
    return [*dict.fromkeys(max(asr[name]) for name in ("trained_scales", "scales"))]


def compute_border(column: str, scale: float, config: Mapping[str, Any]) -> int:
    """Compute the pixels to shave off every side: the scale plus config asr.shave_extra."""
    return math.ceil(scale) + config["asr"]["shave_extra"].get(column, 0)
