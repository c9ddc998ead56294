"""Estimates against values worked out by hand, and what is read of the aggregates."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from made_up_runs import build_paper_run

from gblsr_repro.analysis import estimates
from gblsr_repro.analysis.claims.native import CRITERIA
from gblsr_repro.analysis.estimates import Estimate, NotMeasuredError
from gblsr_repro.analysis.measured import Measured
from gblsr_repro.analysis.reader import Aggregates, read_paper_aggregates
from gblsr_repro.config import load

TABLES = read_paper_aggregates(load())
PAPER = Measured(TABLES)


def estimate(*pairs: tuple[float, float]) -> Estimate:
    values, errors = (np.array(part) for part in zip(*pairs, strict=True))
    return Estimate(values, errors, np.full(len(values), 2.0))


def test_sums_and_products_carry_first_order_errors() -> None:
    a, b = estimate((10.0, 0.3)), estimate((4.0, 0.4))
    assert ((a + b).values[0], (a + b).errors[0]) == pytest.approx((14.0, 0.5))
    assert ((a - b).values[0], (a - b).errors[0]) == pytest.approx((6.0, 0.5))
    assert (a * b).errors[0] == pytest.approx(math.hypot(0.3 * 4, 0.4 * 10))
    assert (a / b).values[0] == 2.5
    assert (a / b).errors[0] == pytest.approx(2.5 * math.hypot(0.3 / 10, 0.4 / 4))
    assert ((1 - a).values[0], (1 - a).errors[0]) == (-9.0, 0.3)
    assert ((2 / b).values[0], (2 / b).errors[0]) == pytest.approx((0.5, 0.05))
    assert ((3 * a).values[0], (3 * a).errors[0]) == pytest.approx((30.0, 0.9))
    assert ((-a).values[0], abs(-a).values[0]) == (-10.0, 10.0)
    # Welch-Satterthwaite: (0.09 + 0.16)^2 / (0.09^2 / 2 + 0.16^2 / 2)
    assert (a - b).freedom[0] == pytest.approx(3.709, abs=1e-3)
    assert (3 * a).freedom[0] == pytest.approx(2.0)
    assert (1 - Estimate.exact([1.0])).freedom[0] == math.inf


def test_what_is_chosen_keeps_its_own_error() -> None:
    x = estimate((3.0, 0.1), (-1.0, 0.2), (2.0, 0.3))
    assert (estimates.minimum(x).values[0], estimates.minimum(x).errors[0]) == (-1.0, 0.2)
    assert (estimates.maximum(x).values[0], estimates.maximum(x).errors[0]) == (3.0, 0.1)
    assert estimates.span(x).values.tolist() == [-1.0, 3.0]
    assert estimates.count(estimate((1.0, 0.0), (0.0, 0.0), (2.0, 0.0))).values.tolist() == [2]


def test_means_of_estimates() -> None:
    x = estimate((1.0, 0.3), (4.0, 0.4))
    whole, middle = estimates.total(x), estimates.mean(x)
    # The elements of a mean come from the same runs, so that their errors add up.
    assert (whole.values[0], whole.errors[0], whole.freedom[0]) == pytest.approx((5.0, 0.7, 2.0))
    assert (middle.values[0], middle.errors[0]) == pytest.approx((2.5, 0.35))
    geometric = estimates.geometric_mean(x)  # of relative errors 0.3 and 0.1
    assert geometric.values[0] == pytest.approx(2.0)
    assert geometric.errors[0] == pytest.approx(2.0 * (0.3 + 0.1) / 2)


def test_a_division_by_zero_is_no_number() -> None:
    with pytest.raises(NotMeasuredError, match="divisor is 0"):
        estimate((1.0, 0.1)) / 0


def test_a_deviation_is_pooled_over_both_sides_and_a_single_run_takes_the_other_one() -> None:
    """LTE on Kodak: 0.160 over three seeds in the paper, here 0.320 over three, two, or none."""
    errors, freedom = {}, {}
    for n, std in ((3, 0.32), (2, 0.32), (1, math.nan)):
        row = {"dataset": "kodak", "arm": "lte", "metric": "psnr", "mean": 19.0}
        tables = {"native": [{**row, "std": std, "n": n}]}
        own = Aggregates(Path("nowhere"), load(), tables=tables)
        for side in (Measured(own, TABLES), Measured(TABLES, own)):
            found = side.native("kodak", "lte", "psnr")
            errors.setdefault(n, []).append(found.errors[0])
            freedom[n] = found.freedom[0]
    pooled = {3: math.sqrt((0.16**2 + 0.32**2) / 2), 2: math.sqrt((2 * 0.16**2 + 0.32**2) / 3),
              1: 0.16}  # fmt: skip
    assert freedom == {3: 4, 2: 3, 1: 2}
    for n, std in pooled.items():
        assert errors[n] == pytest.approx([std / math.sqrt(n), std / math.sqrt(3)])


def test_criteria_are_judged_by_the_paper_s_arms_and_bounds() -> None:
    run = build_paper_run().hold()
    native = run.config["native"]
    native["main_arm"], native["control_arm"] = "gblsr_full", "gblsr_full_linear"
    native["criteria"]["psnr_above_control"] = 50.0
    for name in ("gate_psnr", "gate_lpips", "gate_control", "gate_quality"):
        assert CRITERIA[name](Measured(run)).values.tolist() == [3]
