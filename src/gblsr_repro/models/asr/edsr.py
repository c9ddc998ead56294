"""EDSR as an encoder: residual blocks, no upsampling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch.nn.functional as F
from torch import Tensor, nn

from ..base import Encoder
from ..layers import build_module_list


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions with a ReLU between them; residual."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.enter = nn.Conv2d(features, features, 3, padding=1)
        self.leave = nn.Conv2d(features, features, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """Map features (B, D, H, W) to the same shape."""
        return x + self.leave(F.relu(self.enter(x)))


class EDSR(Encoder):
    """EDSR encoder: a convolution, `blocks` residual blocks and a convolution, residual.

    nf is the number of channels: nf=64 blocks=16 is the published baseline. It has no batch
    normalization, scales no residual and shifts no mean.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ()
    OPTIONS: ClassVar = {"nf": int, "blocks": int}

    def __init__(self, section: Mapping[str, Any], nf: str, blocks: str) -> None:
        super().__init__()
        self.features = features = int(nf)
        self.first = nn.Conv2d(3, features, 3, padding=1)
        self.blocks = build_module_list(ResidualBlock(features) for _ in range(int(blocks)))
        self.last = nn.Conv2d(features, features, 3, padding=1)

    def forward(self, images: Tensor, path: str | None = None) -> Tensor:
        """Encode normalized images (B, 3, H, W) into features (B, nf, H, W)."""
        first = x = self.first(images)
        for block in self.blocks:
            x = block(x)
        return first + self.last(x)

    def estimate_bytes_per_pixel(self) -> int:
        """Estimate the peak memory per pixel: the maps of a block."""
        return 4 * 5 * self.features
