"""Time variants of one thing against each other.

The variants take turns, round after round, so that whatever else the machine does meets all of
them alike. A ratio is the median of the ratios of single rounds; beside it stand their quartiles,
which show how far it can be trusted (`record`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

import torch

from gblsr_repro.evaluation import timing

from .memory import measure_memory

SECONDS = 10.0  # a case takes no further round after these,
LEAST_ROUNDS, MOST_ROUNDS = 3, 30  # but at least and at most so many
TURN_MS, MOST_TURNS = 20, 20  # quick variants are called so long in a round, at most so often
CUDA_WARMUP = 3
TOLERANCE = 1e-4  # of the reference's largest value: equal up to float32 rounding


@dataclass(frozen=True)
class Variant:
    """One way to do the work of a case."""

    name: str
    call: Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """Variants to time against the first of them, the reference.

    `size` and `scale` describe the input, `items` is how many images, samples or steps one call
    does. With `same` the variants must return equal tensors. `training` keeps gradients on; `tf32`
    allows TF32 convolutions on CUDA. `memory` takes peak memory. The calls of an `outside` case run
    in processes of their own and return milliseconds.
    """

    name: str
    variants: tuple[Variant, ...]
    size: str = ""
    scale: float | None = None
    items: int = 1
    same: bool = True
    training: bool = False
    tf32: bool = False
    memory: bool = True
    outside: bool = False


@dataclass
class Result:
    """The measurements of one variant.

    `times` holds the milliseconds of the calls of each round, `difference` the largest difference
    of its output from the reference's, as part of the reference's largest value.
    """

    times: list[list[float]] = field(default_factory=list)
    peak_mib: float | None = None
    difference: float | None = None

    @property
    def all_times(self) -> list[float]:
        """The milliseconds of all calls."""
        return [ms for turn in self.times for ms in turn]


def measure_case(
    case: Case, device: torch.device, seconds: float = SECONDS, least: int = LEAST_ROUNDS
) -> list[Result]:
    """Measure a case within about `seconds`, in `least` to `MOST_ROUNDS` rounds."""
    results = [Result() for _ in case.variants]
    torch.backends.cudnn.allow_tf32 = case.tf32
    with torch.set_grad_enabled(case.training):
        if not case.outside:
            _warm_up(case, results, device)
        turns = [1] * len(results)
        began = time.monotonic()
        for number in range(MOST_ROUNDS):
            # Who goes first changes from round to round.
            for place in range(len(results)):
                at = (place + number) % len(results)
                call = case.variants[at].call
                time_once = call if case.outside else partial(timing.time_pass_ms, call, device)
                results[at].times.append([time_once() for _ in range(turns[at])])
            if number + 1 >= least and time.monotonic() - began > seconds:
                break
            # Quick variants are called several times in a round.
            quickness = [TURN_MS / median(result.all_times) for result in results]
            turns = [min(max(round(each), 1), MOST_TURNS) for each in quickness]
    return results


def _warm_up(case: Case, results: list[Result], device: torch.device) -> None:
    """Warm up, measure memory, and compare the outputs with the reference's."""
    expected: Any = None
    for variant, result in zip(case.variants, results, strict=True):
        # The first call includes what libraries set up once.
        for _ in range(CUDA_WARMUP if device.type == "cuda" else 1):
            output = variant.call()
        if case.memory:
            output, result.peak_mib = measure_memory(variant.call, device)
        if not case.same:
            continue
        if expected is None:
            expected = output
        else:
            result.difference = float((output - expected).abs().max() / expected.abs().max())
