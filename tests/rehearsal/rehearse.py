"""Short trainings, and one that must not wait for the device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.optim.optimizer import register_optimizer_step_post_hook

from gblsr_repro import config as configuration
from gblsr_repro.training import runs


class Enough(Exception):
    """Ends a training."""


def train(name: str, config: configuration.Config, arrays: Path, folder: Path) -> dict[str, Tensor]:
    """Train an arm or a method; return its weights."""
    folder.mkdir(exist_ok=True)
    arm = configuration.read_arms().get(name)
    trainer, array = (runs.train_arm, "train.npy") if arm else (runs.train_method, "packed.npy")
    row, state = arm or configuration.read_methods()[name], folder / "state.pt"
    with mock.patch.object(runs, "ValidationCurve"):
        trainer(config, row, 0, arrays / array, folder, state)
    return load_file(folder / "weights.safetensors")


@contextmanager
def second_step_must_not_wait() -> Iterator[None]:
    """Let torch raise at whatever waits in the second step of the block's training; end it then."""
    steps: list[Any] = []

    def after_step(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        steps.append(optimizer)
        torch.cuda.set_sync_debug_mode("error")
        if len(steps) == 2:
            raise Enough

    hook = register_optimizer_step_post_hook(after_step)
    try:
        with suppress(Enough):
            yield
    finally:
        hook.remove()
        torch.cuda.set_sync_debug_mode("default")
    assert len(steps) == 2
