"""Compare super-resolution methods with a reference: quality, speed, memory (Tables 6, 7, 12)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any

from ..config import list_methods
from ..evaluation import OURS, PAPER
from .estimates import Estimate, NotMeasuredError, concatenate, geometric_mean, mean, minimum
from .measured import Measured, Names, measure
from .reader import BICUBIC, Aggregates
from .schemas import EVERY, format_scale

TRAINED, UNTRAINED = "trained", "untrained"
"""The scale factors seen in training, and the others."""


@dataclass(frozen=True)
class Timing:
    """Where times are taken from: data sets, scale factor and clock."""

    datasets: Names
    scale: str
    clock: str = PAPER


# --- of one method --------------------------------------------------------------------------------


def compute_psnr_gaps(
    run: Measured, datasets: Names, scales: Names, method: str, reference: str
) -> Estimate:
    """Compute by how much a method's PSNR-Y is above a reference's, cell by cell."""
    return run.asr(datasets, method, scales, "psnr_y") - run.asr(
        datasets, reference, scales, "psnr_y"
    )


def compute_speeds(run: Measured, timing: Timing, method: str, reference: str) -> Estimate:
    """Compute a method's speed in units of a reference's on every data set."""
    return _read(run, timing, reference, "mean_ms") / _read(run, timing, method, "mean_ms")


def compute_geometric_mean_speed(
    run: Measured, timing: Timing, method: str, reference: str
) -> Estimate:
    """Compute the geometric mean of a method's speeds over the data sets."""
    return geometric_mean(compute_speeds(run, timing, method, reference))


def compute_mean_speed(run: Measured, timing: Timing, method: str, reference: str) -> Estimate:
    """Compute the arithmetic mean of a method's speeds over the data sets."""
    return mean(compute_speeds(run, timing, method, reference))


def compute_memory_saved(run: Measured, timing: Timing, method: str, reference: str) -> Estimate:
    """Compute the peak memory that a method saves, in percent, mean over the data sets."""
    peak, other = (_read(run, timing, name, "peak_memory_mib") for name in (method, reference))
    return 100 * mean(1 - peak / other)


def _read(run: Measured, timing: Timing, method: str, metric: str) -> Estimate:
    return run.asr_time(timing.datasets, method, metric, timing.clock, timing.scale)


# --- of all methods -------------------------------------------------------------------------------


def derive_psnr_gaps(run: Aggregates) -> Iterator[tuple[Any, ...]]:
    """Yield rows of the aggregate `psnr_gaps`: PSNR-Y minus the base method's, and bicubic's.

    Columns: data set, method, reference, scale factor, and the gap in dB.
    """
    asr, measured = run.config["asr"], Measured(run)
    cells = [*product(asr["evaluate"], map(format_scale, asr["scales"]))]
    for reference in (asr["base_method"], BICUBIC):
        for method, (dataset, scale) in product(list_methods(run.config), cells):
            gap = measure(compute_psnr_gaps, measured, dataset, scale, method, reference)
            if not math.isnan(gap):
                yield dataset, method, reference, scale, gap


def derive_mean_psnr_gaps(run: Aggregates) -> Iterator[tuple[Any, ...]]:
    """Yield rows of the aggregate `mean_psnr_gaps`: every method's PSNR-Y minus the base method's.

    Columns: method, reference, the scale factors (trained, untrained or all), mean and lowest of
    the cells (data set and scale factor) that both have, and their number.
    """
    asr, measured, base = run.config["asr"], Measured(run), run.config["asr"]["base_method"]
    trained = {format_scale(scale) for scale in asr["trained_scales"]}
    scales = [format_scale(scale) for scale in asr["scales"]]
    groups = {
        TRAINED: [scale for scale in scales if scale in trained],
        UNTRAINED: [scale for scale in scales if scale not in trained],
        EVERY: scales,
    }
    for method, (name, group) in product(list_methods(run.config), groups.items()):
        gaps = []
        for dataset, scale in product(asr["evaluate"], group):
            with suppress(NotMeasuredError):
                gaps.append(compute_psnr_gaps(measured, dataset, scale, method, base))
        if gaps:
            cells = concatenate(*gaps)
            yield method, base, name, measure(mean, cells), measure(minimum, cells), len(cells)


def derive_speed(run: Aggregates) -> Iterator[tuple[Any, ...]]:
    """Yield rows of the aggregate `speed`: every method beside each baseline and the base method.

    Columns: method, reference, clock, geometric and arithmetic mean of its speeds in units of the
    reference's over the timed sets, and the share of the peak memory that it saves in percent; NaN
    where a set is missing.
    """
    asr, measured, methods = run.config["asr"], Measured(run), list_methods(run.config)
    references = [
        name
        for name, method in methods.items()
        if method.group == "baseline" or name == asr["base_method"]
    ]
    for clock in (PAPER, OURS):
        timing = Timing(asr["timing"]["datasets"], format_scale(asr["timing"]["scale"]), clock)
        for reference, method in product(references, methods):
            pair = measured, timing, method, reference
            numbers = (
                measure(compute_geometric_mean_speed, *pair),
                measure(compute_mean_speed, *pair),
                measure(compute_memory_saved, *pair),
            )
            if not all(map(math.isnan, numbers)):
                yield method, reference, clock, *numbers
