"""Measure what the paper claims of the native benchmark: quality, criteria, inference time."""

from __future__ import annotations

import numpy as np

from ...config import load_protocol
from ..criteria import QUALITY_PARTS, list_bounds
from ..derived import gap, gap_to_best, lead, share_of_slowest, share_of_training
from ..estimates import (
    Estimate,
    concatenate,
    count,
    deviations,
    highest_mean,
    lowest_mean,
    maximum,
    mean,
    span,
)
from ..measured import Measured, Measures, MeasuresByRow, OneOrMore
from ..metrics import LPIPS, LSE, METRICS, PSNR, Metric
from ..subjects import (
    ARMS,
    BASELINES,
    CONTROL,
    FAMILY,
    FIXED,
    FULL,
    IMAGES,
    LIIF,
    LTE,
    SCALAR,
    SETS,
    WIRE,
    besides,
)

MS = "inference_ms"
EDGE_LPIPS = METRICS["edge_lpips"]
OUTSIDE = besides(*FAMILY)


# --- the main arm against the baselines -----------------------------------------------------------


def gap_to_baselines(run: Measured, metric: Metric, sets: OneOrMore = SETS) -> Estimate:
    """Return by how much the main arm's metric is above the best baseline's."""
    return gap_to_best(run, SCALAR, BASELINES, metric, sets)


QUALITY_MEASURES: Measures = {
    "psnr_gain": lambda run: span(gap_to_baselines(run, PSNR)),
    "lpips_gain": lambda run: span(-gap_to_baselines(run, LPIPS)),
    "psnr_beats_all": lambda run: gap_to_baselines(run, PSNR),
    "lpips_beats_all": lambda run: gap_to_baselines(run, LPIPS),
    "best_psnr_is_full": lambda run: lead(run, FULL, besides(FULL), PSNR),
}


# --- the criteria ---------------------------------------------------------------------------------

BOUNDS = list_bounds(load_protocol()["native"], BASELINES)
PSNR_PART, LPIPS_PART, CONTROL_PART = QUALITY_PARTS


def find_met(run: Measured, *criteria: str) -> Estimate:
    """Return on which data sets criteria are all met (1, else 0), by the paper's arms and limits.

    A criterion is exact: noise does not excuse it.
    """
    measured = {name: BOUNDS[name].measure(run, SETS) for name in criteria}
    met = np.all([BOUNDS[name].is_met(each.values) for name, each in measured.items()], axis=0)
    return Estimate.exact(met, concatenate(*measured.values()).sources)


CRITERIA: Measures = {
    "gate_psnr": lambda run: count(find_met(run, PSNR_PART)),
    "gate_lpips": lambda run: count(find_met(run, LPIPS_PART)),
    "gate_control": lambda run: count(find_met(run, CONTROL_PART)),
    "gate_quality": lambda run: count(find_met(run, *QUALITY_PARTS)),
    "gate_cost": lambda run: maximum(share_of_slowest(run, SCALAR, BASELINES)),
}


# --- the GB-LSR family, the baselines, and the local spectrum error -------------------------------


def measure_smoothest(run: Measured) -> Estimate:
    """Return by how much less of texture patches the fixed arm shows than its family."""
    family = lowest_mean(run.native(SETS, (SCALAR, FULL), "psnr_texture"))
    return family - run.native(SETS, FIXED, "psnr_texture")


def compare_seams(run: Measured) -> Estimate:
    """Return by how much the fixed arm's steps across patch borders exceed its family's."""
    family = highest_mean(run.native(SETS, (SCALAR, FULL), "border_step"))
    return run.native(SETS, FIXED, "border_step") - family


def measure_edges(run: Measured) -> Estimate:
    """Return by how much the scalar arm's PSNR on edge patches is above that of smoother arms."""
    sets = ("set14", "urban100")
    smoother = (FIXED, *OUTSIDE)
    return concatenate(*(gap(run, SCALAR, arm, "psnr_edge", sets) for arm in smoother))


