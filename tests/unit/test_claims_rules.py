"""The rules: when a number agrees, is within noise, or fails; and how the paper's are read."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gblsr_repro.analysis.claims.published import Published
from gblsr_repro.analysis.claims.rules import (
    Agreement,
    AgreementRule,
    Bound,
    Criterion,
    Equals,
    Ordering,
    Spread,
    Structure,
)
from gblsr_repro.analysis.estimates import Estimate, Source
from gblsr_repro.analysis.statistics import Summary
from gblsr_repro.errors import UserError

HOLDS, NEAR, UNDECIDED, FAILS = Agreement
ERROR = 0.1  # of every estimate below, of two sides with three seeds each
T = 2.7764  # two-sided, 5 %, 4 degrees of freedom
ONE, BOTH = T * ERROR, T * math.hypot(ERROR, ERROR)


def estimate(*values: float, error: float = ERROR, freedom: float = 4.0) -> Estimate:
    return Estimate(
        np.array(values), np.full(len(values), error), np.full(len(values), freedom), ()
    )


def judged(rule: AgreementRule, published: str, *values: float, error: float = ERROR) -> Agreement:
    """Judge measured values; the paper's tables have the same errors and no other values."""
    said = Published.parse(published)
    return rule.judge(said, estimate(*values, error=error), estimate(*values)).agreement


@pytest.mark.parametrize(
    ("rule", "published", "value", "agreement"),
    [
        # Half of the last printed digit agrees; then comes the noise of both sides.
        (Equals(), "2.0", 2.049, HOLDS),
        (Equals(), "2.0", 2.051, NEAR),
        (Equals(), "2.0", 2.05 + BOTH - 0.001, NEAR),
        (Equals(), "2.0", 2.05 + BOTH + 0.001, FAILS),
        (Equals(), "2.0", 1.95 - BOTH - 0.001, FAILS),
        (Equals(), "0.3", 0.3, UNDECIDED),  # noise of 0.39 covers 0
        (Equals(), "0.3", -0.2, FAILS),
        (Equals(0.1), "20", 22.4, NEAR),
        (Equals(0.1), "20", 22.6, FAILS),
        # A bound has the noise of the measured number alone; a strict one is not met by equality.
        (Bound(), "<= 2.0", 2.0, HOLDS),
        (Bound(), "< 2.0", 2.0, NEAR),
        (Bound(), "<= 2.0", 2.0 + ONE - 0.001, NEAR),
        (Bound(), "<= 2.0", 2.0 + ONE + 0.001, FAILS),
        (Bound(), ">= 2.0", 2.0 - ONE + 0.001, NEAR),
        (Bound(), ">= 2.0", 2.0 - ONE - 0.001, FAILS),
        (Bound(), "<= 0.4", 0.499, NEAR),
        (Bound(), "<= 0.4", 0.501, UNDECIDED),  # by more than a quarter, within the noise
        (Bound(), "<= 0.4", 0.4 + ONE + 0.001, FAILS),
        (Bound(about=0.4), "<= 0", 0.099, NEAR),
        (Bound(about=0.4), "<= 0", 0.101, UNDECIDED),
        (Bound(), "<= 0", 0.001, UNDECIDED),
        (Bound(0.2), "<= 10", 11.9, NEAR),
        (Bound(0.2), "<= 10", 12.1, FAILS),
        (Ordering(), "> 0", ONE + 0.001, HOLDS),
        (Ordering(), "> 0", ONE - 0.001, UNDECIDED),
        (Ordering(), "> 0", 0.001 - ONE, UNDECIDED),
        (Ordering(), "> 0", -ONE - 0.001, FAILS),
        (Ordering(), "< 0", ONE - 0.001, UNDECIDED),
        (Ordering(), "< 0", -ONE - 0.001, HOLDS),
        (Criterion(), "<= 0.75", 0.75, HOLDS),
        (Criterion(), "<= 0.75", 0.7501, FAILS),
        (Criterion(), "3", 2.0, FAILS),
        (Structure(), "0.98", 0.9849, HOLDS),
        (Structure(), "0.98", 0.9851, FAILS),
    ],
)
def test_where_each_rule_changes_its_mind(
    rule: AgreementRule, published: str, value: float, agreement: Agreement
) -> None:
    assert judged(rule, published, value) is agreement


@pytest.mark.parametrize(
    ("rule", "published"), [(Equals(), "2.0"), (Bound(), "<= 2.0"), (Ordering(), "> 0")]
)
def test_without_a_spread_on_either_side_there_is_no_verdict(
    rule: AgreementRule, published: str
) -> None:
    unknown = estimate(2.0, error=math.nan, freedom=math.nan)
    outcome = rule.judge(Published.parse(published), unknown, unknown)
    assert (outcome.agreement, outcome.reason) == (UNDECIDED, "one seed each cannot say")


