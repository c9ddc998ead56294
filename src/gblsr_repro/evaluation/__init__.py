"""Measure image quality, perceptual distance, patch regions, bandwidth locality and latency."""

REGIONS = ("smooth", "edge", "texture", "mixed")
"""Names of the patch regions, in the order of their labels 0, 1, 2, 3."""

PAPER, FAST = "paper", "fast"
"""Names of the clocks of `latency`; only times by the paper's are compared with the paper."""