ARMS_COMPARED: Measures = {
    "full_tie_df": lambda run: deviations(run.native(SETS, (FULL, SCALAR), "psnr")),
    "full_tie": lambda run: gap(run, FULL, SCALAR, "psnr"),
    "full_psnr_gain": lambda run: gap(run, FULL, SCALAR, "psnr"),
    "full_psnr_gain_bound": lambda run: gap(run, FULL, SCALAR, "psnr"),
    "full_lpips_loss": lambda run: gap(run, FULL, SCALAR, "lpips"),
    "full_lpips_worse": lambda run: gap(run, FULL, SCALAR, "lpips"),
    "fixed_best_lpips": lambda run: lead(run, FIXED, besides(FIXED), LPIPS),
    "fixed_tie_set14": lambda run: gap(run, FIXED, SCALAR, "lpips", "set14"),
    "fixed_psnr_loss": lambda run: gap(run, SCALAR, FIXED, "psnr"),
    "scalar_best_edge_lpips": lambda run: lead(run, SCALAR, besides(SCALAR), EDGE_LPIPS),
    "basis_gain": lambda run: span(gap(run, FIXED, CONTROL, "psnr")),
    "best_psnr_in_family": lambda run: lead(run, FAMILY, OUTSIDE, PSNR),
    "best_lpips_in_family": lambda run: lead(run, FAMILY, OUTSIDE, LPIPS),
    "fixed_smoothest": measure_smoothest,
    "fixed_seams": compare_seams,
    "fixed_seams_exist": lambda run: run.native(SETS, FIXED, "border_step"),
    "scalar_edges": measure_edges,
    "full_less_crisp": lambda run: gap(run, FULL, SCALAR, "edge_lpips"),
    "rank_psnr_lte_liif": lambda run: lead(run, LTE, LIIF, PSNR),
    "rank_psnr_liif_wire": lambda run: lead(run, LIIF, WIRE, PSNR),
    "rank_lpips_liif_lte": lambda run: lead(run, LIIF, LTE, LPIPS),
    "rank_lpips_lte_wire": lambda run: lead(run, LTE, WIRE, LPIPS),
    "lse_scalar_lowest": lambda run: lead(run, SCALAR, (FIXED, FULL), LSE),
    "lse_full_worse": lambda run: gap(run, FULL, SCALAR, "lse"),
}


# --- inference time -------------------------------------------------------------------------------


COST: Measures = {
    "inference_native": lambda run: share_of_training(
        run, ARMS, [IMAGES[column] * run.native(column, ARMS, MS) for column in SETS]
    ),
    "cost_ratio": lambda run: share_of_slowest(run, SCALAR, BASELINES),
    "cost_quarter": lambda run: mean(share_of_slowest(run, SCALAR, BASELINES)),
    "slowest_is_liif": lambda run: (
        run.native(SETS, LIIF, MS) - highest_mean(run.native(SETS, (LTE, WIRE), MS))
    ),
    "cost_vs_lte": lambda run: share_of_slowest(run, SCALAR, LTE),
    "cost_vs_wire": lambda run: share_of_slowest(run, SCALAR, WIRE),
    "family_ms": lambda run: (
        1 / concatenate(*(share_of_slowest(run, SCALAR, arm) for arm in (FIXED, FULL)))
    ),
}

NATIVE_MEASURES = QUALITY_MEASURES | CRITERIA | ARMS_COMPARED | COST

NATIVE_CELLS: MeasuresByRow = {
    "winners {} best_psnr": lambda name, run: highest_mean(run.native(name, ARMS, "psnr")),
    "winners {} best_baseline_psnr": lambda name, run: highest_mean(
        run.native(name, BASELINES, "psnr")
    ),
    "winners {} gap_psnr": lambda name, run: gap_to_baselines(run, PSNR, name),
    "winners {} best_lpips": lambda name, run: lowest_mean(run.native(name, ARMS, "lpips")),
    "winners {} best_baseline_lpips": lambda name, run: lowest_mean(
        run.native(name, BASELINES, "lpips")
    ),
    "winners {} gap_lpips": lambda name, run: gap_to_baselines(run, LPIPS, name),
}
"""Table 4, by data set."""
