"""Time variants of one thing against each other.

The variants take turns, round after round, so that whatever else the machine does meets all of
them alike. A ratio is the median of the ratios of single rounds; beside it stand their quartiles,
which show how far it can be trusted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import numpy as np
import psutil
import torch
from torch import Tensor

from gblsr_repro.evaluation import latency
from gblsr_repro.runtime import MIB, measure_free_memory, release_memory

from .memory import measure_call

ROUNDS, QUICK_ROUNDS = 30, 2
QUARTILE_ROUNDS = 3  # fewer have no quartiles, and their times meet or miss no target
TURNS = 20  # calls of a quick variant within one round, at most
TURN_SHARE = 0.1  # their time together, as a part of the slowest variant's call
CUDA_WARMUP = 3
QUICK_MS = 1000  # a first call on the CPU that takes less is followed by one that is warm
# What a call may be expected to take: parts of the free memory and of the time of its case.
MEMORY_SHARE, TIME_SHARE = 0.5, 1 / 3
TOLERANCE = 1e-4  # of the reference's largest value: equal up to float32 rounding

# What a target bounds; "at most" where the name is in AT_MOST, else "at least".
SPEEDUP, MEMORY_SAVING = "speedup", "memory saving"
TIME_RATIO, MEMORY_RATIO = "time ratio", "memory ratio"
MILLISECONDS = "ms"
AT_MOST = (TIME_RATIO, MEMORY_RATIO, MILLISECONDS)
TIMED = (SPEEDUP, TIME_RATIO, MILLISECONDS)  # the others come out the same in every call

# What is said of a target.
MET, MISSED, TOO_FEW, UNMEASURED = "yes", "no", "too few rounds", "-"


@dataclass(frozen=True)
class Target:
    """A bound on one quantity, such as a speedup of at least 200."""

    quantity: str
    bound: float

    def __str__(self) -> str:
        sign = "<=" if self.quantity in AT_MOST else ">="
        return f"{self.quantity} {sign} {self.bound:g}"

    def is_met(self, value: float) -> bool:
        """Return whether `value` keeps to the bound."""
        return value <= self.bound if self.quantity in AT_MOST else value >= self.bound


@dataclass(frozen=True)
class Scout:
    """A smaller call from which the cost of a large one is estimated: `factor` times as much."""

    call: Callable[[], Any]
    factor: float


@dataclass(frozen=True)
class Variant:
    """One way to do the work of a case; of a `published` one only the output is known."""

    name: str
    call: Callable[[], Any]
    targets: tuple[Target, ...] = ()
    scout: Scout | None = None
    published: bool = False


@dataclass(frozen=True)
class Case:
    """Variants to time against the first of them, the reference.

    `size` and `scale` describe the input, `items` is how many images, samples or steps one call
    does. With `same` the variants must return equal tensors. `training` keeps gradients on and the
    training settings; `tf32` allows TF32 convolutions on CUDA. `memory` takes peak
    memory. The calls of an `outside` case run in processes of their own and return
    milliseconds. The calls of a `scored` case return a mean PSNR-Y in dB and are made once.
    """

    group: str
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
    scored: bool = False

    @property
    def has_targets(self) -> bool:
        """Whether a target is set for any variant."""
        return any(variant.targets for variant in self.variants)

    def drop_targets(self) -> Case:
        """Return the case without targets, for sizes that they were not set for."""
        return replace(self, variants=tuple(replace(v, targets=()) for v in self.variants))


@dataclass
class Result:
    """The measurements of one variant; `missing` says why there are none.

    `times` holds the milliseconds of the calls of each round, `first_ms` is those of the call that
    warmed up.
    """

    variant: Variant
    times: list[list[float]] = field(default_factory=list)
    first_ms: float | None = None
    peak_mib: float | None = None
    difference: float | None = None
    psnr_y: float | None = None
    missing: str = ""

    @property
    def all_times(self) -> list[float]:
        """The milliseconds of all calls."""
        return [ms for turn in self.times for ms in turn]

    @property
    def is_wrong(self) -> bool:
        """Whether the output is not the reference's."""
        return self.difference is not None and not self.difference <= TOLERANCE

    @property
    def note(self) -> str:
        """A remark about the numbers for readers."""
        return self.missing or ("output differs from the reference's" if self.is_wrong else "")


@dataclass(frozen=True)
class Comparison:
    """Ratios of one variant to the reference: above 1 it is faster, or takes less memory."""

    speedup: float | None = None
    quartiles: tuple[float, float] | None = None
    memory_saving: float | None = None

    @classmethod
    def compare(cls, own: Result, reference: Result) -> Comparison:
        """Compare two results; empty where either was not measured."""
        if not (own.times and reference.times):
            return cls()
        pairs = zip(reference.times, own.times, strict=True)
        ratios = [median(a) / median(b) for a, b in pairs]
        quartiles = None
        if len(ratios) >= QUARTILE_ROUNDS:
            quartiles = tuple(float(q) for q in np.percentile(ratios, [25, 75]))
        saving = reference.peak_mib / own.peak_mib if reference.peak_mib and own.peak_mib else None
        return cls(median(ratios), quartiles, saving)


