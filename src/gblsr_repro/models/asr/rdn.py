"""The residual dense network (RDN) as arbitrary-scale methods use it: no upsampling part.

A convolution of a dense block reads all maps before it. Joining them anew for each layer moves
several times what the convolutions themselves read. Here a block's maps lie in one buffer and every
layer writes beside what it reads. That needs the first channels of the buffer to be one block of
memory, which those of a batch are not, so the images of a batch are laid below each other as the
rows of one image, with a row of zeros after each: the same zeros that pad the convolutions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..base import PLAIN, Encoder
from ..layers import build_module_list


def _build_convolution(inputs: int, outputs: int, side: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, side, padding=side // 2)


def stack_images(images: Tensor) -> Tensor:
    """Lay (B, C, H, W) out as one image (1, C, B (H + 1), W), zeros after each; B = 1 as it is."""
    if images.shape[0] == 1:
        return images
    return F.pad(images.transpose(0, 1), (0, 0, 0, 1)).flatten(1, 2)[None]


def unstack_images(image: Tensor, batch: int) -> Tensor:
    """Undo `stack`: back to (batch, C, H, W)."""
    if batch == 1:
        return image
    return image[0].unflatten(1, (batch, -1))[:, :, :-1].transpose(0, 1)


class DenseBlock(nn.Module):
    """C convolutions that each read all maps before them, fused by a 1x1 convolution; residual."""

    def __init__(self, features: int, layers: int, growth: int) -> None:
        super().__init__()
        widths = range(features, features + layers * growth, growth)
        self.layers = build_module_list(_build_convolution(width, growth, 3) for width in widths)
        self.fusion = _build_convolution(features + layers * growth, features, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Map features (B, G0, H, W) to the same shape, as the block is defined."""
        maps = x
        for layer in self.layers:
            maps = torch.cat((maps, F.relu(layer(maps))), dim=1)
        return x + self.fusion(maps)

    def stacked(self, x: Tensor, batch: int, bounds: tuple[Tensor, Tensor]) -> Tensor:
        """Do what `forward` does with `batch` images laid out by `stack`.

        `bounds` are what a ReLU keeps values between: 0, and infinity but in the rows between.
        """
        parameters = [p.to(x.dtype) for p in self.parameters()]  # the encoder's under autocast
        return _BufferedBlock.apply(x, batch, *bounds, *parameters)


class _BufferedBlock(torch.autograd.Function):
    """A dense block on stacked images (1, G0, R, W); parameters are (weight, bias) by layer.

    Autograd cannot follow a tensor that is written in parts; what it would do is written out, and
    the gradients of all maps lie in one buffer likewise.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, batch: int, lowest: Tensor, highest: Tensor, *parameters: Tensor
    ) -> Tensor:
        *layers, (weight, bias) = zip(parameters[::2], parameters[1::2], strict=True)
        maps = x.new_empty(1, weight.shape[1], *x.shape[2:])
        end = x.shape[1]
        maps[:, :end] = x
        for own, offset in layers:
            start, end = end, end + own.shape[0]
            made = F.conv2d(maps[:, :start], own, offset, padding=1)
            torch.clamp(made, lowest, highest, out=maps[:, start:end])
        ctx.save_for_backward(maps, *parameters[::2])
        ctx.batch = batch
        fused = F.conv2d(maps, weight, bias).add_(x)
        _clear_separators(fused, batch)
        return fused

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        maps, *weights, fusion = ctx.saved_tensors
        of_maps, *found = _backpropagate_convolution(gradient, maps, fusion, 0)
        end = maps.shape[1]
        for weight in reversed(weights):
            start = end - weight.shape[0]
            own = torch.ops.aten.threshold_backward(of_maps[:, start:end], maps[:, start:end], 0)
            of_inputs, *of_layer = _backpropagate_convolution(own, maps[:, :start], weight, 1)
            of_maps[:, :start].add_(of_inputs)  # `+=` on a slice also copies it onto itself
            found = [*of_layer, *found]
            end = start
        of_x = of_maps[:, :end] + gradient
        _clear_separators(of_x, ctx.batch)
        return of_x, None, None, None, *found


def _clear_separators(image: Tensor, batch: int) -> None:
    """Set the rows between stacked images to zero."""
    if batch > 1:
        image.unflatten(2, (batch, -1))[:, :, :, -1] = 0


def _backpropagate_convolution(
    gradient: Tensor, x: Tensor, weight: Tensor, pad: int
) -> list[Tensor]:
    """Return the gradients of a convolution's input, weight and bias."""
    return torch.ops.aten.convolution_backward(
        gradient, x, weight, [weight.shape[0]], [1, 1], [pad, pad], [1, 1], False, [0, 0], 1,
        [True, True, True],
    )  # fmt: skip


