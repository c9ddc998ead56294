"""Compare measured numbers with published ones by the rule of a claim.

A rule sets how far numbers may miss and what a miss is called. One test stands behind all of them:
Student's two-sided t-test with pooled deviations, the one that sets numbers in bold, at the level
of native.significance. k numbers share the level (Sidak), so that chance makes a claim about twenty
fail no more often than a claim about one. A criterion, a count or a number that follows from the
code holds or does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from ...config import load_protocol
from ..estimates import Estimate
from ..measured import PAPER_SEEDS
from ..statistics import compute_pooled_p
from .published import Published

ALPHA: float = load_protocol()["native"]["significance"]
SEEDS = "three seeds leave noise in both means"
COUNTED = "counted, not measured"
ONE_SEED = "one seed each cannot say"
NEAR_ZERO = "too noisy to tell from 0"


class Agreement(StrEnum):
    """How measured and published numbers agree, whatever the conditions."""

    HOLDS = "holds"
    NEAR = "within noise"
    UNDECIDED = "undecided"
    FAILS = "fails"


@dataclass(frozen=True)
class Finding:
    """The result of a rule: the agreement, and the numbers to show with how far each may miss.

    `reason` says where numbers miss or why nothing is decided.
    """

    agreement: Agreement
    values: np.ndarray
    allowed: np.ndarray
    reason: str = ""


@dataclass(frozen=True)
class AgreementRule:
    """A rule: numbers may miss by `relative` times the published value; `why` gives the reason."""

    name: ClassVar[str]
    relative: float = 0.0
    why: str = ""

    def __str__(self) -> str:
        text = f"{self.name} ±{100 * self.relative:g} %" if self.relative else self.name
        return f"{text} ({self.why})" if self.why else text

    def judge(self, published: Published, here: Estimate, paper: Estimate | None) -> Finding:
        """Compare measured numbers with the published ones.

        `paper` is the claim measured in the paper's tables, None where they do not determine it.
        """
        misses = published.compute_misses(here.values)
        allowed = self.relative * np.abs(np.broadcast_to(published.values, misses.shape))
        near = misses <= allowed
        agreement = Agreement.FAILS
        if near.all():
            agreement = Agreement.HOLDS if (misses <= 0).all() else Agreement.NEAR
        reason = _describe_furthest_miss(published, here, misses, allowed)
        return Finding(agreement, here.values, allowed, reason)


@dataclass(frozen=True)
class Criterion(AgreementRule):
    """A criterion of the paper or a count: exact, never within noise."""

    name = "criterion"


@dataclass(frozen=True)
class Structure(AgreementRule):
    """A number that follows from the code alone: exact, at the printed precision."""

    name = "structure"


@dataclass(frozen=True)
class Equals(AgreementRule):
    """A number agrees at the printed precision, or within the seed noise of both sides.

    Noise that exceeds the number itself leaves its sign open, and so decides nothing but a failure.
    With `relative`, for times, the noise is that share of the published value. `numbers` says how
    many share the level of the test, where it is more than are judged at once.
    """

    name = "equals"
    why: str = SEEDS
    numbers: int | None = None

    def judge(self, published: Published, here: Estimate, paper: Estimate | None) -> Finding:
        """Compare measured numbers with the published ones."""
        if self.relative:
            return super().judge(published, here, paper)
        misses = published.compute_misses(here.values)
        noise = compute_noise(*combine_sides(here, paper), self.numbers)
        reason = _describe_furthest_miss(published, here, misses, noise)
        if (misses > noise).any():
            agreement = Agreement.FAILS
        elif np.isnan(noise).any():
            agreement, reason = Agreement.UNDECIDED, ONE_SEED
        elif (noise > np.abs(published.values)).any():
            agreement, reason = Agreement.UNDECIDED, NEAR_ZERO
        else:
            agreement = Agreement.HOLDS if (misses <= 0).all() else Agreement.NEAR
        return Finding(agreement, here.values, noise, reason)


@dataclass(frozen=True)
class Bound(AgreementRule):
    """Every number keeps a bound, or passes it by no more than its noise.

    However large the noise, it excuses no more than a quarter of what the sentence is about: of the
    bound, or of `about` where the bound is 0. With `relative`, for times, the noise is that share
    of the bound. The number nearest to failing is shown.
    """

    name = "bound"
    why: str = SEEDS
    about: float = 0.0

    def judge(self, published: Published, here: Estimate, paper: Estimate | None) -> Finding:
        """Compare every number with the bound."""
        misses = published.compute_misses(here.values)
        bounds = np.abs(np.broadcast_to(published.values, misses.shape))
        noise = (
            self.relative * bounds if self.relative else compute_noise(here.errors, here.freedom)
        )
        allowed = np.minimum(noise, bounds / 4 if bounds.all() else self.about / 4)
        agreement, reason = Agreement.UNDECIDED, "past the bound by less than its noise"
        if (misses > noise).any():
            agreement = Agreement.FAILS
            reason = _describe_furthest_miss(published, here, misses, noise)
        elif np.isnan(noise).any():
            reason = ONE_SEED
        elif (misses <= allowed).all():
            agreement = Agreement.HOLDS if (misses <= 0).all() else Agreement.NEAR
            reason = ""
        shown = _find_nearest(published, here)
        return Finding(agreement, here.values[shown], allowed[shown], reason)


@dataclass(frozen=True)
class Ordering(AgreementRule):
    """Every margin lies on the claimed side by more than its noise, or one on the other side.

    Margins within the noise decide nothing, whichever side they lie on. One margin is enough to
    fail, so that k of them share the level; all of them have to hold, which asks no more of each.
    The margin nearest to failing is shown.
    """

    name = "ordering"
    why: str = "a margin within seed noise may be of either sign"

    def judge(self, published: Published, here: Estimate, paper: Estimate | None) -> Finding:
        """Compare margins with the bound."""
        sign = 1 if published.relation.startswith(">") else -1
        margins = sign * (here.values - published.values)
        noise = compute_noise(here.errors, here.freedom)
        alone = compute_noise(here.errors, here.freedom, 1)
        wrong = (published.compute_misses(here.values) > 0) & (margins <= -noise)
        agreement = Agreement.UNDECIDED
        if wrong.any():
            agreement = Agreement.FAILS
            reason = f"{wrong.sum()} of {len(here)} reversed beyond noise" if len(here) > 1 else ""
        elif (margins > alone).all():
            agreement, reason = Agreement.HOLDS, ""
        elif np.isnan(noise).any():
            reason = ONE_SEED
        else:
            within = margins <= alone
            reason = f"{within.sum()} of {len(here)} margins within noise"
            reason += f", {(margins[within] < 0).sum()} of them reversed"
        shown = [int(margins.argmin())]
        return Finding(agreement, here.values[shown], noise[shown], reason)


@dataclass(frozen=True)
class Tie(AgreementRule):
    """Numbers that the pooled t-test cannot tell from the last of their column; lowest p shown.

    Where it can, a tie of the paper fails if the pair also differs by more than in the paper,
    beyond the noise of both; else nothing is decided.
    """

    name = "tie"
    why: str = "a draw near the level falls on either side of it"

    def judge(self, published: Published, here: Estimate, paper: Estimate | None) -> Finding:
        """Test every arm or method against the last one."""
        cells = here.read_spreads()
        pairs = [(place, other) for *column, other in here.group_columns() for place in column]
        p = np.array([compute_pooled_p(cells[a], cells[b]) for a, b in pairs])
        agreement, reason = Agreement.HOLDS, ""
        if (p < ALPHA).any():
            agreement, reason = _judge_changes(here, paper, pairs, p < ALPHA)
        return Finding(agreement, p.min(keepdims=True), np.zeros(1), reason)


@dataclass(frozen=True)
class Spread(AgreementRule):
    """Standard deviations agree unless an F-test of the variances tells them apart.

    Every cell has its own test. Together they fail where the false discovery rate (Benjamini and
    Hochberg) is below the level: one cell far off is enough, and so are many that are less so. A
    bound is tested on its upper side.
    """

    name = "spread"
    why: str = "a standard deviation of three seeds is uncertain by a factor of six to either side"

    def judge(self, published: Published, here: Estimate, paper: Estimate | None) -> Finding:
        """Test every standard deviation."""
        from scipy import stats

        goals = np.broadcast_to(published.values, here.values.shape)
        half = np.array([published.compute_half_unit(goal) for goal in goals])
        goals = np.clip(here.values, np.maximum(goals - half, 0), goals + half)
        ours = np.array([source.cell.n - 1 for source in here.sources])
        theirs = PAPER_SEEDS - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.square(here.values / goals)
        upper = stats.f.sf(ratios, ours, theirs)
        p = 2 * np.minimum(upper, 1 - upper) if published.relation == "=" else upper
        misses = published.compute_misses(here.values)
        p = np.where(misses <= 0, 1.0, p)
        agreement = Agreement.HOLDS if (misses <= 0).all() else Agreement.NEAR
        reason = ""
        if stats.false_discovery_control(p).min() < ALPHA:
            agreement = Agreement.FAILS
            reason = _describe_furthest_miss(published, here, 1 - p, np.full(len(p), 1 - ALPHA))
        return Finding(agreement, here.values, np.empty(0), reason)


RULES = {
    "equals": Equals(),
    "bound": Bound(),
    "ordering": Ordering(),
    "tie": Tie(),
    "spread": Spread(),
    # times and memory
    "time": Equals(0.1, "host, driver and library versions move a launch-bound time"),
    "ratio": Equals(0.05, "ratios of times move less with host and versions than times"),
    "memory": Equals(0.05, "allocator and library versions change work space"),
    "training time": Bound(
        0.2, "data path and host differ; only slower training contradicts the paper"
    ),
    "order of magnitude": Criterion(why="an order of magnitude"),
    "production": Equals(0.1, "the paper says approximately preserved, without a number"),
    # counts, and what the code alone gives
    "count": Criterion(why=COUNTED),
    "counted": Structure(why=COUNTED),
    "computed": Structure(why="computed, not measured"),
    "decoder": Structure(why="counted as the decoder is defined"),
    "decoders": Structure(why="counted as the decoders are defined"),
    # of single claims
    "criterion": Criterion(why="the criterion of Table 5"),
    "gain": Bound(about=load_protocol()["diagnostics"]["margins"]["psnr_texture"]),
    "bandwidth": Equals(0.01, "the paper says about 0.88 for all seeds"),
}
"""The rules by the names that config/paper/claims.tsv has."""


def compute_noise(
    errors: np.ndarray, freedom: np.ndarray, numbers: int | None = None
) -> np.ndarray:
    """Compute the noise of k numbers: what Student's t-test allows at ALPHA over `numbers` (k)."""
    from scipy import stats

    level = 1 - (1 - ALPHA) ** (1 / (numbers or len(errors)))
    return stats.t.isf(level / 2, freedom) * errors


