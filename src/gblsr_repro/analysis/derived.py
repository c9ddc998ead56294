"""Derive numbers from the aggregates: gaps, ratios, means over data sets, the best arms.

Claims, criteria, tables, figures and pages take each such number from its function here. Those that
return an `Estimate` raise `NotMeasuredError` where a number that they need is absent; `read_value`
gives NaN instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from ..config import Config
from ..evaluation import PAPER
from .estimates import (
    Estimate,
    NotMeasuredError,
    concatenate,
    highest_mean,
    lowest_mean,
    maximum,
    mean,
    minimum,
)
from .measured import Measured, OneOrMore
from .metrics import Metric
from .reader import Aggregates, get_key, get_subject
from .schemas import format_scale
from .statistics import compute_pooled_p, find_ties
from .subjects import SETS, TIMED, TIMED_SCALE

PEAK = "peak_memory_mib"
GridCell = tuple[str, str]
"""A data set and a scale factor of super-resolution."""


def read_value(source: Aggregates, compute: Callable[..., Estimate], *arguments: object) -> float:
    """Compute an estimate of one number from aggregates; NaN where a number it needs is absent."""
    try:
        return float(compute(Measured(source), *arguments).values.item())
    except NotMeasuredError:
        return math.nan


def share_of_training(
    run: Measured, subjects: OneOrMore, milliseconds: Sequence[Estimate]
) -> Estimate:
    """Return the time to render all images once over that of the shortest training run.

    `milliseconds` are the times of each data set by the arms or methods, of which the slowest
    counts.
    """
    first, *rest = milliseconds
    return maximum(sum(rest, first)) / 1000 / minimum(run.seconds(subjects))


# --- native benchmark -----------------------------------------------------------------------------


def gap(run: Measured, arm: str, other: str, metric: str, sets: OneOrMore = SETS) -> Estimate:
    """Return by how much an arm's metric is above another's on every data set."""
    return run.native(sets, arm, metric) - run.native(sets, other, metric)


def lead(run: Measured, ahead: OneOrMore, behind: OneOrMore, metric: Metric) -> Estimate:
    """Return by how much the best of some arms is better than the best of others, by data set."""
    first, second = (run.native(SETS, arms, metric.name) for arms in (ahead, behind))
    if metric.lower:
        return lowest_mean(second) - lowest_mean(first)
    return highest_mean(first) - highest_mean(second)


def gap_to_best(
    run: Measured, arm: str, others: OneOrMore, metric: Metric, sets: OneOrMore = SETS
) -> Estimate:
    """Return by how much an arm's metric is above that of the best of other arms, by data set."""
    own, rivals = (run.native(sets, arms, metric.name) for arms in (arm, _require_some(others)))
    return own - (lowest_mean(rivals) if metric.lower else highest_mean(rivals))


def share_of_slowest(
    run: Measured, arm: str, others: OneOrMore, sets: OneOrMore = SETS
) -> Estimate:
    """Return an arm's inference time over that of the slowest of other arms, by data set."""
    own, rivals = (run.native(sets, arms, "inference_ms") for arms in (arm, _require_some(others)))
    return own / highest_mean(rivals)


def mean_over_sets(run: Measured, arm: str, metric: str, sets: OneOrMore = SETS) -> Estimate:
    """Return the mean of an arm's metric over data sets."""
    return mean(run.native(sets, arm, metric))


def find_best_arms(
    source: Aggregates, dataset: str, metric: Metric, arms: Iterable[str]
) -> list[str]:
    """Find the best of some arms on a data set and those that tie with it, best first.

    Ties are those of the bold numbers in the main tables (see `statistics.find_ties`).
    """
    names = [*arms]
    cells = [source.cell("native", dataset, arm, metric.name) for arm in names]
    return [names[i] for i in find_ties(cells, metric, source.config["native"]["significance"])]


def is_better(source: Aggregates, dataset: str, metric: Metric, arm: str, other: str) -> bool:
    """Return whether an arm is better than another beyond the test of the main tables."""
    own, rival = (source.cell("native", dataset, name, metric.name) for name in (arm, other))
    above = own.mean < rival.mean if metric.lower else own.mean > rival.mean
    return above and compute_pooled_p(own, rival) < source.config["native"]["significance"]


def _require_some(names: OneOrMore) -> OneOrMore:
    if not names:
        raise NotMeasuredError("there is no other arm")
    return names


# --- super-resolution -----------------------------------------------------------------------------


class TimedSets(NamedTuple):
    """What is timed: the data sets, the scale factor, and the clock."""

    sets: Sequence[str]
    scale: str
    clock: str

    @classmethod
    def read(cls, config: Config, clock: str) -> TimedSets:
        """Read data sets and scale factor from config asr.timing."""
        timing = config["asr"]["timing"]
        return cls(timing["datasets"], format_scale(timing["scale"]), clock)


PAPER_TIMING = TimedSets(TIMED, TIMED_SCALE, PAPER)


def speeds(
    run: Measured, method: str, reference: str, timing: TimedSets = PAPER_TIMING
) -> Estimate:
    """Return a method's speed in units of another's, on each of the timed sets."""
    own, other = (_read_timed(run, name, "mean_ms", timing) for name in (method, reference))
    return other / own


def memory_saved(
    run: Measured, method: str, reference: str, timing: TimedSets = PAPER_TIMING
) -> Estimate:
    """Return the peak memory that a method saves over another in percent, as mean of the sets."""
    own, other = (_read_timed(run, name, PEAK, timing) for name in (method, reference))
    return 100 * mean(1 - own / other)


def _read_timed(run: Measured, method: str, metric: str, timing: TimedSets) -> Estimate:
    return run.asr_time(timing.sets, method, metric, timing.clock, timing.scale)


def psnr_gaps(run: Measured, method: str, reference: str, cells: Iterable[GridCell]) -> Estimate:
    """Return by how much a method's PSNR-Y is above another's in dB, cell by cell."""
    cells = [*cells]
    if not cells:
        raise NotMeasuredError(f"{method} and {reference} have no cell in common")
    own, other = (
        concatenate(*(run.asr(dataset, name, scale, "psnr_y") for dataset, scale in cells))
        for name in (method, reference)
    )
    return own - other


# --- beside the paper -----------------------------------------------------------------------------


def pair_with_published(
    source: Aggregates, paper: Aggregates, aggregate: str, metric: str
) -> pd.DataFrame:
    """Pair the means of a metric that the paper publishes with those measured.

    Columns `published` and `measured` (NaN: absent), by arm or method.
    """
    found = [row for row in paper.table(aggregate) if row["metric"] == metric]
    pairs = [(row["mean"], source.mean(aggregate, *get_key(row))) for row in found]
    return pd.DataFrame(pairs, map(get_subject, found), ["published", "measured"])


def median_distance(pairs: pd.DataFrame) -> float:
    """Return the median distance of measured means from the published ones, NaN without any."""
    return float((pairs["measured"] - pairs["published"]).abs().median())
