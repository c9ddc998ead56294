"""The rules: when a number agrees, is within noise, or fails; and how the paper's are read."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gblsr_repro.analysis.claims.estimates import Estimate, Source
from gblsr_repro.analysis.claims.published import Published, Tabled, look_up_printed
from gblsr_repro.analysis.claims.rules import (
    Agreement,
    Bound,
    Criterion,
    Equals,
    Ordering,
    Rule,
    Spread,
    Structure,
)
from gblsr_repro.analysis.statistics import Summary
from gblsr_repro.errors import UserError

HOLDS, NEAR, REVERSED, FAILS = Agreement
ERROR = 0.1  # of every estimate below
BOTH = 2 * math.hypot(ERROR, ERROR)  # two standard errors of a difference


def estimate(*values: float, error: float = ERROR) -> Estimate:
    return Estimate(np.array(values), np.full(len(values), error))


def judged(rule: Rule, published: str, *values: float, error: float = ERROR) -> Agreement:
    """Judge measured values; the paper's tables have the same errors and no other values."""
    said = Published.parse(published, None)
    here = estimate(*values, error=error)
    return rule.judge(said, here, estimate(*values), 2.0).agreement


@pytest.mark.parametrize(
    ("rule", "published", "value", "agreement"),
    [
        # Half of the last printed digit agrees; then come two standard errors of both sides.
        (Equals(), "2.0", 2.049, HOLDS),
        (Equals(), "2.0", 2.051, NEAR),
        (Equals(), "2.0", 2.05 + BOTH - 0.001, NEAR),
        (Equals(), "2.0", 2.05 + BOTH + 0.001, FAILS),
        (Equals(), "2.0", 1.95 - BOTH - 0.001, FAILS),
        (Equals(0.1), "20", 22.4, NEAR),
        (Equals(0.1), "20", 22.6, FAILS),
        # A bound has the noise of the measured number alone; a strict one is not met by equality.
        (Bound(), "<= 1.0", 1.0, HOLDS),
        (Bound(), "< 1.0", 1.0, NEAR),
        (Bound(), "<= 1.0", 1.19, NEAR),
        (Bound(), "<= 1.0", 1.21, FAILS),
        (Bound(), ">= 1.0", 0.81, NEAR),
        (Bound(), ">= 1.0", 0.79, FAILS),
        (Bound(), "<= 0.05", 0.09, NEAR),
        (Bound(), "<= 0.05", 0.11, FAILS),  # twice the bound, whatever the noise
        (Bound(), "<= 0", 0.19, NEAR),
        (Bound(0.2), "<= 10", 11.9, NEAR),
        (Bound(0.2), "<= 10", 12.1, FAILS),
        (Ordering(), "> 0", 0.001, HOLDS),
        (Ordering(), "> 0", 0.0, REVERSED),
        (Ordering(), "> 0", -0.19, REVERSED),
        (Ordering(), "> 0", -0.21, FAILS),
        (Ordering(), "< 0", 0.001, REVERSED),
        (Criterion(), "<= 0.75", 0.75, HOLDS),
        (Criterion(), "<= 0.75", 0.7501, FAILS),
        (Criterion(), "3", 2.0, FAILS),
        (Structure(), "0.98", 0.9849, HOLDS),
        (Structure(), "0.98", 0.9851, FAILS),
        (Spread(1.0), "<= 0.14", 0.14, HOLDS),
        (Spread(1.0), "<= 0.14", 0.27, NEAR),
        (Spread(1.0), "<= 0.14", 0.29, FAILS),
    ],
)
def test_where_each_rule_changes_its_mind(
    rule: Rule, published: str, value: float, agreement: Agreement
) -> None:
    assert judged(rule, published, value) is agreement


def test_a_side_without_spread_is_as_noisy_as_the_other() -> None:
    said, unknown = Published.parse("2.0", None), estimate(2.2, error=math.nan)
    for here, paper in ((unknown, estimate(2.0)), (estimate(2.2), unknown), (estimate(2.2), None)):
        assert Equals().compute_allowance(said, here, paper, 2.0) == pytest.approx([BOTH])
    assert Equals().judge(said, unknown, unknown, 2.0).agreement is FAILS


