"""The rules by which a measured number is held against the paper's.

A rule says how far numbers may miss and what it is called when they do. Each is as strict as the
statement it judges: a criterion, a count or an order either holds or does not, and a number agrees
at the precision that the paper prints before any noise is allowed for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from .estimates import Estimate
from .published import Published

NORMAL = NormalDist()
SEEDS = "three seeds leave noise in both means"
TIMES = "host, driver and library versions move a launch-bound time"
RATIOS = "ratios of times move less with host and versions than times"
MEMORY = "allocator and library versions change work space"
COST = "data path and host differ; only slower training contradicts the paper"
COUNTED = "counted, not measured"
TESTED = "the test itself allows for seed noise"


class Agreement(StrEnum):
    """What the numbers alone say of a claim."""

    HOLDS = "holds"
    NEAR = "within noise"
    REVERSED = "reversed within seed noise"
    FAILS = "fails"


@dataclass(frozen=True)
class Outcome:
    """What a rule found: the agreement, the numbers to be shown with how far each may miss, and
    where numbers miss.
    """

    agreement: Agreement
    values: np.ndarray
    allowed: np.ndarray
    reason: str = ""
    agreeing: int = 0


@dataclass(frozen=True)
class Rule:
    """How far numbers may miss, and why so much; `relative` is a share of the published value."""

    name: ClassVar[str]
    relative: float = 0.0
    why: str = ""

    def __str__(self) -> str:
        told = f"{self.name} ±{100 * self.relative:g} %" if self.relative else self.name
        return f"{told} ({self.why})" if self.why else told

    def allowed(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> np.ndarray:
        """Return how far each of the numbers (k,) may miss.

        `sigmas` standard errors are seed noise for a claim of one number. k numbers get a wider
        band, so that chance makes them fail no more often than one (Sidak). `paper` is what the
        claim measures in the paper's tables, None where they do not tell.
        """
        return np.abs(np.broadcast_to(published.values, here.values.shape)) * self.relative

    def judge(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> Outcome:
        """Hold measured numbers against the published ones."""
        misses = published.misses(here.values)
        allowed = self.allowed(published, here, paper, sigmas)
        near = misses <= allowed
        agreement = Agreement.FAILS
        if near.all():
            agreement = Agreement.HOLDS if (misses <= 0).all() else Agreement.NEAR
        reason = _furthest(published, here, misses, allowed)
        return Outcome(agreement, here.values, allowed, reason, int(near.sum()))


@dataclass(frozen=True)
class Equals(Rule):
    """A number agrees at the printed precision, or within the seed noise of both sides.

    A side without a spread is as noisy as the other. With `relative`, for times, the noise is that
    share of the published value.
    """

    name = "equals"
    why: str = SEEDS

    def allowed(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> np.ndarray:
        """Return the seed noise of both sides, or the share of the published value."""
        if self.relative:
            return super().allowed(published, here, paper, sigmas)
        own = here.errors
        other = np.full_like(own, np.nan) if paper is None else paper.errors
        own, other = (np.where(np.isnan(a), b, a) for a, b in ((own, other), (other, own)))
        return _band(sigmas, len(here)) * np.nan_to_num(np.hypot(own, other))


@dataclass(frozen=True)
class Bound(Rule):
    """A number keeps a bound, or passes it by no more than its own noise.

    However large the noise, it passes for no more than the bound's own size: twice the bound is
    another statement. With `relative`, for times, the noise is that share of the bound.
    """

    name = "bound"
    why: str = SEEDS

    def allowed(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> np.ndarray:
        """Return the noise of the measured numbers, or the share of the bound."""
        if self.relative:
            return super().allowed(published, here, paper, sigmas)
        noise = _band(sigmas, len(here)) * np.nan_to_num(here.errors)
        size = np.abs(np.broadcast_to(published.values, noise.shape))
        return np.minimum(noise, np.where(size > 0, size, np.inf))


@dataclass(frozen=True)
class Ordering(Rule):
    """Every margin lies on the claimed side: it holds, is reversed within noise, or is reversed.

    The margin nearest to failing is shown.
    """

    name = "ordering"
    why: str = "no margin on the wrong side is called agreement"

    def allowed(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> np.ndarray:
        """Return the noise of the measured margins."""
        return _band(sigmas, len(here)) * np.nan_to_num(here.errors)

    def judge(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> Outcome:
        """Hold margins against the bound; which of them is shown does not depend on their noise."""
        misses = published.misses(here.values)
        allowed = self.allowed(published, here, paper, sigmas)
        wrong, beyond = misses > 0, misses > allowed
        agreement = Agreement.HOLDS
        if wrong.any():
            agreement = Agreement.FAILS if beyond.any() else Agreement.REVERSED
        reason = ""
        if wrong.any() and len(here) > 1:
            reason = f"{wrong.sum()} of {len(here)} reversed, {beyond.sum()} beyond noise"
        upward = published.relation.startswith(">")
        nearest = [int((np.argmin if upward else np.argmax)(here.values))]
        return Outcome(agreement, here.values[nearest], allowed[nearest], reason)


@dataclass(frozen=True)
class Criterion(Rule):
    """A criterion of the paper, a count or the outcome of a test: exact, never within noise."""

    name = "criterion"


@dataclass(frozen=True)
class Structure(Rule):
    """What the code alone gives: exact, at the printed precision."""

    name = "structure"
    why: str = COUNTED


@dataclass(frozen=True)
class Spread(Rule):
    """Standard deviations agree as far as a two-sided F-test of the variances tells.

    With `relative`, for repeats of a timing, the noise is that share of the published value.
    """

    name = "spread"
    why: str = (
        "a standard deviation of three seeds is uncertain by a factor of six or more to either side"
    )

    def allowed(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> np.ndarray:
        """Return what the F-test leaves undecided, at the chance of `sigmas` shared among cells."""
        if self.relative:
            return super().allowed(published, here, paper, sigmas)
        from scipy import special  # a quarter of a second, for claims about spreads alone

        goals = np.broadcast_to(published.values, here.values.shape)
        sides = (here.sources, paper.sources if paper else [])
        ours, theirs = ([source.cell.n - 1 for source in side] for side in sides)
        more, half = here.values > goals, np.array([published.rounding(goal) for goal in goals])
        freedom = np.where(more, theirs, ours), np.where(more, ours, theirs)
        factor = 1 / np.sqrt(special.fdtri(*freedom, _chance(sigmas, len(goals))))
        fewer = (1 - 1 / factor) * np.maximum(0, goals - half)
        return np.where(more, (factor - 1) * (goals + half), fewer)


def _chance(sigmas: float, count: int) -> float:
    """Return the chance of one side that so many numbers fail together as seldom as one does."""
    return (1 - (1 - 2 * NORMAL.cdf(-sigmas)) ** (1 / count)) / 2


def _band(sigmas: float, count: int) -> float:
    """Return that chance's distance from the mean, in standard errors."""
    return -NORMAL.inv_cdf(_chance(sigmas, count))


def _furthest(published: Published, here: Estimate, misses: np.ndarray, allowed: np.ndarray) -> str:
    """Say which of several numbers misses most beyond what it may."""
    failing = int(np.count_nonzero(misses > allowed))
    if not failing or len(misses) == 1:
        return ""
    worst = int(np.argmax(np.where(allowed > 0, misses / np.where(allowed, allowed, 1), misses)))
    named = published.cells and len(here.sources) == len(misses)
    place = f" ({' '.join(here.sources[worst].key[:-1])})" if named else ""
    goal = np.broadcast_to(published.values, misses.shape)[worst]
    value, wanted = published.show([here.values[worst]]), published.show([goal])
    return f"{failing} of {len(misses)} miss; furthest{place} {value} against {wanted}"
