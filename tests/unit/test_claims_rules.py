"""The rules: when a number is the same, differs or cannot be told; how the paper's are read."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gblsr_repro.analysis.claims.published import Published
from gblsr_repro.analysis.claims.rules import AGREEMENT_RULES, Agreement, Finding
from gblsr_repro.analysis.estimates import Estimate
from gblsr_repro.analysis.metrics import MARGINS, Margin
from gblsr_repro.config import find_repository_root

HOLDS, UNDECIDED, FAILS, SHOWN = Agreement
ERROR = 0.1  # of every estimate below, of two sides with three seeds each
T90, T95 = 2.1318, 2.7764  # two-sided, 4 degrees of freedom
HALF, APART, ONE = T90 * math.hypot(ERROR, ERROR), T95 * math.hypot(ERROR, ERROR), T95 * ERROR
MARGIN, SHARE = Margin(0.5, ""), Margin(0.1, "", relative=True)


def estimate(*values: float, error: float = ERROR, freedom: float = 4.0) -> Estimate:
    return Estimate(
        np.array(values), np.full(len(values), error), np.full(len(values), freedom), ()
    )


def judge(
    rule: str, margin: Margin | None, published: str, here: Estimate, paper: Estimate | None
) -> Finding:
    return AGREEMENT_RULES[rule](Published.parse(published), here, paper, margin)


def judge_values(rule: str, margin: Margin | None, published: str, *values: float) -> Agreement:
    """Judge measured values; the paper's tables have the published ones, and the same errors."""
    paper = estimate(*Published.parse(published).values)
    return judge(rule, margin, published, estimate(*values), paper).agreement


@pytest.mark.parametrize(
    ("rule", "margin", "published", "value", "agreement"),
    [
        # The interval lies within the margin, or reaches beyond it, or excludes 0 as well.
        ("equals", MARGIN, "2.0", 2.5 - HALF - 0.001, HOLDS),
        ("equals", MARGIN, "2.0", 2.5 - HALF + 0.001, UNDECIDED),
        ("equals", MARGIN, "2.0", 2.0 + APART - 0.001, UNDECIDED),
        ("equals", MARGIN, "2.0", 2.0 + APART + 0.001, FAILS),
        ("equals", MARGIN, "2.0", 2.0 - APART - 0.001, FAILS),
        ("equals", SHARE, "20", 22.0 - HALF - 0.001, HOLDS),
        ("equals", SHARE, "20", 22.0, FAILS),
        # A tie has the noise of the measured difference alone.
        ("tie", MARGIN, "0.0", 0.5 - T90 * ERROR - 0.001, HOLDS),
        ("tie", MARGIN, "0.0", 0.5 - T90 * ERROR + 0.001, FAILS),
        # An order and a bound have to be told from equality; a strict one is not met by it.
        ("ordering", None, "> 0", ONE + 0.001, HOLDS),
        ("ordering", None, "> 0", ONE - 0.001, UNDECIDED),
        ("ordering", None, "> 0", 0.001 - ONE, UNDECIDED),
        ("ordering", None, "> 0", -ONE - 0.001, FAILS),
        ("ordering", None, "< 0", ONE - 0.001, UNDECIDED),
        ("ordering", None, "< 0", -ONE - 0.001, HOLDS),
        ("bound", None, "<= 2.0", 2.0 - ONE - 0.001, HOLDS),
        ("bound", None, "<= 2.0", 2.0 + ONE + 0.001, FAILS),
        ("exact", None, "<= 0.75", 0.75, HOLDS),
        ("exact", None, "<= 0.75", 0.7501, FAILS),
        ("exact", None, "3", 2.0, FAILS),
        ("exact", None, "0.98", 0.9849, HOLDS),
        ("exact", None, "0.98", 0.9851, FAILS),
        ("shown", None, "0.1", 7.0, SHOWN),
    ],
)
def test_where_each_rule_changes_its_mind(
    rule: str, margin: Margin | None, published: str, value: float, agreement: Agreement
) -> None:
    assert judge_values(rule, margin, published, value) is agreement


