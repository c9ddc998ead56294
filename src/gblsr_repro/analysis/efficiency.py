"""Compare super-resolution methods with a reference: quality, speed, memory (Tables 6, 7, 12)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from ..config import list_methods
from ..evaluation import OURS, PAPER
from .reader import BICUBIC, Aggregates
from .schemas import EVERY, SCHEMAS, format_scale

TRAINED, UNTRAINED = "trained", "untrained"
"""The scale factors seen in training, and the others."""


def derive_psnr_gaps(run: Aggregates) -> Iterator[tuple[Any, ...]]:
    """Yield rows of the aggregate `psnr_gaps`: PSNR-Y minus the base method's, and bicubic's.

    Columns: data set, method, reference, scale factor, the gap in dB, and the place of the method
    among all by this gap, from 1 for the highest.
    """
    asr, rows = run.config["asr"], []
    cells = [*product(asr["evaluate"], map(format_scale, asr["scales"]))]
    for reference in (asr["base_method"], BICUBIC):
        for method, (dataset, scale) in product(list_methods(run.config), cells):
            own, other = (
                run.mean("asr_quality", dataset, name, scale, "psnr_y")
                for name in (method, reference)
            )
            if not math.isnan(own - other):
                rows.append((dataset, method, reference, scale, own - other, 0))
    frame = pd.DataFrame(rows, columns=SCHEMAS["psnr_gaps"].columns)
    of_cell = frame.groupby(["dataset", "reference", "scale"])["gap"]
    frame["place"] = of_cell.rank(ascending=False, method="first").astype(int)
    yield from frame.itertuples(index=False, name=None)


def derive_mean_psnr_gaps(run: Aggregates) -> Iterator[tuple[Any, ...]]:
    """Yield rows of the aggregate `mean_psnr_gaps`: every method's PSNR-Y minus the base method's.

    Columns: method, reference, the scale factors (trained, untrained or all), mean and lowest of
    the cells (data set and scale factor) that both have, and their number.
    """
    asr, base = run.config["asr"], run.config["asr"]["base_method"]
    trained = {format_scale(scale) for scale in asr["trained_scales"]}
    scales = {format_scale(scale) for scale in asr["scales"]}
    groups = {TRAINED: scales & trained, UNTRAINED: scales - trained, EVERY: scales}
    frame = pd.DataFrame(derive_psnr_gaps(run), columns=SCHEMAS["psnr_gaps"].columns)
    to_base = frame[frame["reference"] == base]
    for method, (name, group) in product(list_methods(run.config), groups.items()):
        is_selected = (to_base["method"] == method) & to_base["scale"].isin(group)
        gaps = to_base[is_selected]["gap"]
        if len(gaps):
            yield method, base, name, float(gaps.mean()), float(gaps.min()), len(gaps)


def derive_speed(run: Aggregates) -> Iterator[tuple[Any, ...]]:
    """Yield rows of the aggregate `speed`: every method beside each baseline and the base method.

    Columns: method, reference, clock, geometric and arithmetic mean of its speeds in units of the
    reference's over the timed sets, and the share of the peak memory that it saves in percent, as
    the mean over these sets; NaN where a set is missing.
    """
    asr, methods = run.config["asr"], list_methods(run.config)
    references = [
        name
        for name, method in methods.items()
        if method.group == "baseline" or name == asr["base_method"]
    ]
    for clock, reference, method in product((PAPER, OURS), references, methods):
        times, base_times = (_read(run, name, clock, "mean_ms") for name in (method, reference))
        peak, base_peak = (
            _read(run, name, clock, "peak_memory_mib") for name in (method, reference)
        )
        speeds = base_times / times
        numbers = [
            float(np.exp(np.log(speeds).mean())),
            float(speeds.mean()),
            float(100 * (1 - peak / base_peak).mean()),
        ]
        if not all(map(math.isnan, numbers)):
            yield method, reference, clock, *numbers


def _read(run: Aggregates, method: str, clock: str, metric: str) -> np.ndarray:
    """Read a number of a method at the timed scale factor, one for each timed set."""
    timing = run.config["asr"]["timing"]
    scale = format_scale(timing["scale"])
    keys = ((dataset, method, scale, clock, metric) for dataset in timing["datasets"])
    return np.array([run.mean("asr_latency", *key) for key in keys])
