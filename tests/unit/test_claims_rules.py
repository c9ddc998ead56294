"""The rules: when a number is the same, differs or cannot be told; how the paper's are read."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gblsr_repro.analysis.claims.published import Published
from gblsr_repro.analysis.claims.rules import AGREEMENT_RULES, Agreement, AgreementRule
from gblsr_repro.analysis.estimates import Estimate
from gblsr_repro.analysis.metrics import MARGINS, Margin
from gblsr_repro.config import find_repository_root
from gblsr_repro.errors import UserError

HOLDS, UNDECIDED, FAILS, SHOWN = Agreement
ERROR = 0.1  # of every estimate below, of two sides with three seeds each
T90, T95 = 2.1318, 2.7764  # two-sided, 4 degrees of freedom
HALF, APART, ONE = T90 * math.hypot(ERROR, ERROR), T95 * math.hypot(ERROR, ERROR), T95 * ERROR
MARGIN, SHARE = Margin(0.5, ""), Margin(0.1, "", relative=True)
EQUALS, TIE, ORDERING, EXACT = (
    AGREEMENT_RULES[name] for name in ("equals", "tie", "ordering", "exact")
)


def estimate(*values: float, error: float = ERROR, freedom: float = 4.0) -> Estimate:
    return Estimate(
        np.array(values), np.full(len(values), error), np.full(len(values), freedom), ()
    )


def judged(rule: AgreementRule, published: str, *values: float, error: float = ERROR) -> Agreement:
    """Judge measured values; the paper's tables have the published ones, and the same errors."""
    said = Published.parse(published)
    return rule.judge(said, estimate(*values, error=error), estimate(*said.values)).agreement


@pytest.mark.parametrize(
    ("rule", "published", "value", "agreement"),
    [
        # The interval lies within the margin, or reaches beyond it, or excludes 0 as well.
        (EQUALS(MARGIN), "2.0", 2.5 - HALF - 0.001, HOLDS),
        (EQUALS(MARGIN), "2.0", 2.5 - HALF + 0.001, UNDECIDED),
        (EQUALS(MARGIN), "2.0", 2.0 + APART - 0.001, UNDECIDED),
        (EQUALS(MARGIN), "2.0", 2.0 + APART + 0.001, FAILS),
        (EQUALS(MARGIN), "2.0", 2.0 - APART - 0.001, FAILS),
        (EQUALS(SHARE), "20", 22.0 - HALF - 0.001, HOLDS),
        (EQUALS(SHARE), "20", 22.0, FAILS),
        # A tie has the noise of the measured difference alone.
        (TIE(MARGIN), "0.0", 0.5 - T90 * ERROR - 0.001, HOLDS),
        (TIE(MARGIN), "0.0", 0.5 - T90 * ERROR + 0.001, FAILS),
        # An order and a bound have to be told from equality; a strict one is not met by it.
        (ORDERING(None), "> 0", ONE + 0.001, HOLDS),
        (ORDERING(None), "> 0", ONE - 0.001, UNDECIDED),
        (ORDERING(None), "> 0", 0.001 - ONE, UNDECIDED),
        (ORDERING(None), "> 0", -ONE - 0.001, FAILS),
        (ORDERING(None), "< 0", ONE - 0.001, UNDECIDED),
        (ORDERING(None), "< 0", -ONE - 0.001, HOLDS),
        (AGREEMENT_RULES["bound"](None), "<= 2.0", 2.0 - ONE - 0.001, HOLDS),
        (AGREEMENT_RULES["bound"](None), "<= 2.0", 2.0 + ONE + 0.001, FAILS),
        (EXACT(None), "<= 0.75", 0.75, HOLDS),
        (EXACT(None), "<= 0.75", 0.7501, FAILS),
        (EXACT(None), "3", 2.0, FAILS),
        (EXACT(None), "0.98", 0.9849, HOLDS),
        (EXACT(None), "0.98", 0.9851, FAILS),
        (AGREEMENT_RULES["shown"](None), "0.1", 7.0, SHOWN),
    ],
)
def test_where_each_rule_changes_its_mind(
    rule: AgreementRule, published: str, value: float, agreement: Agreement
) -> None:
    assert judged(rule, published, value) is agreement


