"""The convolutional encoder that all arms of the native benchmark share (paper section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from ..errors import UserError


class Encoder(nn.Module):
    """Maps images (B, 3, H, W) in [0, 1] to features (B, D, H / P, W / P).

    An input lift, log2(P) downsampling blocks and an output projection, all 3x3 convolutions; all
    but the last are followed by GroupNorm and SiLU. P is the patch side, a power of two (else
    `UserError`); H and W are multiples of it.
    """

    channels_last = True  # the memory format that is faster on a CPU

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        width, patch, groups = config["features"], config["patch"], config["norm_groups"]
        if patch < 2 or patch & (patch - 1):
            raise UserError(
                f"Config: native.model.patch is {patch}, but must be a power of two, at least 2."
            )
        if width % groups:
            raise UserError(
                f"Config: native.model.features is {width}, but must be a multiple of "
                f"native.model.norm_groups, {groups}."
            )
        layers: list[nn.Module] = []
        for stage in range(patch.bit_length()):
            inputs, stride = (width, 2) if stage else (3, 1)
            layers += [
                nn.Conv2d(inputs, width, 3, stride, padding=1),
                nn.GroupNorm(groups, width),
                nn.SiLU(inplace=True),
            ]
        self.layers = nn.Sequential(*layers, nn.Conv2d(width, width, 3, padding=1))

    def forward(self, images: Tensor) -> Tensor:
        """Encode images (B, 3, H, W) into features (B, D, H / P, W / P)."""
        return self.layers(images)
