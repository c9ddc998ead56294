"""Find and describe the weights bundled with the package.

A bundled file is a weights file like any other, with its larger tensors in half precision. What
its metadata says beyond a run's is what one has to know of a model that somebody else trained:
the row of its table (no checkout is needed to build it), steps, training images, quality, commit,
and for the native model that ships the color cast of its reconstructions. The checkout's
tools/bundle_weights.py makes one from a trained run.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from .analysis.metrics import SUPERRES, list_shown
from .config import locate_row
from .runs import find_row_of_run
from .weights import read_weights

# Columns of the metrics that are shown, with their names and units; the first is the one in short.
MEASURES = {
    "native": {metric.name: metric.heading for metric in list_shown("record")},
    "asr": {metric.name: metric.heading for metric in SUPERRES},
}
MEASUREMENTS_IN_LINE = 3  # more are cut to those on the smallest set


def find_bundled_model(kind: str) -> Path:
    """Return the weights file of a kind, "native" or "asr"."""
    return Path(str(resources.files("gblsr_repro.models") / "bundled" / f"{kind}.safetensors"))


def describe_model(path: Path | str) -> str:
    """Return in one line which model a bundled file holds and how good it was measured to be.

    Of many measurements those on the smallest set stand for all; the card has every one.
    """
    metadata, _ = read_weights(path)
    benchmark, _, row = locate_row(find_row_of_run(metadata))
    measured = metadata["quality"]
    column, name = next(iter(MEASURES[benchmark].items()))
    fewest = min(means["images"] for means in measured.values())
    quality = ", ".join(
        f"{data.replace('_', ' ')} {means[column]:.2f}"
        for data, means in measured.items()
        if len(measured) <= MEASUREMENTS_IN_LINE or means["images"] == fewest
    )
    return (
        f"{row}, {metadata['steps']:,} steps on {metadata['trained_on']}, commit "
        f"{metadata['commit'][:12]}; {name}: {quality}"
    )
