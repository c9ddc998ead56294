"""Small parts of networks: activations that save memory, lists of modules that keep their type.

Activations overwrite their input where no gradient needs it. In training that would not save memory
but cost a copy: autograd keeps what SiLU reads, and a view that is written in place (the output of
a linear layer on more than two axes is one) is copied slice by slice on the way back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Module = TypeVar("Module", bound=nn.Module)


def relu(x: Tensor) -> Tensor:
    """Return max(x, 0), in place in inference."""
    return F.relu(x, inplace=not torch.is_grad_enabled())


class SiLU(nn.SiLU):
    """x sigmoid(x), in place in inference."""

    def forward(self, x: Tensor) -> Tensor:
        """Apply the activation."""
        return F.silu(x, inplace=not torch.is_grad_enabled())


def modules(items: Iterable[Module]) -> Sequence[Module]:
    """Return an `nn.ModuleList`, whose items torch itself types as any module at all."""
    return cast("Sequence[Module]", nn.ModuleList(items))
