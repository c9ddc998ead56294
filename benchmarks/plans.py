"""What a run is given, and the list of cases it is to measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from gblsr_repro.config import Config

from .measure import Case


@dataclass(frozen=True)
class Bench:
    """What all cases share; `scratch` is an empty folder that goes away after the run."""

    config: Config
    device: torch.device
    quick: bool
    scratch: Path

    @property
    def cuda(self) -> bool:
        """Whether the device is a CUDA GPU."""
        return self.device.type == "cuda"


@dataclass(frozen=True)
class Plan:
    """A case that is still to be made; `weight` is its share of the time, relative to others'."""

    label: str
    weight: float
    make: Callable[[Bench], Case]


def shape(height: int, width: int) -> str:
    return f"{height}x{width}"