@pytest.mark.parametrize(
    ("rule", "margin", "published", "value", "agreement"),
    [
        ("bound", SHARE, "<= 10", 10.9, HOLDS),  # a training time
        ("bound", SHARE, "<= 10", 11.1, FAILS),
        ("bound", None, "<= 2.0", 2.0, HOLDS),
        ("ordering", None, "> 0", 0.0, FAILS),
        ("equals", MARGIN, "2.0", 2.5, HOLDS),
        ("equals", MARGIN, "2.0", 2.51, FAILS),
    ],
)
def test_a_number_without_noise_is_on_one_side(
    rule: str, margin: Margin | None, published: str, value: float, agreement: Agreement
) -> None:
    assert judge(rule, margin, published, Estimate.exact([value]), None).agreement is agreement


@pytest.mark.parametrize("rule", ["equals", "ordering", "tie"])
def test_without_a_spread_on_either_side_there_is_no_verdict(rule: str) -> None:
    unknown = estimate(2.0, error=math.nan, freedom=math.nan)
    outcome = judge(rule, MARGIN, "> 0", unknown, unknown)
    assert (outcome.agreement, outcome.reason) == (
        UNDECIDED, "neither side has a deviation over seeds")  # fmt: skip


def test_of_several_numbers_all_have_to_be_the_same_and_one_that_differs_is_enough() -> None:
    """One differs by more than chance makes of that many (Benjamini and Hochberg)."""
    alone, among_four = 2.0 + APART + 0.01, 2.0 + 4.32 * math.hypot(ERROR, ERROR)  # p = 0.0125
    assert judge_values("equals", MARGIN, "2.0", alone) is FAILS
    for values, agreement in {
        (2.0, 2.1, 1.9, 2.0): HOLDS,
        (2.0, 2.1, 1.9, 2.3): UNDECIDED,
        (2.0, 2.0, 2.0, alone): UNDECIDED,
        (2.0, 2.0, 2.0, among_four): FAILS,
        (alone, alone, alone, alone): FAILS,
    }.items():
        assert judge_values("equals", MARGIN, "2.0 / 2.0 / 2.0 / 2.0", *values) is agreement


def test_the_reason_says_what_is_undecided_what_differs_and_what_differs_by_less() -> None:
    two, paper = "2.0 / 2.0", estimate(2.0)
    assert judge("equals", MARGIN, two, estimate(2.3, 2.0), paper).reason == "1 of 2 undecided"
    assert judge("equals", MARGIN, "2.0", estimate(2.3), paper).reason == ""
    sure = estimate(2.0, 2.0, error=0.01)
    outcome = judge("equals", MARGIN, two, estimate(2.2, 2.0, error=0.01), sure)
    assert (outcome.agreement, outcome.reason) == (HOLDS, "differs, by less than the margin")
    here, paper = Estimate.exact([150.0, 90.0]), Estimate.exact([100.0, 50.0])
    furthest = "2 of 2 differ; furthest 90 against 50"  # in margins
    assert judge("equals", SHARE, "100 / 50", here, paper).reason == furthest
    outcome = judge("exact", None, "3 / 3", Estimate.exact([3.0, 2.0]), None)
    assert (outcome.agreement, outcome.reason) == (FAILS, "1 of 2 differ; furthest 2 against 3")


def test_the_number_nearest_to_failing_is_shown_of_an_order() -> None:
    here = Estimate(np.array([1.0, -0.3, -0.2]), np.array([0.1, 0.2, 0.01]), np.full(3, 4.0))
    outcome = judge("ordering", None, "> 0", here, None)
    assert outcome.agreement is FAILS  # the third, by its small noise
    assert outcome.values.tolist() == [-0.3]
    assert outcome.reason == "1 of 3 reversed"


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
    assert Published.parse("-0.091").format_measured([0.155]) == "+0.155"  # signed as published
    assert Published.parse("+0.126").format_measured([-0.0004]) == "+0.000"  # as the tables have it
    with pytest.raises(ValueError, match="not made of numbers"):
        Published.parse("about 3")
