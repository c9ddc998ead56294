"""Small parts of networks: a quick linear layer, mirrored borders, activations, lists of modules.

Activations overwrite their input where no gradient needs it. In training that would not save memory
but cost a copy: autograd keeps what SiLU reads, and a view that is written in place (the output of
a linear layer on more than two axes is one) is copied slice by slice on the way back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Module = TypeVar("Module", bound=nn.Module)
ONEDNN_BATCH = 16  # from so many on torch gives a 1x1 convolution to oneDNN on one thread, too


def apply_pointwise(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Apply a linear layer to the last axis of x: (..., inputs) to (..., outputs).

    On the CPU as a 1x1 convolution over the same memory, which oneDNN computes up to twice as fast
    as torch's matrix product of so many rows, and its weight gradient more so. The rows are dealt
    out to `ITEMS` items, where their number can be divided so.
    """
    if x.device.type != "cpu":
        return F.linear(x, weight, bias)
    items = math.gcd(x.shape[:-1].numel(), ONEDNN_BATCH)
    rows = x.reshape(items, -1, 1, x.shape[-1]).permute(0, 3, 1, 2)
    made = F.conv2d(rows, weight[:, :, None, None], bias)
    return made.permute(0, 2, 3, 1).reshape(*x.shape[:-1], -1)


def extend_by_mirroring(maps: Tensor, size: tuple[int, int]) -> Tensor:
    """Continue maps (B, C, h, w) at the bottom and the right to `size` (H, W) by mirror images.

    The mirror image has the border pixels too; where it is shorter than what is missing, it is
    followed by the map again. Maps of that size are returned as they are.
    """
    for dim, length in enumerate(size, 2):
        there = maps.shape[dim]
        if length > there:
            turn = torch.arange(length, device=maps.device) % (2 * there)
            index = torch.minimum(turn, 2 * there - 1 - turn)
            maps = maps.index_select(dim, index)
    return maps


def relu(x: Tensor) -> Tensor:
    """Return max(x, 0), in place in inference."""
    return F.relu(x, inplace=not torch.is_grad_enabled())


def silu(x: Tensor) -> Tensor:
    """Return x sigmoid(x), in place in inference."""
    return F.silu(x, inplace=not torch.is_grad_enabled())


class SiLU(nn.SiLU):
    """`silu` as a module."""

    def forward(self, x: Tensor) -> Tensor:
        """Apply the activation."""
        return silu(x)


def build_module_list(items: Iterable[Module]) -> Sequence[Module]:
    """Return an `nn.ModuleList`, whose items torch itself types as any module at all."""
    return cast("Sequence[Module]", nn.ModuleList(items))
