"""Hold the settings that all cases of a run share."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gblsr_repro.config import Config, load, merge

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
    """The settings that all cases share; `quick` goes with a config that `QUICK` was laid over."""

    config: Config
    device: torch.device
    quick: bool

    @classmethod
    def open(cls, device: torch.device, quick: bool) -> Bench:
        """Load the checkout's config, small for a quick run."""
        config = load()
        return cls(merge(config, QUICK) if quick else config, device, quick)

    def draw_image(self, height: int, width: int) -> Tensor:
        """Draw a random image (1, 3, H, W) in [0, 1] on the device."""
        generator = torch.Generator().manual_seed(0)
        return torch.rand(1, 3, height, width, generator=generator).to(self.device)

    @property
    def image_side(self) -> int:
        """Height and width of the native benchmark's images."""
        return self.config["native"]["data"]["image_size"]

    @property
    def cuda(self) -> bool:
        """Whether the device is a CUDA GPU."""
        return self.device.type == "cuda"


def format_size(height: int, width: int) -> str:
    """Format a size in pixels: 48x64."""
    return f"{height}x{width}"
