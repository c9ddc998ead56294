"""The convolutional patch encoder of all arms of the native benchmark (paper section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .base import PLAIN, Encoder
from .layers import SiLU

# Values of a group from which computing its moments separately is faster on CUDA.
LARGE_GROUP = 1 << 19


class GroupNorm(nn.GroupNorm):
    """Group normalization that uses a whole GPU for the large groups of a single image.

    CUDA's kernel computes the moments of a group in one block, so a single image occupies only as
    many multiprocessors as it has groups. Exact to rounding; in inference only.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Normalize (B, C, H, W)."""
        single = x.shape[0] == 1 and x.numel() >= self.num_groups * LARGE_GROUP
        if x.device.type == "cpu" or torch.is_grad_enabled() or not (single and x.is_contiguous()):
            return super().forward(x)
        return self.normalize_by_moments(x)

    def normalize_by_moments(self, x: Tensor) -> Tensor:
        """Normalize one image (1, C, H, W) by moments that many blocks compute together."""
        moments = torch.var_mean(x.view(self.num_groups, -1), 1, correction=0)
        channels = self.num_channels // self.num_groups
        var, mean = (m[:, None].expand(-1, channels).reshape(-1) for m in moments)
        return F.batch_norm(x, mean, var, self.weight, self.bias, eps=self.eps)


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
                GroupNorm(groups, width),
                SiLU(),
            ]
        self.layers = nn.Sequential(*layers, nn.Conv2d(width, width, 3, padding=1))

    def forward(self, images: Tensor, path: str | None = None) -> Tensor:
        """Encode images (B, 3, H, W) into features (B, D, H / P, W / P)."""
        x = images
        for layer in self.layers:
            if path == PLAIN and isinstance(layer, GroupNorm):
                x = nn.GroupNorm.forward(layer, x)
            else:
                x = layer(x)
        return x
