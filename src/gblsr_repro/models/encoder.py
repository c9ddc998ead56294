"""The convolutional patch encoder of all arms of the native benchmark (paper section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor, nn

from .base import Encoder


class PatchEncoder(Encoder):
    """Encode images (B, 3, H, W) in [0, 1] into features (B, D, H / P, W / P).

    An input lift, log2(P) downsampling blocks and an output projection, all 3x3 convolutions; all
    but the last are followed by GroupNorm and SiLU. P is the patch side, a power of two; H and W
    are multiples of it.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ("features", "patch", "norm_groups")

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__()
        width, patch, groups = section["features"], section["patch"], section["norm_groups"]
        self.features = width
        layers: list[nn.Module] = []
        for stage in range(patch.bit_length()):
            inputs, stride = (width, 2) if stage else (3, 1)
            layers += [
                nn.Conv2d(inputs, width, 3, stride, padding=1),
                nn.GroupNorm(groups, width),
                nn.SiLU(),
            ]
        self.layers = nn.Sequential(*layers, nn.Conv2d(width, width, 3, padding=1))

    def forward(self, images: Tensor, path: str | None = None) -> Tensor:
        """Encode images (B, 3, H, W) into features (B, D, H / P, W / P)."""
        return self.layers(images)
