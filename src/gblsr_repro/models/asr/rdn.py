"""The residual dense network (RDN) as arbitrary-scale methods use it: without upsampling.

A convolution of a dense block reads all maps before it. Concatenating them for every layer moves
several times the memory that the convolutions read. Here a block's maps share one buffer and every
layer writes next to its inputs. The first channels of the buffer must then be contiguous, which
those of a batch are not, so the images of a batch are stacked as the rows of one image, with a row
of zeros after every image: the same zeros that pad the convolutions.
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
    """Build a convolution that keeps the image size."""
    return nn.Conv2d(inputs, outputs, side, padding=side // 2)


def stack_images(images: Tensor) -> Tensor:
    """Stack (B, C, H, W) into one image (1, C, B (H + 1), W), zeros between; B = 1 unchanged."""
    if images.shape[0] == 1:
        return images
    return F.pad(images.transpose(0, 1), (0, 0, 0, 1)).flatten(1, 2)[None]


def unstack_images(image: Tensor, batch: int) -> Tensor:
    """Undo `stack_images`: back to (batch, C, H, W)."""
    if batch == 1:
        return image
    return image[0].unflatten(1, (batch, -1))[:, :, :-1].transpose(0, 1)


class DenseBlock(nn.Module):
    """Residual block of C convolutions that read all maps before them, fused by a 1x1 one."""

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

    def forward_stacked(self, x: Tensor, batch: int, bounds: tuple[Tensor, Tensor]) -> Tensor:
        """Map features as `forward` does, of `batch` images stacked by `stack_images`.

        `bounds` are the limits of a ReLU: 0, and infinity, but 0 in the rows between images.
        """
        parameters = [p.to(x.dtype) for p in self.parameters()]  # the encoder's under autocast
        return _BufferedBlock.apply(x, batch, *bounds, *parameters)


class _BufferedBlock(torch.autograd.Function):
    """A dense block on stacked images (1, G0, R, W); parameters are (weight, bias) by layer.

    Autograd cannot follow a tensor that is written in parts, so the backward pass is written out;
    the gradients of all maps share one buffer, too.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, batch: int, lowest: Tensor, highest: Tensor, *parameters: Tensor
    ) -> Tensor:
        *layers, (weight, bias) = zip(parameters[::2], parameters[1::2], strict=True)
        maps = x.new_empty(1, weight.shape[1], *x.shape[2:])
        end = x.shape[1]
        maps[:, :end] = x
        for kernel, offset in layers:
            start, end = end, end + kernel.shape[0]
            outputs = F.conv2d(maps[:, :start], kernel, offset, padding=1)
            torch.clamp(outputs, lowest, highest, out=maps[:, start:end])
        ctx.save_for_backward(maps, *parameters[::2])
        ctx.batch = batch
        fused = F.conv2d(maps, weight, bias).add_(x)
        _clear_separators(fused, batch)
        return fused

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        maps, *weights, fusion = ctx.saved_tensors
        of_maps, *of_parameters = _backpropagate_convolution(gradient, maps, fusion, 0)
        end = maps.shape[1]
        for weight in reversed(weights):
            start = end - weight.shape[0]
            of_relu = of_maps[:, start:end]
            of_outputs = torch.ops.aten.threshold_backward(of_relu, maps[:, start:end], 0)
            of_inputs, *of_layer = _backpropagate_convolution(
                of_outputs, maps[:, :start], weight, 1
            )
            of_maps[:, :start].add_(of_inputs)  # `+=` on a slice also copies it onto itself
            of_parameters = [*of_layer, *of_parameters]
            end = start
        of_x = of_maps[:, :end] + gradient
        _clear_separators(of_x, ctx.batch)
        return of_x, None, None, None, *of_parameters


def _clear_separators(image: Tensor, batch: int) -> None:
    """Set the rows between stacked images to zero."""
    if batch > 1:
        image.unflatten(2, (batch, -1))[:, :, :, -1] = 0


def _backpropagate_convolution(
    gradient: Tensor, x: Tensor, weight: Tensor, pad: int
) -> list[Tensor]:
    """Compute the gradients of a convolution's input, weight and bias."""
    return torch.ops.aten.convolution_backward(
        gradient, x, weight, [weight.shape[0]], [1, 1], [pad, pad], [1, 1], False, [0, 0], 1,
        [True, True, True],
    )  # fmt: skip


def _should_use_buffers(x: Tensor) -> bool:
    """Decide whether a block writes its maps into one buffer instead of concatenating them.

    In channels last no slice of a buffer is contiguous. On a CPU concatenating the maps of a batch
    is faster than computing the rows between its images.
    """
    return x.is_contiguous() and (x.shape[0] == 1 or x.device.type != "cpu")


class RDN(Encoder):
    """RDN encoder: two shallow convolutions, D dense blocks, and a fusion of all their outputs.

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
        if path == PLAIN or not _should_use_buffers(x):
            fused = self._run_by_definition(x)
        else:
            fused = self._run_in_buffers(x)
        return shallow + self.last(fused)

    def estimate_bytes_per_pixel(self) -> int:
        """Estimate the peak memory per pixel: a block's joined maps and some of its inputs."""
        return 4 * (2 * self.blocks[0].fusion.in_channels + 8 * self.features)

    def _run_by_definition(self, x: Tensor) -> Tensor:
        """Run the blocks and their fusion as they are defined."""
        outputs = []
        for block in self.blocks:
            x = block(x)
            outputs.append(x)
        return self.fusion(torch.cat(outputs, dim=1))

    def _run_in_buffers(self, x: Tensor) -> Tensor:
        """Run the blocks on stacked images in buffers, adding up the fusion block by block."""
        batch, x = x.shape[0], stack_images(x)
        bounds = x.new_zeros(()), x.new_full((1, 1, x.shape[2], 1), torch.inf)
        _clear_separators(bounds[1], batch)
        first, *others = self.fusion.weight.split(self.features, dim=1)
        x = self.blocks[0].forward_stacked(x, batch, bounds)
        fused = F.conv2d(x, first, self.fusion.bias)
        for block, weight in zip(self.blocks[1:], others, strict=True):
            x = block.forward_stacked(x, batch, bounds)
            fused += F.conv2d(x, weight)
        return unstack_images(fused, batch)
