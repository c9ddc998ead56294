"""Measure what the paper claims of training time (Tables 16, 17), alone and beside inference."""

from __future__ import annotations

from collections.abc import Sequence

from ...config import load_protocol, read_datasets, read_published_times
from ..estimates import Estimate, concatenate, count, maximum, minimum, total
from ..measured import Measured, Measures, OneOrMore
from ..subjects import ARMS, LTE_RDN, LTE_SWINIR, SETS, TIMED
from ..training_time import compute_time

HOUR = 3600
# The paper trained Fixed and Full again for the ablation; here both tables use the same runs.
TRAINED_AGAIN = {"gblsr_bandwidth": ("gblsr_fixed", "gblsr_bandwidth", "gblsr_full")}


def read_groups(benchmark: str) -> list[tuple[str, ...]]:
    """Read the arms or methods whose runs stand for each row of the paper's table."""
    rows = [row.subjects for row in read_published_times(benchmark)]
    return [TRAINED_AGAIN.get(subjects[0], subjects) for subjects in rows]


BASELINES, MAIN, LINEAR, LOG = NATIVE = read_groups("native")
RDN, SWINIR, VARIANTS = SUPERRES = read_groups("asr")


def count_runs(run: Measured, groups: Sequence[OneOrMore]) -> Estimate:
    """Count the training runs of groups of arms or methods."""
    return concatenate(*(count(run.seconds(subjects)) for subjects in groups))


def find_longest(run: Measured, subjects: OneOrMore, unit: int = 1) -> Estimate:
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
    "runs_native": lambda run: count_runs(run, NATIVE),
    "runs_asr": lambda run: count_runs(run, SUPERRES),
    "inference_native": compare_native_inference,
    "inference_asr": compare_superres_inference,
    "time_baselines": lambda run: find_longest(run, BASELINES),
    "time_baselines_total": lambda run: compute_time(run, BASELINES, total),
    "time_main": lambda run: find_longest(run, MAIN),
    "time_main_total": lambda run: compute_time(run, MAIN, total),
    "time_linear": lambda run: find_longest(run, LINEAR),
    "time_linear_total": lambda run: compute_time(run, LINEAR, total),
    "time_log": lambda run: find_longest(run, LOG),
    "time_log_total": lambda run: compute_time(run, LOG, total),
    "hours_rdn": lambda run: find_longest(run, RDN, HOUR),
    "hours_rdn_total": lambda run: compute_time(run, RDN, total, HOUR),
    "hours_swinir": lambda run: find_longest(run, SWINIR, HOUR),
    "hours_swinir_total": lambda run: compute_time(run, SWINIR, total, HOUR),
    "hours_variants": lambda run: find_longest(run, VARIANTS, HOUR),
    "hours_variants_total": lambda run: compute_time(run, VARIANTS, total, HOUR),
}
