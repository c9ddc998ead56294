"""The residual dense network trunk (RDN) as arbitrary-scale methods use it: no upsampling part."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def _conv(inputs: int, outputs: int, side: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, side, padding=side // 2)


class DenseBlock(nn.Module):
    """C convolutions that each read all maps before them, fused by a 1x1 convolution; residual."""

    def __init__(self, features: int, layers: int, growth: int) -> None:
        super().__init__()
        widths = range(features, features + layers * growth, growth)
        self.layers = nn.ModuleList(_conv(width, growth, 3) for width in widths)
        self.fusion = _conv(features + layers * growth, features, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Map features (B, G0, H, W) to the same shape."""
        maps = x
        for layer in self.layers:
            maps = torch.cat((maps, F.relu(layer(maps))), dim=1)
        return x + self.fusion(maps)

    def write(self, maps: Tensor) -> Tensor:
        """Do what `forward` does with `maps` (B, G0 + C G, H, W), whose first G0 hold the input.

        Every output is written beside its inputs instead of copying them all for each layer. The
        result is the same; gradients cannot pass through a tensor that is written in parts.
        """
        end = self.layers[0].in_channels
        x = maps[:, :end]
        for layer in self.layers:
            start, end = end, end + layer.out_channels
            torch.clamp(layer(maps[:, :start]), min=0, out=maps[:, start:end])
        return x + self.fusion(maps)


class RDN(nn.Module):
    """D dense blocks between two shallow convolutions and a fusion of all blocks' outputs.

    `features` is the base width G0 (nf in the paper), `blocks` D, `layers` C, `growth` G. All
    convolutions are 3x3 except the 1x1 fusions.
    """

    channels_last = True  # the memory format that is faster on a CPU

    def __init__(self, features: int, blocks: int, layers: int, growth: int) -> None:
        super().__init__()
        self.features = features
        self.shallow = _conv(3, features, 3)
        self.entry = _conv(features, features, 3)
        self.blocks = nn.ModuleList(DenseBlock(features, layers, growth) for _ in range(blocks))
        self.fusion = _conv(blocks * features, features, 1)
        self.last = _conv(features, features, 3)

    def forward(self, images: Tensor) -> Tensor:
        """Encode normalised images (B, 3, H, W) into features (B, G0, H, W)."""
        shallow = self.shallow(images)
        x = self.entry(shallow)
        # One buffer for all layers saves copies only where its first channels are one block of
        # memory: in the usual layout, not in channels last.
        if torch.is_grad_enabled() or not shallow.is_contiguous():
            outputs = []
            for block in self.blocks:
                x = block(x)
                outputs.append(x)
            fused = self.fusion(torch.cat(outputs, dim=1))
        else:
            fused = self._fused_in_place(x)
        return shallow + self.last(fused)

    def _fused_in_place(self, x: Tensor) -> Tensor:
        """Run the blocks in one buffer and add up their parts of the fusion as they come.

        Neither the growing concatenations nor the blocks' outputs side by side are ever held.
        """
        width = self.blocks[0].fusion.in_channels
        maps = x.new_empty(x.shape[0], width, *x.shape[2:])
        fused: Tensor | None = None
        parts = self.fusion.weight.split(self.features, dim=1)
        for block, part in zip(self.blocks, parts, strict=True):
            maps[:, : self.features] = x
            x = block.write(maps)
            if fused is None:
                fused = F.conv2d(x, part, self.fusion.bias)
            else:
                fused += F.conv2d(x, part)
        return fused
