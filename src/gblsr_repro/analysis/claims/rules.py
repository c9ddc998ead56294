"""Compare measured numbers with published ones by the rule of a claim.

Numbers are the same where they are equivalent: the 90 % interval of their difference lies within
the margin of `metrics.MARGINS` (two one-sided tests at 5 %). They differ where Student's t-test
tells them apart, at the level of native.significance that also sets numbers in bold, and they are
not equivalent. What lies between is undecided. So a noisier run never gets a better verdict. Of k
numbers all have to be the same, and one that differs is enough, by the p of Benjamini and Hochberg.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

import numpy as np

from ...config import load_protocol
from ..estimates import Estimate
from ..metrics import Margin
from ..statistics import compute_interval, compute_p
from .published import Published

ALPHA: float = load_protocol()["native"]["significance"]
EQUIVALENCE = 1 - 2 * ALPHA  # level of the interval of two one-sided tests at ALPHA
NO_DEVIATION = "neither side has a deviation over seeds"
THIS_SIDE_ALONE = "the paper prints no deviation: that of these seeds alone"
DIFFERS_WITHIN_MARGIN = "differs, by less than the margin"
DEVIATION = "a standard deviation: shown, not judged"


class Agreement(StrEnum):
    """How measured and published numbers agree, whatever the conditions."""

    HOLDS = "holds"
    UNDECIDED = "undecided"
    FAILS = "fails"
    SHOWN = "shown"


@dataclass(frozen=True)
class Finding:
    """The result of a rule: the agreement, and the numbers to show with what they may miss by.

    `low` and `high` are the interval that was held against `allowed`: of the difference from the
    published number or, for an order or a bound, of the number itself. `reason` says where numbers
    miss or why nothing is decided.
    """

    agreement: Agreement
    values: np.ndarray
    allowed: np.ndarray = field(default_factory=partial(np.empty, 0))
    low: np.ndarray = field(default_factory=partial(np.empty, 0))
    high: np.ndarray = field(default_factory=partial(np.empty, 0))
    reason: str = ""


AgreementRule = Callable[[Published, Estimate, Estimate | None, Margin | None], Finding]
"""A rule compares published numbers with measured ones.