def _should_use_buffers(x: Tensor) -> bool:
    """Say whether a block's maps are better written into one buffer than joined.

    In channels last no slice of a buffer is one block; a compiler plans its own buffers; on a CPU
    to join the maps of a batch is faster than to compute the rows between its images.
    """
    return x.is_contiguous() and (x.shape[0] == 1 or x.device.type != "cpu")


class RDN(Encoder):
    """D dense blocks between two shallow convolutions and a fusion of all blocks' outputs.

    The config section has the base width G0 (rdn_features, which the option nf replaces), D
    (rdn_blocks), C (rdn_layers) and G (rdn_growth). All convolutions are 3x3 except the 1x1
    fusions.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ("rdn_features", "rdn_blocks", "rdn_layers", "rdn_growth")
    OPTIONS: ClassVar = {"nf": int}

    def __init__(self, section: Mapping[str, Any], nf: str | None = None) -> None:
        super().__init__()
        self.features = features = section["rdn_features"] if nf is None else int(nf)
        blocks, layers, growth = (section[f"rdn_{n}"] for n in ("blocks", "layers", "growth"))
        self.shallow = _build_convolution(3, features, 3)
        self.entry = _build_convolution(features, features, 3)
        self.blocks = build_module_list(DenseBlock(features, layers, growth) for _ in range(blocks))
        self.fusion = _build_convolution(blocks * features, features, 1)
        self.last = _build_convolution(features, features, 3)

    def forward(self, images: Tensor, path: str | None = None) -> Tensor:
        """Encode normalized images (B, 3, H, W) into features (B, G0, H, W)."""
        shallow = self.shallow(images)
        x = self.entry(shallow)
        if path == PLAIN or torch.compiler.is_compiling() or not _should_use_buffers(x):
            fused = self._joined(x)
        else:
            fused = self._written(x)
        return shallow + self.last(fused)

    def bytes_per_pixel(self) -> int:
        """Return what a block's joined maps and some of its inputs take."""
        return 4 * (2 * self.blocks[0].fusion.in_channels + 8 * self.features)

    def _joined(self, x: Tensor) -> Tensor:
        """Run the blocks and their fusion as they are defined."""
        outputs = []
        for block in self.blocks:
            x = block(x)
            outputs.append(x)
        return self.fusion(torch.cat(outputs, dim=1))

    def _written(self, x: Tensor) -> Tensor:
        """Do the same on stacked images in buffers, adding up the fusion block by block."""
        batch, x = x.shape[0], stack_images(x)
        bounds = x.new_zeros(()), x.new_full((1, 1, x.shape[2], 1), torch.inf)
        _clear_separators(bounds[1], batch)
        first, *others = self.fusion.weight.split(self.features, dim=1)
        x = self.blocks[0].stacked(x, batch, bounds)
        fused = F.conv2d(x, first, self.fusion.bias)
        for block, part in zip(self.blocks[1:], others, strict=True):
            x = block.stacked(x, batch, bounds)
            fused += F.conv2d(x, part)
        return unstack_images(fused, batch)