@pytest.mark.parametrize(
    ("rule", "published", "value", "agreement"),
    [
        (AGREEMENT_RULES["bound"](SHARE), "<= 10", 10.9, HOLDS),  # a training time
        (AGREEMENT_RULES["bound"](SHARE), "<= 10", 11.1, FAILS),
        (AGREEMENT_RULES["bound"](None), "<= 2.0", 2.0, HOLDS),
        (ORDERING(None), "> 0", 0.0, FAILS),
        (EQUALS(MARGIN), "2.0", 2.5, HOLDS),
        (EQUALS(MARGIN), "2.0", 2.51, FAILS),
    ],
)
def test_a_number_without_noise_is_on_one_side(
    rule: AgreementRule, published: str, value: float, agreement: Agreement
) -> None:
    exact, said = Estimate.exact([value]), Published.parse(published)
    assert rule.judge(said, exact, None).agreement is agreement


@pytest.mark.parametrize(
    ("rule", "published"), [(EQUALS(MARGIN), "2.0"), (ORDERING(None), "> 0"), (TIE(MARGIN), "0.0")]
)
def test_without_a_spread_on_either_side_there_is_no_verdict(
    rule: AgreementRule, published: str
) -> None:
    unknown = estimate(2.0, error=math.nan, freedom=math.nan)
    outcome = rule.judge(Published.parse(published), unknown, unknown)
    assert (outcome.agreement, outcome.reason) == (
        UNDECIDED, "neither side has a deviation over seeds")  # fmt: skip


def test_of_several_numbers_all_have_to_be_the_same_and_one_that_differs_is_enough() -> None:
    """One differs by more than chance makes of that many (Benjamini and Hochberg)."""
    said = Published.parse(" / ".join(["2.0"] * 4))
    assert judged(EQUALS(MARGIN), str(said), 2.0, 2.1, 1.9, 2.0) is HOLDS
    assert judged(EQUALS(MARGIN), str(said), 2.0, 2.1, 1.9, 2.3) is UNDECIDED
    alone, among_four = 2.0 + APART + 0.01, 2.0 + 4.32 * math.hypot(ERROR, ERROR)  # p = 0.0125
    assert judged(EQUALS(MARGIN), "2.0", alone) is FAILS
    assert judged(EQUALS(MARGIN), str(said), 2.0, 2.0, 2.0, alone) is UNDECIDED
    assert judged(EQUALS(MARGIN), str(said), 2.0, 2.0, 2.0, among_four) is FAILS
    assert judged(EQUALS(MARGIN), str(said), *[alone] * 4) is FAILS


def test_the_reason_says_what_is_undecided_what_differs_and_what_differs_by_less() -> None:
    said = Published.parse("2.0 / 2.0")
    rule, paper = EQUALS(MARGIN), estimate(2.0, 2.0)
    assert rule.judge(said, estimate(2.3, 2.0), paper).reason == "1 of 2 undecided"
    outcome = rule.judge(said, estimate(3.0, 4.0), paper)
    assert outcome.reason == "2 of 2 differ; furthest 4.0 against 2.0"
    sure = estimate(2.2, 2.0, error=0.01)
    outcome = rule.judge(said, sure, estimate(2.0, 2.0, error=0.01))
    assert (outcome.agreement, outcome.reason) == (HOLDS, "differs, by less than the margin")


def test_the_number_nearest_to_failing_is_shown_of_an_order() -> None:
    said = Published.parse("> 0")
    here = Estimate(np.array([1.0, -0.3, -0.2]), np.array([0.1, 0.2, 0.01]), np.full(3, 4.0))
    outcome = ORDERING(None).judge(said, here, None)
    assert outcome.agreement is FAILS  # the third, by its small noise
    assert outcome.values.tolist() == [-0.3]
    assert outcome.reason == "1 of 3 reversed"


def test_the_furthest_of_those_that_differ_is_so_in_margins() -> None:
    outcome = EQUALS(SHARE).judge(
        Published.parse("100 / 50"), Estimate.exact([150.0, 90.0]), Estimate.exact([100.0, 50.0])
    )
    assert outcome.reason == "2 of 2 differ; furthest 90 against 50"


def test_the_page_of_interpretations_has_every_margin_and_its_reason() -> None:
    page = (find_repository_root() / "docs" / "interpretations.md").read_text(encoding="utf-8")
    for margin in MARGINS.values():
        assert f"| {str(margin).removeprefix('±')} | {margin.reason} |" in page


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
