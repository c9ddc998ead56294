"""Measure what the paper claims of the code alone: parameters, constants, multiply-adds."""

from __future__ import annotations

from collections.abc import Sequence

from ...config import load_protocol
from ..estimates import Estimate, maximum, span
from ..measured import Measured, Measures, MeasuresByRow
from ..subjects import (
    ARMS,
    BASELINES,
    FIXED,
    LIIF,
    SCALAR,
)

MODEL = load_protocol()["native"]["model"]
MEGA = 1_000_000


def count_millions(run: Measured, name: str) -> Estimate:
    """Return the trainable parameters of a method, in millions."""
    return run.structure(name) / MEGA


def compute_ratios(run: Measured, arms: Sequence[str] = ARMS) -> Estimate:
    """Return the parameters of arms over the anchor's."""
    return run.structure(arms) / run.structure(SCALAR)


def compute_encoder_size(run: Measured) -> Estimate:
    """Return the anchor's parameters, less projection, head and scalar, in millions."""
    inputs = MODEL["features"] + 1  # with the bias
    projection, head = 3 * MODEL["modes"] ** 2 * inputs, 2 * inputs
    return (run.structure(SCALAR) - projection - head - 1) / MEGA


def compute_unfolded_ratio(run: Measured) -> Estimate:
    """Return the parameters that LIIF would have with unfolded features, over the anchor's."""
    unfolded = 8 * MODEL["features"] * MODEL["hidden"]
    return (run.structure(LIIF) + unfolded) / run.structure(SCALAR)


def compare_multiply_adds(run: Measured) -> Estimate:
    """Return the highest ratio of the main arm's multiply-adds to a baseline's."""
    rivals = run.structure([f"multiply_adds_{arm}" for arm in BASELINES])
    return maximum(run.structure(f"multiply_adds_{SCALAR}") / rivals)


STRUCTURE_MEASURES: Measures = {
    "params_one_scalar": lambda run: run.structure(SCALAR) - run.structure(FIXED),
    "cutoff_weight": lambda run: run.structure("highest_mode_weight"),
    "coordinate_convention": lambda run: 100 * (run.structure("coordinate_stretch") - 1),
    "ratio_span": lambda run: span(compute_ratios(run)),
    "budget_band": lambda run: maximum(compute_ratios(run)),
    "encoder_size": compute_encoder_size,
    "model_size": lambda run: span(run.structure(ARMS)) / MEGA,
    "unfolding_breaks_budget": compute_unfolded_ratio,
    "cost_independent_of_size": lambda run: run.structure("multiply_adds_at_twice_the_side"),
    "cost_quadratic_in_modes": lambda run: run.structure("multiply_adds_at_twice_the_modes"),
    "cost_below_mlp": compare_multiply_adds,
}

STRUCTURE_CELLS: MeasuresByRow = {
    "fairness {} parameters": lambda arm, run: run.structure(arm),
    "fairness {} ratio": lambda arm, run: compute_ratios(run, [arm]),
    "asr_latency_main {} parameters": lambda method, run: count_millions(run, method),
    "asr_pareto_main {} parameters": lambda method, run: count_millions(run, method),
    "asr_pareto_appendix {} parameters": lambda method, run: count_millions(run, method),
}
"""Tables 6, 7, 8 and 12."""
