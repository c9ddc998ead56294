"""Measure LPIPS, the learned perceptual distance (Zhang et al. 2018), with AlexNet, version 0.1.

The `lpips` package contains the linear layers. The convolutions of torchvision's AlexNet below them
are a file of this package (models/bundled/alexnet.md has its origin and license).
"""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from ..errors import UserError

TRUNK = Path(__file__).parents[1] / "models" / "bundled" / "alexnet.safetensors"
TRUNK_SHA256 = "9f97fd313f4da83dbe6bbfbe6effca1241de9edfcd7c53386261ed9697286dd9"
VERSION = "0.1"

# Position of every convolution in torchvision's AlexNet, and its slice in `lpips`.
CONVOLUTIONS = {0: 1, 3: 2, 6: 3, 8: 4, 10: 5}


class PerceptualDistance:
    """Measures LPIPS on one device; raises `UserError` as `read_trunk` does."""

    def __init__(self, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self.network = _assemble_network(read_trunk()).to(self.device)

    @torch.no_grad()
    def measure_lpips(self, images: Tensor, truth: Tensor) -> Tensor:
        """Measure LPIPS of every pair of images, (B, 3, H, W) in [0, 1] twice: float64 (B,)."""
        pair = (x.to(self.device, torch.float32) for x in (images, truth))
        return self.network(*pair, normalize=True).flatten().double()

    def measure_edge_lpips(self, images: Tensor, truth: Tensor, mask: Tensor) -> Tensor:
        """Measure LPIPS of every pair of images at the edges: (B,).

        Both images are set to 0.5 outside `mask` (B, 1, H, W), see `metrics.compute_edge_mask`.
        """
        return self.measure_lpips(*(torch.where(mask, x, 0.5) for x in (images, truth)))


def read_trunk() -> dict[str, Tensor]:
    """Read AlexNet's five convolutions, features.{0,3,6,8,10}.{weight,bias} in float32.

    Raises `UserError` when the package's file is missing or has another checksum.
    """
    content = TRUNK.read_bytes() if TRUNK.is_file() else b""
    if hashlib.sha256(content).hexdigest() != TRUNK_SHA256:
        raise UserError(
            f"LPIPS cannot be measured, since {TRUNK} is missing or damaged; install the package "
            "again, or check the file out again."
        )
    return safetensors.torch.load(content)


def _assemble_network(trunk: dict[str, Tensor]) -> Any:
    """Assemble the LPIPS network from AlexNet's convolutions and the package's linear layers."""
    import lpips

    # It draws a trunk, which is replaced, and torchvision warns about the way it is asked to.
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = lpips.LPIPS(net="alex", version=VERSION, pnet_rand=True, verbose=False)
    named = {
        f"slice{part}.{layer}.{name}": trunk[f"features.{layer}.{name}"]
        for layer, part in CONVOLUTIONS.items()
        for name in ("weight", "bias")
    }
    network.net.load_state_dict(named)
    return network.requires_grad_(False)
