"""Small network parts: a fast linear layer, mirrored borders, activations, module lists.

Activations overwrite their input where no gradient needs it. In training that would save no memory
and cost a copy: autograd keeps what SiLU reads, and a view that is written in place (as the output
of a linear layer on more than two axes is) is copied slice by slice in the backward pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Module = TypeVar("Module", bound=nn.Module)
# The smallest batch at which torch hands a 1x1 convolution to oneDNN on one thread, too.
ONEDNN_BATCH = 16


def apply_pointwise(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Apply a linear layer to the last axis of x: (..., inputs) to (..., outputs).

    On the CPU it runs as a 1x1 convolution over the same memory, which oneDNN computes up to twice
    as fast as torch's matrix product of so many rows, and its weight gradient faster still. The
    rows are split into a batch of `ONEDNN_BATCH`, where that divides their number.
    """
    if x.device.type != "cpu":
        return F.linear(x, weight, bias)
    batch = math.gcd(x.shape[:-1].numel(), ONEDNN_BATCH)
    rows = x.reshape(batch, -1, 1, x.shape[-1]).permute(0, 3, 1, 2)
    outputs = F.conv2d(rows, weight[:, :, None, None], bias)
    return outputs.permute(0, 2, 3, 1).reshape(*x.shape[:-1], -1)


def extend_by_mirroring(maps: Tensor, size: tuple[int, int]) -> Tensor:
    """Extend maps (B, C, h, w) at the bottom and the right to `size` (H, W) by mirror images.

    The mirror image repeats the border pixels; where it is shorter than the missing part, the map
    itself follows again. Maps that have the size already are returned unchanged.
    """
    for dim, length in enumerate(size, 2):
        present = maps.shape[dim]
        if length > present:
            turn = torch.arange(length, device=maps.device) % (2 * present)
            index = torch.minimum(turn, 2 * present - 1 - turn)
            maps = maps.index_select(dim, index)
    return maps


def relu(x: Tensor) -> Tensor:
    """Compute max(x, 0), in place in inference."""
    return F.relu(x, inplace=not torch.is_grad_enabled())


def silu(x: Tensor) -> Tensor:
    """Compute x sigmoid(x), in place in inference."""
    return F.silu(x, inplace=not torch.is_grad_enabled())


def build_module_list(items: Iterable[Module]) -> Sequence[Module]:
    """Build an `nn.ModuleList` whose items keep their type; torch types them as any module."""
    return cast("Sequence[Module]", nn.ModuleList(items))