def judge_target(target: Target, own: Result, comparison: Comparison) -> str:
    """Judge whether a target is met: MET, MISSED, TOO_FEW or UNMEASURED.

    No target is met by an output that is not the reference's, nor by a time of too few rounds.
    """
    speedup, saving = comparison.speedup, comparison.memory_saving
    value = {
        SPEEDUP: speedup,
        TIME_RATIO: 1 / speedup if speedup else None,
        MEMORY_SAVING: saving,
        MEMORY_RATIO: 1 / saving if saving else None,
        MILLISECONDS: median(own.all_times) if own.times else None,
    }[target.quantity]
    if value is None:
        return UNMEASURED
    if own.is_wrong:
        return MISSED
    if target.quantity in TIMED and len(own.times) < QUARTILE_ROUNDS:
        return TOO_FEW
    return MET if target.is_met(value) else MISSED


def measure_case(case: Case, device: torch.device, seconds: float, rounds: int) -> list[Result]:
    """Measure a case within about `seconds`, in at most `rounds` rounds and at least one.

    A case with targets takes `QUARTILE_ROUNDS` at least, however long they last. Quick variants
    are called several times a round where that leaves the time for as many rounds.
    """
    needed = QUARTILE_ROUNDS if case.has_targets else 1
    started = time.monotonic()
    with _apply_settings(case):
        results = [Result(variant) for variant in case.variants]
        if not case.outside:
            _warm_up(case, results, device, seconds)
        able = [result for result in results if not result.missing]
        if case.scored:
            for result in able:
                result.times.append([result.first_ms])
            return results
        often = rounds > QUICK_ROUNDS and not case.outside
        turns = [1] * len(able)
        if often:
            left = seconds - (time.monotonic() - started)
            turns = _choose_turns([result.first_ms for result in able], left / QUARTILE_ROUNDS)
        for number in range(rounds):
            began = time.monotonic()
            # Who goes first changes from round to round.
            for place in range(len(able)):
                at = (place + number) % len(able)
                able[at].times.append(
                    [_time_call(able[at], case, device) for _ in range(turns[at])]
                )
            now = time.monotonic()
            if number + 1 >= needed and now - started + (now - began) > seconds:
                break
            if often:
                left = (seconds - (now - started)) / max(QUARTILE_ROUNDS - number - 1, 1)
                turns = _choose_turns([median(result.all_times) for result in able], left)
    return results


def _choose_turns(times: list[float], seconds: float) -> list[int]:
    """Choose how often each variant is called in a round: quick ones more than once.

    `times` are the milliseconds of one call of each; a round of several calls that takes longer
    than `seconds` becomes one of single calls.
    """
    slowest = max(times, default=0.0)
    turns = [min(max(round(TURN_SHARE * slowest / ms), 1), TURNS) for ms in times]
    whole = sum(ms * count for ms, count in zip(times, turns, strict=True)) / 1e3
    return turns if whole <= seconds else [1] * len(times)


def _time_call(result: Result, case: Case, device: torch.device) -> float:
    """Time one call of a variant in milliseconds."""
    call = result.variant.call
    return call() if case.outside else latency.time_pass_ms(call, device)


def _warm_up(case: Case, results: list[Result], device: torch.device, seconds: float) -> None:
    """Warm up, measure memory, and compare the outputs with the reference's."""
    expected: Tensor | None = None
    for result in results:
        variant = result.variant
        if variant.published:
            result.psnr_y, result.missing = variant.call(), "as published, not run here"
            continue
        limit = None if case.has_targets else TIME_SHARE * seconds
        result.missing = _explain_excess(variant, device, limit) if variant.scout else ""
        if result.missing:
            continue
        for _ in range(CUDA_WARMUP if device.type == "cuda" else 0):
            variant.call()
        output = _call_first(result, case, device)
        if case.scored:
            result.psnr_y = output
            continue
        if device.type == "cpu" and result.first_ms < QUICK_MS:
            # A warm call: the first one includes what libraries set up once.
            output = _call_first(result, case, device)
        if not case.same:
            continue
        if result is results[0]:
            expected = output
        elif expected is not None:
            result.difference = float((output - expected).abs().max() / expected.abs().max())


def _call_first(result: Result, case: Case, device: torch.device) -> Any:
    """Call a variant, take its time and peak memory, and return its output."""
    if case.memory:
        measured = measure_call(result.variant.call, device)
        result.peak_mib, result.first_ms = measured.peak_mib, measured.seconds * 1e3
        return measured.output
    began = time.perf_counter()
    output = result.variant.call()
    result.first_ms = (time.perf_counter() - began) * 1e3
    return output


def _explain_excess(variant: Variant, device: torch.device, limit: float | None) -> str:
    """Explain why a call would take too much, by what its scout takes; empty when it would not.

    `limit` bounds its seconds (None: nothing does).
    """
    scout = variant.scout
    measured = measure_call(scout.call, device)
    expected = measured.seconds * scout.factor
    needed = measured.peak_mib * scout.factor
    if needed > MEMORY_SHARE * measure_free_memory(device) / MIB:
        release_memory(device)
    if needed > (allowed := MEMORY_SHARE * measure_free_memory(device) / MIB):
        return (
            f"needs about {needed / 1024:.1f} GiB of memory, and {allowed / 1024:.1f} GiB are "
            "allowed"
        )
    if limit is None:
        return ""
    if expected > limit:  # warm, and without the profiler
        expected = latency.time_pass_ms(scout.call, device) * scout.factor / 1e3
    if expected > limit:
        return f"a call takes about {expected:.0f} s, and {limit:.0f} s are allowed"
    return ""


@contextmanager
def _apply_settings(case: Case) -> Iterator[None]:
    """Apply the settings of a case to torch inside the block."""
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = case.tf32
    try:
        if case.training:
            yield
        else:
            with torch.no_grad():
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
