"""Compare measured numbers with published ones by the rule of a claim.

A rule sets how far numbers may miss and what a miss is called. It is as strict as the statement: a
criterion, a count or an order holds or does not, and a number that agrees at the precision printed
in the paper needs no allowance for noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from .estimates import Estimate
from .published import Published

NORMAL = NormalDist()
SEEDS = "three seeds leave noise in both means"
COUNTED = "counted, not measured"


class Agreement(StrEnum):
    """How measured and published numbers agree, whatever the conditions."""

    HOLDS = "holds"
    NEAR = "within noise"
    REVERSED = "reversed within seed noise"
    FAILS = "fails"


@dataclass(frozen=True)
class Outcome:
    """The result of a rule: the agreement, and the numbers to show with how far each may miss.

    `reason` says where numbers miss, `agreeing` counts those that do not.
    """

    agreement: Agreement
    values: np.ndarray
    allowed: np.ndarray
    reason: str = ""
    agreeing: int = 0


@dataclass(frozen=True)
class Rule:
    """A rule: numbers may miss by `relative` times the published value; `why` gives the reason."""

    name: ClassVar[str]
    relative: float = 0.0
    why: str = ""

    def __str__(self) -> str:
        text = f"{self.name} ±{100 * self.relative:g} %" if self.relative else self.name
        return f"{text} ({self.why})" if self.why else text

    def compute_allowance(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> np.ndarray:
        """Compute how far each of the numbers (k,) may miss: a share of the published, or noise."""
        if self.relative:
            return np.abs(np.broadcast_to(published.values, here.values.shape)) * self.relative
        return self.compute_noise(published, here, paper, sigmas)

    def compute_noise(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> np.ndarray:
        """Compute the seed noise that each of the numbers (k,) is allowed, by default none.

        `sigmas` standard errors are seed noise for a claim of one number. k numbers get a wider
        band, so that chance makes them fail no more often than one (Sidak). `paper` is the claim
        measured in the paper's tables, None where they do not determine it.
        """
        return np.zeros_like(here.values)

    def judge(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> Outcome:
        """Compare measured numbers with the published ones."""
        misses = published.compute_misses(here.values)
        allowed = self.compute_allowance(published, here, paper, sigmas)
        near = misses <= allowed
        agreement = Agreement.FAILS
        if near.all():
            agreement = Agreement.HOLDS if (misses <= 0).all() else Agreement.NEAR
        reason = _describe_furthest_miss(published, here, misses, allowed)
        return Outcome(agreement, here.values, allowed, reason, int(near.sum()))


@dataclass(frozen=True)
class Equals(Rule):
    """A number agrees at the printed precision, or within the seed noise of both sides.

    A side without a spread is as noisy as the other. With `relative`, for times, the noise is that
    share of the published value.
    """

    name = "equals"
    why: str = SEEDS

    def compute_noise(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> np.ndarray:
        """Compute the seed noise of both sides."""
        own = here.errors
        other = np.full_like(own, np.nan) if paper is None else paper.errors
        own, other = (np.where(np.isnan(a), b, a) for a, b in ((own, other), (other, own)))
        return _sigmas_per_number(sigmas, len(here)) * np.nan_to_num(np.hypot(own, other))


@dataclass(frozen=True)
class Bound(Rule):
    """A number keeps a bound, or passes it by no more than its own noise.

    However large the noise, it passes for no more than the bound's own size: twice the bound is
    another statement. With `relative`, for times, the noise is that share of the bound.
    """

    name = "bound"
    why: str = SEEDS

    def compute_noise(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> np.ndarray:
        """Compute the noise of the measured numbers."""
        noise = _sigmas_per_number(sigmas, len(here)) * np.nan_to_num(here.errors)
        size = np.abs(np.broadcast_to(published.values, noise.shape))
        return np.minimum(noise, np.where(size > 0, size, np.inf))


@dataclass(frozen=True)
class Ordering(Rule):
    """Every margin lies on the claimed side: it holds, is reversed within noise, or is reversed.

    The margin nearest to failing is shown.
    """

    name = "ordering"
    why: str = "no margin on the wrong side is called agreement"

    def compute_noise(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> np.ndarray:
        """Compute the noise of the measured margins."""
        return _sigmas_per_number(sigmas, len(here)) * np.nan_to_num(here.errors)

    def judge(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> Outcome:
        """Compare margins with the bound; which of them is shown does not depend on their noise."""
        misses = published.compute_misses(here.values)
        allowed = self.compute_allowance(published, here, paper, sigmas)
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
    """A number that follows from the code alone: exact, at the printed precision."""

    name = "structure"
    why: str = COUNTED


@dataclass(frozen=True)
class Spread(Rule):
    """Standard deviations agree unless a two-sided F-test of the variances tells them apart.

    With `relative`, for repeats of a timing, the noise is that share of the published value.
    """

    name = "spread"
    why: str = (
        "a standard deviation of three seeds is uncertain by a factor of six or more to either side"
    )

    def compute_noise(
        self, published: Published, here: Estimate, paper: Estimate | None, sigmas: float
    ) -> np.ndarray:
        """Compute what the F-test leaves undecided, at the chance of `sigmas` over all cells."""
        from scipy import special  # a quarter of a second, for claims about spreads alone

        goals = np.broadcast_to(published.values, here.values.shape)
        sides = (here.sources, paper.sources if paper else [])
        ours, theirs = ([source.cell.n - 1 for source in side] for side in sides)
        more = here.values > goals
        half = np.array([published.compute_half_unit(goal) for goal in goals])
        freedom = np.where(more, theirs, ours), np.where(more, ours, theirs)
        factor = 1 / np.sqrt(special.fdtri(*freedom, _chance_per_number(sigmas, len(goals))))
        fewer = (1 - 1 / factor) * np.maximum(0, goals - half)
        return np.where(more, (factor - 1) * (goals + half), fewer)


TIME = Equals(0.1, "host, driver and library versions move a launch-bound time")
RATIO = Equals(0.05, "ratios of times move less with host and versions than times")
MEMORY = Equals(0.05, "allocator and library versions change work space")
SLOWER = Bound(0.2, "data path and host differ; only slower training contradicts the paper")
COUNT = Criterion(why=COUNTED)
TEST = Criterion(why="the test itself allows for seed noise")


def _chance_per_number(sigmas: float, count: int) -> float:
    """Return the one-sided chance at which `count` numbers together fail as rarely as one."""
    return -math.expm1(math.log1p(-2 * NORMAL.cdf(-sigmas)) / count) / 2


def _sigmas_per_number(sigmas: float, count: int) -> float:
    """Convert the chance per number into a distance from the mean, in standard errors."""
    return -NORMAL.inv_cdf(_chance_per_number(sigmas, count))


def _describe_furthest_miss(
    published: Published, here: Estimate, misses: np.ndarray, allowed: np.ndarray
) -> str:
    """Name the number that misses most beyond its allowance; empty for a single number."""
    failing = int(np.count_nonzero(misses > allowed))
    if not failing or len(misses) == 1:
        return ""
    worst = int(np.argmax(np.where(allowed > 0, misses / np.where(allowed, allowed, 1), misses)))
    has_cells = published.cells and len(here.sources) == len(misses)
    place = f" ({' '.join(here.sources[worst].key[:-1])})" if has_cells else ""
    goal = np.broadcast_to(published.values, misses.shape)[worst]
    value, wanted = published.format([here.values[worst]]), published.format([goal])
    return f"{failing} of {len(misses)} miss; furthest{place} {value} against {wanted}"
