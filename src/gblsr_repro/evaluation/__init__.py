"""What is measured: image quality, perceptual distance, regions, locality, latency."""

REGIONS = ("smooth", "edge", "texture", "mixed")
"""Names of the region labels 0, 1, 2, 3 of patches."""

PAPER, OURS = "paper", "ours"
"""Names of the clocks that a call is timed by (see `latency`); only the paper's is judged."""
