"""Time variants of one thing against each other.

The variants take turns, round after round, so that whatever else the machine does meets all of
them alike. A ratio is the median of the ratios of single rounds; beside it stand their quartiles,
which show how far it can be trusted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
import psutil
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

    variant: Variant
    times: list[list[float]] = field(default_factory=list)
    peak_mib: float | None = None
    difference: float | None = None

    @property
    def all_times(self) -> list[float]:
        """The milliseconds of all calls."""
        return [ms for turn in self.times for ms in turn]

    @property
    def is_wrong(self) -> bool:
        """Whether the output is not the reference's."""
        return self.difference is not None and not self.difference <= TOLERANCE


@dataclass(frozen=True)
class Comparison:
    """Ratios of one variant to the reference: above 1 it is faster, or takes less memory."""

    speedup: float
    quartiles: tuple[float, float]
    memory_saving: float | None

    @classmethod
    def compare(cls, own: Result, reference: Result) -> Comparison:
        """Compare two results of the same rounds."""
        pairs = zip(reference.times, own.times, strict=True)
        ratios = [median(a) / median(b) for a, b in pairs]
        low, high = (float(q) for q in np.percentile(ratios, [25, 75]))
        saving = reference.peak_mib / own.peak_mib if reference.peak_mib and own.peak_mib else None
        return cls(median(ratios), (low, high), saving)


def measure_case(
    case: Case,
    device: torch.device,
    seconds: float = SECONDS,
    least: int = LEAST_ROUNDS,
) -> list[Result]:
    """Measure a case within about `seconds`, in `least` to `MOST_ROUNDS` rounds."""
    with _apply_settings(case):
        results = [Result(variant) for variant in case.variants]
        if not case.outside:
            _warm_up(case, results, device)
        turns = [1] * len(results)
        began = time.monotonic()
        for number in range(MOST_ROUNDS):
            # Who goes first changes from round to round.
            for place in range(len(results)):
                at = (place + number) % len(results)
                call = results[at].variant.call
                times = [_time_call(call, case, device) for _ in range(turns[at])]
                results[at].times.append(times)
            if number + 1 >= least and time.monotonic() - began > seconds:
                break
            turns = [_count_turns(result) for result in results]
    return results


def _count_turns(result: Result) -> int:
    """Count the calls of a variant in the next round: quick ones several."""
    return min(max(round(TURN_MS / median(result.all_times)), 1), MOST_TURNS)


def _time_call(call: Callable[[], Any], case: Case, device: torch.device) -> float:
    """Time one call of a variant in milliseconds."""
    return call() if case.outside else timing.time_pass_ms(call, device)


def _warm_up(case: Case, results: list[Result], device: torch.device) -> None:
    """Warm up, measure memory, and compare the outputs with the reference's."""
    expected: Any = None
    for result in results:
        # The first call includes what libraries set up once.
        for _ in range(CUDA_WARMUP if device.type == "cuda" else 1):
            output = result.variant.call()
        if case.memory:
            output, result.peak_mib = measure_memory(result.variant.call, device)
        if not case.same:
            continue
        if result is results[0]:
            expected = output
        else:
            result.difference = float((output - expected).abs().max() / expected.abs().max())


@contextmanager
def _apply_settings(case: Case) -> Iterator[None]:
    """Apply the settings of a case to torch inside the block."""
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = case.tf32
    try:
        with torch.set_grad_enabled(case.training):
            yield
    finally:
        torch.backends.cudnn.allow_tf32 = before


class CoreMeter:
    """Meter of the CPU cores that other processes keep busy, from when it is created."""

    def __init__(self) -> None:
        self.began, self.all, self.own = time.monotonic(), self._read_all(), self._read_own()

    @staticmethod
    def _read_all() -> float:
        times = psutil.cpu_times()
        return sum(getattr(times, kind, 0.0) for kind in ("user", "nice", "system", "steal"))

    @staticmethod
    def _read_own() -> float:
        times = psutil.Process().cpu_times()
        return times.user + times.system + times.children_user + times.children_system

    def count_busy(self) -> float:
        """Count the cores that were busy with other processes on average."""
        others = (self._read_all() - self.all) - (self._read_own() - self.own)
        return max(others, 0.0) / max(time.monotonic() - self.began, 1e-3)
