"""Hold the settings of a run, and the cases that are still to be built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from gblsr_repro.bundled import find_bundled_model
from gblsr_repro.config import Config, load, merge

from .measure import Case

# With these every case runs in a moment: to see that it runs, not to learn a time.
QUICK: Config = {
    "native": {
        "data": {"image_size": 16},
        "model": {"features": 16, "patch": 8, "hidden": 32, "fourier_frequencies": 8},
        "training": {"batch_size": 2},
    },
    "asr": {
        "model": {
            "rdn_features": 8,
            "rdn_blocks": 2,
            "rdn_layers": 2,
            "rdn_growth": 8,
            "hidden": 16,
        },
        "training": {"lr_patch": 8, "queries": 16, "recipes": {"rdn": {"batch_size": 2}}},
    },
}


@dataclass(frozen=True)
class Bench:
    """The settings that all cases share; `scratch` is a folder that is removed after the run.

    `quick` goes with a config that `QUICK` was laid over. `model` is a trained super-resolution
    model and `mirror` a folder of images, for the cases that need one.
    """

    config: Config
    device: torch.device
    quick: bool
    scratch: Path
    model: Path
    mirror: Path | None = None

    @classmethod
    def open(
        cls,
        device: torch.device,
        quick: bool,
        scratch: Path,
        model: Path | None = None,
        mirror: Path | None = None,
    ) -> Bench:
        """Load the checkout's config, small for a quick run; by default take the bundled model."""
        config = load()
        config = merge(config, QUICK) if quick else config
        return cls(config, device, quick, scratch, model or find_bundled_model("asr"), mirror)

    @property
    def image_side(self) -> int:
        """Height and width of the native benchmark's images."""
        return self.config["native"]["data"]["image_size"]

    @property
    def cuda(self) -> bool:
        """Whether the device is a CUDA GPU."""
        return self.device.type == "cuda"


@dataclass(frozen=True)
class Plan:
    """A case that is still to be built.

    `weight` is its share of the time, relative to others': about the seconds that a quiet CPU
    core takes for five rounds. `targets` says whether any are set: those cases come first.
    """

    label: str
    weight: float
    build: Callable[[Bench], Case]
    targets: bool = False


def format_size(height: int, width: int) -> str:
    """Format a size in pixels: 48x64."""
    return f"{height}x{width}"
