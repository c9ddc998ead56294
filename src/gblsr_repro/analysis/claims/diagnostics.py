"""Measure what the paper claims of the locality diagnostic and the log-space ablation."""

from __future__ import annotations

from ...config import load_protocol
from ..estimates import Estimate, concatenate, span
from ..measured import Measured, Measures, MeasuresByRow
from ..subjects import FULL

BANDWIDTH = "gblsr_bandwidth"
FULL_LINEAR, BANDWIDTH_LINEAR = LINEAR = ("gblsr_full_linear", "gblsr_bandwidth_linear")
LOG = (BANDWIDTH, FULL)
THRESHOLDS = load_protocol()["diagnostics"]["thresholds"]


def measure_misses(run: Measured) -> Estimate:
    """Return by which factor GB-LSR-Full-Linear misses each of T1, T2 and T3."""
    return concatenate(
        THRESHOLDS["t1_cov_median"] / run.locality(FULL_LINEAR, "t1"),
        run.locality(FULL_LINEAR, "t2") / THRESHOLDS["t2_fraction_collapsed"],
        THRESHOLDS["t3_region_gap"] / run.locality(FULL_LINEAR, "t3"),
    )


def measure_gains(run: Measured) -> Estimate:
    """Return the PSNR gains of the log-space arms on texture and on mixed patches."""
    gains = [run.ablation(LOG, f"delta_psnr_{region}") for region in ("texture", "mixed")]
    return concatenate(*gains)


DIAGNOSTIC_MEASURES: Measures = {
    "cov_median": lambda run: run.locality(FULL_LINEAR, "t1"),
    "cov_median_bandwidth": lambda run: run.locality(BANDWIDTH_LINEAR, "t1"),
    "cov_peak": lambda run: run.locality(FULL_LINEAR, "t1_peak"),
    "cov_no_mass": lambda run: run.locality(LINEAR, "t1_p99"),
    "bandwidth_mean": lambda run: run.locality(FULL_LINEAR, "global_mean"),
    "bandwidth_std": lambda run: run.locality(FULL_LINEAR, "global_std"),
    "collapsed": lambda run: run.locality(FULL_LINEAR, "t2"),
    "region_gap": lambda run: run.locality(FULL_LINEAR, "t3"),
    "variance_within": lambda run: run.locality(FULL_LINEAR, "var_within"),
    "within_share": lambda run: run.locality(LINEAR, "t4"),
    "within_dominates": lambda run: run.locality(LINEAR, "t4"),
    "tests_met_linear": lambda run: run.locality(LINEAR, "tests_met"),
    "missed_by": lambda run: span(measure_misses(run)),
    "steps_in_noise": lambda run: run.ablation(LOG, "delta_psnr"),
    "steps_worse_in_lpips": lambda run: run.ablation(LOG, "delta_lpips"),
    "cov_log": lambda run: run.locality(LOG, "t1"),
    "variance_within_log": lambda run: run.locality(LOG, "var_within"),
    "within_share_log": lambda run: run.locality(LOG, "t4"),
    "regions_not_better": measure_gains,
}

DIAGNOSTIC_CELLS: MeasuresByRow = {
    "locality {} tests_met": lambda arm, run: run.locality(arm, "tests_met"),
    "locality {} psnr": lambda arm, run: run.ablation(arm, "psnr"),
    "locality {} delta_psnr": lambda arm, run: run.ablation(arm, "delta_psnr"),
    "locality {} delta_lpips": lambda arm, run: run.ablation(arm, "delta_lpips"),
    "locality {} criterion_a": lambda arm, run: run.locality(arm, "criterion_a"),
    "locality {} criterion_b": lambda arm, run: run.ablation(arm, "criterion_b"),
}
"""Table 9, by arm."""