def combine_sides(here: Estimate, paper: Estimate | None) -> tuple[np.ndarray, np.ndarray]:
    """Combine the errors of both sides of a comparison; return them with their freedom.

    The variances of two means add up. Both come from the same pooled deviations, so that their
    degrees of freedom do not. Without `paper` the other side is as noisy as the measured numbers.
    """
    other = paper or here
    ours, theirs = np.square(here.errors), np.square(other.errors)
    weight = np.square(ours / np.sqrt(here.freedom) + theirs / np.sqrt(other.freedom))
    known = weight > 0
    freedom = np.square(ours + theirs) / np.where(known, weight, 1)
    return np.sqrt(ours + theirs), np.where(known, freedom, np.inf)


def _judge_changes(
    here: Estimate,
    paper: Estimate | None,
    pairs: Sequence[Sequence[int]],
    changed: np.ndarray,
) -> tuple[Agreement, str]:
    """Judge tests with another outcome than in the paper by the differences of their pairs."""
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    ours = here.select(first) - here.select(second)
    theirs = paper.select(first) - paper.select(second) if paper else None
    noise = compute_noise(*combine_sides(ours, theirs))
    moved = np.abs(ours.values - (theirs.values if theirs else 0)) > noise
    if (changed & moved).any():
        return Agreement.FAILS, ""
    return Agreement.UNDECIDED, "the test has another outcome, the means differ within noise"


def _find_nearest(published: Published, here: Estimate) -> Sequence[int]:
    """Find the number nearest to failing a bound, or all where each has its own."""
    if len(published.values) > 1:
        return range(len(here))
    upward = published.relation.startswith(">")
    return [int((np.argmin if upward else np.argmax)(here.values))]


def _describe_furthest_miss(
    published: Published, here: Estimate, misses: np.ndarray, allowed: np.ndarray
) -> str:
    """Describe which of several numbers misses by the largest multiple of what is allowed.

    Where nothing is allowed, every miss is infinitely far, and the longest distance counts. Empty
    for a single number.
    """
    failing = np.flatnonzero(misses > allowed)
    if not len(failing) or len(misses) == 1:
        return ""
    multiples = np.where(allowed > 0, misses / np.where(allowed > 0, allowed, 1), np.inf)
    worst = max(failing, key=lambda place: (multiples[place], misses[place]))
    value = published.format_measured([here.values[worst]])
    goal = published.format([np.broadcast_to(published.values, misses.shape)[worst]])
    return f"{len(failing)} of {len(misses)} miss; furthest {value} against {goal}"
