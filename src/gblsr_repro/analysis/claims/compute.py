"""Measure what the paper claims of training time (Tables 16, 17), alone and beside inference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...config import load_protocol, read_datasets, read_published_times
from ..estimates import Estimate, concatenate, count, maximum, minimum, total
from ..measured import Measured, Measures, Names
from ..subjects import ARMS, LTE_RDN, LTE_SWINIR, SETS, TIMED
from ..training_time import compute_time

HOUR = 3600
# The paper trained Fixed and Full again for the ablation; here both tables use the same runs.
TRAINED_AGAIN = {"gblsr_bandwidth": ("gblsr_fixed", "gblsr_bandwidth", "gblsr_full")}


def read_groups(benchmark: str) -> list[tuple[str, ...]]:
    """Read the arms or methods whose runs stand for each row of the paper's table."""
    rows = [row.subjects for row in read_published_times(benchmark)]
    return [TRAINED_AGAIN.get(subjects[0], subjects) for subjects in rows]


NATIVE, SUPERRES = map(read_groups, ("native", "asr"))


def count_runs(run: Measured, groups: Sequence[Names]) -> Estimate:
    """Count the training runs of groups of arms or methods."""
    return concatenate(*(count(run.seconds(subjects)) for subjects in groups))


def find_longest(run: Measured, subjects: Names, unit: int) -> Estimate:
    """Return the longest training run of each arm or method, in a unit of seconds."""
    return concatenate(*(compute_time(run, subject, maximum, unit) for subject in subjects))


def count_images(column: str, benchmark: str) -> int:
    """Return how many images the paper's evaluation set has."""
    protocol = load_protocol()
    section = protocol["native"]["data"] if benchmark == "native" else protocol["asr"]
    return read_datasets()[section["evaluate"][column]].images


def compare_native_inference(run: Measured) -> Estimate:
    """Return the time to render all native images once over that of the shortest training."""
    first, *rest = (
        count_images(column, "native") * run.native(column, ARMS, "inference_ms") for column in SETS
    )
    return maximum(sum(rest, first)) / 1000 / minimum(run.seconds(ARMS))


def compare_superres_inference(run: Measured) -> Estimate:
    """Return the time to render all timed images once over that of the shortest training."""
    slowest = (LTE_SWINIR, LTE_RDN)
    first, *rest = (count_images(column, "asr") * run.asr_time(column, slowest) for column in TIMED)
    return maximum(sum(rest, first)) / (1000 * HOUR) / minimum(run.seconds(slowest) / HOUR)


MEASURES: Measures = {
    "runs_native": partial(count_runs, groups=NATIVE),
    "runs_asr": partial(count_runs, groups=SUPERRES),
    "inference_native": compare_native_inference,
    "inference_asr": compare_superres_inference,
}
for names, groups, unit in (
    (("time_baselines", "time_main", "time_linear", "time_log"), NATIVE, 1),
    (("hours_rdn", "hours_swinir", "hours_variants"), SUPERRES, HOUR),
):
    for name, subjects in zip(names, groups, strict=True):
        MEASURES[name] = partial(find_longest, subjects=subjects, unit=unit)
        MEASURES[f"{name}_total"] = partial(
            compute_time, subjects=subjects, summarize=total, unit=unit
        )