def test_many_numbers_together_fail_by_chance_as_seldom_as_one() -> None:
    """Sidak: seven cells share 4.55 %, 0.66 % each, which is 2.72 standard errors."""
    said = Published.parse(" / ".join(["2.0"] * 7), None)
    here = estimate(*[2.0] * 7)
    allowed = Equals().compute_allowance(said, here, here, 2.0)
    assert allowed == pytest.approx(2.7166 * math.sqrt(2) * ERROR, rel=1e-3)


def test_the_worst_margin_decides_an_ordering_and_the_nearest_is_shown() -> None:
    said = Published.parse("> 0", None)
    here = Estimate(np.array([1.0, -0.3, -0.2]), np.array([0.1, 0.2, 0.01]))
    outcome = Ordering().judge(said, here, None, 2.0)
    assert outcome.agreement is FAILS  # the third, by its small noise
    assert outcome.values.tolist() == [-0.3]
    assert outcome.reason == "2 of 3 reversed, 1 beyond noise"


def spread(std: float) -> Estimate:
    cells = [Summary(20.0, std, 3)]
    sources = [Source("native", ("kodak", "liif", "psnr"), "kodak", "liif", c) for c in cells]
    return Estimate.exact([std], sources)


@pytest.mark.parametrize(
    ("std", "agreement"),
    [
        # F with 2 and 2 degrees of freedom exceeds f with chance 1 / (1 + f): at 2.28 % f = 42.96,
        # and the spreads may differ by its root, 6.55.
        (0.10, HOLDS),
        (0.10 * 6.5, NEAR),
        (0.10 * 6.9, FAILS),
        (0.10 / 6.5, NEAR),
        (0.095 / 6.9, FAILS),
        (0.0, FAILS),
    ],
)
def test_spreads_may_differ_as_far_as_an_f_test_allows(std: float, agreement: Agreement) -> None:
    said = Published.parse("0.10", None)
    assert Spread().judge(said, spread(std), spread(0.10), 2.0).agreement is agreement


def test_a_failing_cell_is_named() -> None:
    keys = [("kodak", arm, "psnr") for arm in "abcdefg"]
    sources = [Source("native", key, "kodak", key[1], Summary(2.0, 0.1, 3)) for key in keys]
    paper = Estimate(np.full(7, 2.0), np.full(7, 0.1), sources)
    here = Estimate(np.array([2.0] * 6 + [9.0]), np.full(7, 0.1), sources)
    said = Published.parse(Tabled(1), paper)
    outcome = Equals().judge(said, here, paper, 2.0)
    assert (str(said), outcome.agreeing) == ("7 cells", 6)
    assert outcome.reason == "1 of 7 miss; furthest (kodak g) 9.0 against 2.0"


def test_several_bounds_hold_one_by_one() -> None:
    said = Published.parse("<= 0.14 / 0.12 / 0.09", None)
    outcome = Spread(1.0).judge(said, estimate(0.13, 0.11, 0.70), None, 2.0)
    assert (str(said), outcome.agreement) == ("≤ 0.14 / 0.12 / 0.09", FAILS)
    assert outcome.reason == "1 of 3 miss; furthest 0.70 against 0.09"


def test_the_paper_s_numbers_are_shown_as_printed() -> None:
    assert str(Published.parse("+0.126 / +0.034", None)) == "+0.126 / +0.034"
    assert str(Published.parse("1.07e-4", None)) == "1.07e-04"
    assert Published.parse("1.07e-4", None).compute_half_unit(1.07e-4) == pytest.approx(0.5e-6)
    assert str(Published.parse("<= 1528", None)) == "≤ 1,528"
    assert Published.parse("> 0", None).format_measured([0.02814]) == "0.0281"
    assert look_up_printed("winners", "kodak", "Δ LPIPS") == "-0.1378"
    with pytest.raises(UserError, match="not made of numbers"):
        Published.parse("about 3", None)


@pytest.mark.parametrize(
    ("published", "measured"), [("-0.091", "+0.155"), ("+0.234", "+0.155"), ("0.091", "0.155")]
)
def test_a_number_has_a_sign_where_the_published_one_has(published: str, measured: str) -> None:
    assert Published.parse(published, None).format_measured([0.155]) == measured
