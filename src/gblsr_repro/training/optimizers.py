"""Torch's Adam and AdamW, without the compiler that torch imports for their sake.

Torch marks the methods of its optimizers for its compiler, and the marks import all of it at the
first call, which adds more than a second to the start of every job. No optimizer is compiled
here; what the marks are around is the same code and gives the same bits.
"""

from __future__ import annotations

from inspect import unwrap

import torch
from torch.optim import Optimizer


class Adam(torch.optim.Adam):
    """Torch's Adam, its methods taken out of their marks."""

    add_param_group = unwrap(Optimizer.add_param_group)
    zero_grad = unwrap(Optimizer.zero_grad)
    state_dict = unwrap(Optimizer.state_dict)
    load_state_dict = unwrap(Optimizer.load_state_dict)
    step = torch.no_grad()(unwrap(torch.optim.Adam.step))


class AdamW(Adam, torch.optim.AdamW):
    """Torch's AdamW, in the same way."""