def test_many_numbers_together_fail_by_chance_as_seldom_as_one() -> None:
    """Sidak: seven cells share 5 %, 0.73 % each, which is t = 5.04 with 4 degrees of freedom."""
    said = Published.parse(" / ".join(["2.0"] * 7))
    here = estimate(*[2.0] * 7)
    allowed = Equals().judge(said, here, here).allowed
    assert allowed == pytest.approx(5.0364 * math.sqrt(2) * ERROR, rel=1e-3)


def test_the_worst_margin_decides_an_ordering_and_the_nearest_is_shown() -> None:
    said = Published.parse("> 0")
    here = Estimate(np.array([1.0, -0.3, -0.2]), np.array([0.1, 0.2, 0.01]), np.full(3, 4.0))
    outcome = Ordering().judge(said, here, None)
    assert outcome.agreement is FAILS  # the third, by its small noise
    assert outcome.values.tolist() == [-0.3]
    assert outcome.reason == "1 of 3 reversed beyond noise"


def spreads(*stds: float) -> Estimate:
    cells = [Summary(20.0, std, 3) for std in stds]
    sources = [Source("native", ("kodak", "liif", "psnr"), "kodak", "liif", c) for c in cells]
    return Estimate.exact(stds, sources)


@pytest.mark.parametrize(
    ("stds", "agreement"),
    [
        # F with 2 and 2 degrees of freedom exceeds f with chance 1 / (1 + f): at 2.5 % f = 39, and
        # the spreads may differ by its root, 6.24.
        ([0.10], HOLDS),
        ([0.105 * 6.2], NEAR),
        ([0.105 * 6.3], FAILS),
        ([0.095 / 6.2], NEAR),
        ([0.095 / 6.3], FAILS),
        ([0.0], FAILS),
        # One of four is told apart by itself, and nothing unusual among four; a further one is.
        ([0.105 * 8, 0.1, 0.1, 0.1], NEAR),
        ([0.105 * 13, 0.1, 0.1, 0.1], FAILS),
        ([0.105 * 6.3] * 4, FAILS),
    ],
)
def test_spreads_may_differ_as_far_as_an_f_test_of_every_cell_allows(
    stds: list[float], agreement: Agreement
) -> None:
    said = Published.parse(" / ".join(["0.10"] * len(stds)))
    outcome = Spread().judge(said, spreads(*stds), spreads(*[0.10] * len(stds)))
    assert outcome.agreement == agreement


def test_numbers_judged_one_by_one_share_the_level_as_those_judged_at_once() -> None:
    said, numbers = Published.parse("2.0 / 2.0 / 2.0"), estimate(2.0, 2.0, 9.0)
    at_once = Equals().judge(said, numbers, numbers).allowed
    alone = Equals(numbers=3).judge(Published.parse("2.0"), estimate(9.0), estimate(2.0))
    assert (alone.allowed, alone.agreement) == (pytest.approx(at_once[2:]), FAILS)


def test_several_bounds_hold_one_by_one() -> None:
    said = Published.parse("<= 0.14 / 0.12 / 0.09")
    outcome = Spread().judge(said, spreads(0.13, 0.11, 0.80), None)
    assert (str(said), outcome.agreement) == ("≤ 0.14 / 0.12 / 0.09", FAILS)
    assert outcome.reason == "1 of 3 miss; furthest 0.800 against 0.09"


def test_the_furthest_miss_is_the_largest_multiple_of_what_is_allowed() -> None:
    """Nothing is allowed beside a published 0, of which every miss is an infinite multiple."""
    said = Published.parse("0 / 100 / 50")
    outcome = Equals(0.1).judge(said, estimate(3.0, 180.0, 90.0), None)
    assert outcome.reason == "3 of 3 miss; furthest 3 against 0"
    outcome = Equals(0.1).judge(said, estimate(0.0, 150.0, 95.0), None)
    assert outcome.reason == "2 of 3 miss; furthest 95 against 50"


def test_the_paper_s_numbers_are_shown_as_printed() -> None:
    assert str(Published.parse("+0.126 / +0.034")) == "+0.126 / +0.034"
    assert str(Published.parse("1.07e-4")) == "1.07e-04"
    assert Published.parse("1.07e-4").compute_half_unit(1.07e-4) == pytest.approx(0.5e-6)
    assert str(Published.parse("<= 1528")) == "≤ 1,528"
    assert Published.parse("> 0").format_measured([0.02814]) == "0.0281"
    with pytest.raises(UserError, match="not made of numbers"):
        Published.parse("about 3")


@pytest.mark.parametrize(
    ("published", "measured"), [("-0.091", "+0.155"), ("+0.234", "+0.155"), ("0.091", "0.155")]
)
def test_a_number_has_a_sign_where_the_published_one_has(published: str, measured: str) -> None:
    assert Published.parse(published).format_measured([0.155]) == measured
