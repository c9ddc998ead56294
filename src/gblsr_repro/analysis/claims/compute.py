"""Measure what the paper claims of training time beside inference."""

from __future__ import annotations

from ...config import load_protocol, read_datasets
from ..estimates import Estimate, maximum, minimum
from ..measured import Measured, Measures
from ..subjects import ARMS, LTE_RDN, LTE_SWINIR, SETS, TIMED

HOUR = 3600


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


COMPUTE_MEASURES: Measures = {
    "inference_native": compare_native_inference,
    "inference_asr": compare_superres_inference,
}
