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

from .config import locate_row
from .runs import find_row_of_run
from .weights import read_weights


def find_bundled_model(kind: str) -> Path:
    """Return the weights file of a kind, "native" or "asr"."""
    return Path(str(resources.files("gblsr_repro.models") / "bundled" / f"{kind}.safetensors"))


def describe_model(path: Path | str) -> str:
    """Describe in one line which model a bundled file holds; its card says how good it is."""
    metadata, _ = read_weights(path)
    _, _, row = locate_row(find_row_of_run(metadata))
    return (
        f"{row}, {metadata['steps']:,} steps on {metadata['trained_on']}, commit "
        f"{metadata['commit'][:12]}"
    )