It takes what the paper states, the measured numbers, the claim measured in the paper's tables (None
where they do not determine it), and what numbers may differ by (None where nothing).
"""


def judge_exact(
    published: Published, here: Estimate, paper: Estimate | None, margin: Margin | None
) -> Finding:
    """Judge a criterion, a count, or what follows from the code, at the printed precision."""
    misses = published.compute_misses(here.values)
    agreement = Agreement.FAILS if (misses > 0).any() else Agreement.HOLDS
    reason = _describe_furthest(published, here, misses, misses > 0)
    return Finding(agreement, here.values, np.zeros(len(here)), reason=reason)


def judge_equality(
    published: Published,
    here: Estimate,
    paper: Estimate | None,
    margin: Margin | None,
    tie: bool = False,
) -> Finding:
    """Judge whether numbers are the published ones: their difference lies within the margin.

    A `tie` is a difference that the paper calls none: it is held against 0 alone.
    """
    assert margin is not None  # as `stated.Claim` makes sure
    paper = None if tie else paper
    goals = np.broadcast_to(paper.values if paper else published.values, here.values.shape)
    difference, margins = here.values - goals, margin.compute(goals)
    errors, freedom = combine_sides(here, paper)
    low, high = compute_interval(difference, errors, freedom, EQUIVALENCE)
    p = compute_p(difference, errors, freedom)
    same = (low >= -margins) & (high <= margins)
    agreement, differs = _decide(same, p)
    reasons = [_describe_open(same, errors) if agreement is Agreement.UNDECIDED else ""]
    if agreement is Agreement.FAILS:
        multiples = np.abs(difference) / np.where(margins > 0, margins, 1)
        reasons = [_describe_furthest(published, here, multiples, differs)]
    elif agreement is Agreement.HOLDS and ((p < ALPHA) & (errors > 0)).any():
        reasons = [DIFFERS_WITHIN_MARGIN]
    if not tie and (here.errors > 0).any() and not (paper and paper.errors.any()):
        reasons.append(THIS_SIDE_ALONE)
    return Finding(agreement, here.values, margins, low, high, "; ".join(filter(None, reasons)))


def judge_side(
    published: Published, here: Estimate, paper: Estimate | None, margin: Margin | None
) -> Finding:
    """Judge whether numbers lie on the claimed side by more than their noise.

    Within the noise nothing is decided, whichever side they lie on. All of them have to hold, which
    asks no more of each. The number nearest to failing is shown. With a margin, for times, the
    bound is further away by it.
    """
    sign = 1 if published.relation.startswith(">") else -1
    goals = np.broadcast_to(published.values, here.values.shape)
    allowed = margin.compute(goals) if margin else np.zeros(len(here))
    distances = sign * (here.values - goals) + allowed
    p = compute_p(distances, here.errors, here.freedom)
    keeps = np.where(allowed > 0, distances >= 0, published.compute_misses(here.values) <= 0)
    proven = keeps & ((p < ALPHA) | (here.errors == 0))
    wrong = np.where(here.errors == 0, 0.0, p)
    agreement, reversed_ = _decide(proven, np.where(keeps, 1.0, wrong))
    reason = _describe_open(proven, here.errors) if agreement is Agreement.UNDECIDED else ""
    if agreement is Agreement.FAILS and len(here) > 1:
        reason = f"{reversed_.sum()} of {len(here)} reversed"
    low, high = compute_interval(here.values, here.errors, here.freedom, 1 - ALPHA)
    at = [int(distances.argmin())]
    return Finding(agreement, here.values[at], allowed[at], low[at], high[at], reason)


def show(
    published: Published, here: Estimate, paper: Estimate | None, margin: Margin | None
) -> Finding:
    """Show a standard deviation over seeds: three tell it from no other, so it is not judged."""
    return Finding(Agreement.SHOWN, here.values, reason=DEVIATION)


AGREEMENT_RULES: dict[str, AgreementRule] = {
    "equals": judge_equality,
    "tie": partial(judge_equality, tie=True),
    "ordering": judge_side,
    "bound": judge_side,
    "exact": judge_exact,
    "shown": show,
}
"""The rules by the names that config/paper/claims.tsv has."""


def combine_sides(here: Estimate, paper: Estimate | None) -> tuple[np.ndarray, np.ndarray]:
    """Combine the errors of both sides of a comparison; return them with their freedom.

    The variances of two means add up. Both come from the same pooled deviations, so that their
    degrees of freedom do not. Without `paper` the errors are those of the measured numbers.
    """
    if paper is None:
        return here.errors, here.freedom
    ours, theirs = np.square(here.errors), np.square(paper.errors)
    weight = np.square(ours / np.sqrt(here.freedom) + theirs / np.sqrt(paper.freedom))
    known = weight > 0
    freedom = np.square(ours + theirs) / np.where(known, weight, 1)
    return np.sqrt(ours + theirs), np.where(known, freedom, np.inf)


def _decide(same: np.ndarray, p: np.ndarray) -> tuple[Agreement, np.ndarray]:
    """Decide on a claim by its numbers: which are the `same`, and by which p the others differ.

    Returns the agreement, and which numbers differ (Benjamini and Hochberg, 1995).
    """
    from scipy import stats

    adjusted = stats.false_discovery_control(np.where(same | np.isnan(p), 1.0, p))
    differs = adjusted < ALPHA
    if same.all():
        return Agreement.HOLDS, differs
    return Agreement.FAILS if differs.any() else Agreement.UNDECIDED, differs


def _describe_open(decided: np.ndarray, errors: np.ndarray) -> str:
    """Describe how many of several numbers are undecided, or that nothing can decide them."""
    if np.isnan(errors).any():
        return NO_DEVIATION
    return f"{(~decided).sum()} of {len(decided)} undecided" if len(decided) > 1 else ""


def _describe_furthest(
    published: Published, here: Estimate, distances: np.ndarray, differs: np.ndarray
) -> str:
    """Describe which of several numbers that differ is furthest off; empty for a single number."""
    if len(here) == 1 or not differs.any():
        return ""
    worst = int(np.argmax(np.where(differs, distances, -np.inf)))
    value = published.format_measured([here.values[worst]])
    goal = published.format([np.broadcast_to(published.values, distances.shape)[worst]])
    return f"{differs.sum()} of {len(here)} differ; furthest {value} against {goal}"
