"""Whether a claim of the paper holds here: agreement within a tolerance, and under what conditions.

A number is reproduced when it agrees with the paper's at the precision the paper prints, or when
the relation the paper claims holds; it is within noise when it misses by no more than the claim's
tolerance. A run under other conditions than the paper's (data, steps, seeds, device) gets
neither verdict: its numbers are shown, with whether the claim would hold. Times are judged by the
paper's clock alone (see `evaluation.latency`), and not at all where other processes used the GPU
meanwhile. Claims about structure, such as parameter counts, depend on no conditions; in a preset
other than the paper's they hold rather than are reproduced.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from statistics import NormalDist

import numpy as np

from ..errors import UserError
from .aggregates import Aggregates
from .expressions import Estimate, NotMeasuredError, evaluate
from .provenance import PAPER_PRESET, SHARED_GPU, Scope

BOUNDS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
CELLS = "cells:"
NORMAL = NormalDist()
TOLERANCES = {"seeds": "seed noise", "spread": "F-test", "exact": "exact"}


class Verdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    WITHIN_NOISE = "within noise"
    HOLDS = "holds (structure)"
    NOT_REPRODUCED = "not reproduced"
    DIFFERENT = "different conditions"
    NOT_JUDGED = "not judged"
    NOT_MEASURED = "not measured"


LOOKS = {  # a sign, a style of the page, and what the verdict means
    Verdict.REPRODUCED: (
        "✓", "good", "agrees at the paper's printed precision, or the claimed relation holds"),
    Verdict.WITHIN_NOISE: ("≈", "near", "misses by no more than the tolerance stated beside it"),
    Verdict.HOLDS: (
        "=", "good", "about structure alone, and so in any preset; this one is not the paper's"),
    Verdict.NOT_REPRODUCED: ("✗", "bad", "misses by more, under the paper's conditions"),
    Verdict.DIFFERENT: (
        "≠", "other", "measured on other data, settings, seeds or devices: shown, not judged"),
    Verdict.NOT_JUDGED: (
        "○", "other", "timed on a GPU that other processes used: shown alone"),
    Verdict.NOT_MEASURED: ("–", "none", "no number here; the reason is given"),
}  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """A row of config/paper/claims.tsv.

    `where` names sections and tables of the paper; `measure` is an expression of
    `gblsr_repro.reporting.expressions`, empty for what this workflow does not measure (`note` says
    why); `published` is one number, several between slashes, bounds (<= 1.0 / 2.0), or `cells:3`
    for the published table cells, which have 3 decimals; `tolerance` is `seeds`, a percentage, an
    absolute number, `spread` (standard deviations alone: what an F-test allows), or `exact`, and
    `reason` says why so much.
    """

    id: str
    topic: str
    where: str
    claim: str
    measure: str
    published: str
    unit: str
    scope: str
    tolerance: str
    reason: str
    note: str

    @property
    def kind_of_tolerance(self) -> str:
        """The tolerance as readers are told it."""
        return TOLERANCES.get(self.tolerance, f"±{self.tolerance}")


@dataclass(frozen=True)
class Target:
    """The published side of a claim: a relation (= or a bound), its values, and how they print."""

    relation: str
    values: tuple[float, ...]
    decimals: int
    style: str = "f"
    signed: bool = False
    cells: bool = False

    @classmethod
    def parse(cls, text: str, published: Estimate | None = None) -> Target:
        """Read the `published` column; `published` holds the table cells where it names them."""
        if text.startswith(CELLS):
            if published is None:
                raise UserError(f"The published tables lack the cells of a claim ({text}).")
            return cls("=", tuple(published.values), int(text.removeprefix(CELLS)), cells=True)
        relation, _, rest = text.partition(" ")
        if relation not in BOUNDS:
            relation, rest = "=", text
        numbers = [part.strip() for part in rest.split("/")]
        try:
            values = tuple(map(float, numbers))
        except ValueError as error:
            raise UserError(f"The published value {text!r} is not made of numbers.") from error
        decimals = max(len(n.partition("e")[0].partition(".")[2]) for n in numbers)
        style = "e" if "e" in numbers[0] else "f"
        return cls(relation, values, decimals, style, numbers[0].startswith("+"))

    def rounding(self, value: float) -> float:
        """Return half a unit of the last printed decimal of `value`."""
        exponent = math.floor(math.log10(abs(value))) if self.style == "e" and value else 0
        return 0.5 * 10.0 ** (exponent - self.decimals) * (1 + 1e-9)

    def misses(self, values: np.ndarray) -> np.ndarray:
        """Return by how much each number misses the paper's (<= 0: agrees)."""
        goals = np.broadcast_to(self.values, values.shape)
        if self.relation == "=":
            return np.abs(values - goals) - [self.rounding(goal) for goal in goals]
        over = values - goals if self.relation.startswith("<") else goals - values
        holds = BOUNDS[self.relation](values, goals)
        return np.where(holds, np.minimum(over, 0), np.maximum(over, np.finfo(float).tiny))

    def show(self, values: Iterable[float]) -> str:
        """Print values as the paper prints its own."""
        form = (
            f"{'+' if self.signed else ''}{',' * (self.style == 'f')}.{self.decimals}{self.style}"
        )
        return " / ".join(format(value, form) for value in values)

    def show_measured(self, values: Collection[float]) -> str:
        """Print measured values: as the paper does, or with three digits beside a bound."""
        if self.relation == "=":
            return self.show(values)
        digits = [2 - math.floor(math.log10(abs(v))) if v != round(v) else 0 for v in values]
        return " / ".join(f"{v:,.{max(0, d)}f}" for v, d in zip(values, digits, strict=True))

    def __str__(self) -> str:
        if self.cells:
            return f"{len(self.values)} cells"
        shown = {"=": "", "<=": "≤ ", ">=": "≥ "}.get(self.relation, f"{self.relation} ")
        return shown + self.show(self.values)


@dataclass(frozen=True)
class Result:
    """A claim with its verdict.

    `agreement` is the verdict that the numbers alone would give, whatever the conditions (None:
    not measured or not judged); `differences` in what the conditions differ from the paper's; `why`
    why there is no number or no verdict, or where numbers miss; `values` the measured numbers,
    `allowed` how far each may miss.
    """

    claim: Claim
    verdict: Verdict
    paper: str
    measured: str = ""
    agreement: Verdict | None = None
    why: str = ""
    differences: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    targets: tuple[float, ...] = ()
    allowed: tuple[float, ...] = ()

    @property
    def holds(self) -> bool | None:
        """Whether the numbers agree within the tolerance (None: not measured or not judged)."""
        return None if self.agreement is None else self.agreement is not Verdict.NOT_REPRODUCED

    @property
    def would(self) -> str:
        """Whether the claim would hold if the conditions were the paper's."""
        within = " within noise" if self.agreement is Verdict.WITHIN_NOISE else ""
        return f"would hold{within}" if self.holds else "would not hold"

    @property
    def outcome(self) -> str:
        """The verdict in words, with whether the claim would hold under other conditions."""
        different = self.verdict is Verdict.DIFFERENT
        return f"{self.verdict}; {self.would}" if different else str(self.verdict)

    @property
    def tolerance(self) -> str:
        """How far the number may miss: a value where it is one for all, with its reason."""
        known = {format(value, ".2g") for value in self.allowed}
        exact = self.claim.tolerance in ("exact", "spread")
        return self.claim.kind_of_tolerance if exact or len(known) != 1 else f"±{known.pop()}"


def judge(claim: Claim, here: Aggregates, paper: Aggregates, sigmas: float) -> Result:
    """Compare one claim with the aggregates of this run.

    `sigmas` standard errors are seed noise for a claim of one number. A claim of k numbers gets
    a wider band, so that chance makes it fail no more often than a claim of one (Sidak).
    """
    published: Estimate | None = None
    if claim.measure:
        with suppress(NotMeasuredError):
            published = evaluate(claim.measure, paper)
    target = Target.parse(claim.published, published)
    scope, run = Scope(claim.scope), here.provenance
    absent = partial(Result, claim, Verdict.NOT_MEASURED, str(target))
    if not claim.measure:
        return absent(why=claim.note)
    try:
        measured = evaluate(claim.measure, here)
    except NotMeasuredError as error:
        reason = run.benchmark(scope.benchmark).without_lpips
        if reason and "lpips" in claim.measure:
            return absent(why=f"LPIPS was not measured: {reason}")
        return absent(why=str(error))
    values, count = measured.values, len(target.values)
    if len(values) != count and (target.relation == "=" or count > 1):
        raise UserError(
            f"config/paper/claims.tsv, claim {claim.id!r}: the paper has {count} numbers, the "
            f"measure {len(values)}."
        )
    if not np.isfinite(values).all():
        return absent(why="a value is not finite")
    misses = target.misses(values)
    allowed = _allowed(claim.tolerance, target, measured, published, sigmas)
    near = misses <= allowed
    outcome = Verdict.NOT_REPRODUCED
    if near.all():
        outcome = Verdict.REPRODUCED if (misses <= 0).all() else Verdict.WITHIN_NOISE
    # What keeps the numbers from being judged, of the arms and data sets that they are of.
    columns = {use.dataset for use in measured.of}
    subjects = {use.subject for use in measured.of}
    every = run.differences([scope], subjects, columns)
    found = [difference for difference in every if difference.blocks_verdict]
    structural = scope is Scope.STRUCTURE
    if structural and outcome is not Verdict.NOT_REPRODUCED:
        found = []  # it differs only where another preset gives other numbers
    result = Result(
        claim,
        Verdict.DIFFERENT if found else outcome,
        str(target),
        f"{near.sum()} of {count} agree" if target.cells else target.show_measured(values),
        outcome,
        _furthest(target, measured, misses, allowed),
        tuple(difference.short for difference in found),
        tuple(values.tolist()),
        target.values,
        tuple(allowed.tolist()),
    )
    if SHARED_GPU in result.differences:
        return replace(result, verdict=Verdict.NOT_JUDGED, agreement=None, allowed=(),
                       why=SHARED_GPU)  # fmt: skip
    if structural and not found and run.preset != PAPER_PRESET:
        return replace(result, verdict=Verdict.HOLDS)
    return result


def _allowed(
    tolerance: str, target: Target, here: Estimate, paper: Estimate | None, sigmas: float
) -> np.ndarray:
    """Return how far numbers may miss: `seeds`, `spread`, `exact`, a percentage, or a number.

    Seed noise combines the standard errors of both sides; a side without one is as noisy as the
    other, and a bound is exact. Standard deviations may miss as far as a two-sided F-test of the
    variances allows, at the chance of `sigmas` shared among the cells.
    """
    goals = np.broadcast_to(target.values, here.values.shape)
    if tolerance not in ("seeds", "spread"):
        allowed = 0.0 if tolerance == "exact" else float(tolerance.removesuffix("%"))
        return np.abs(goals) * allowed / 100 if "%" in tolerance else np.full_like(goals, allowed)
    # The band of so many numbers that together fail as seldom as one beyond `sigmas`.
    chance = (1 - (1 - 2 * NORMAL.cdf(-sigmas)) ** (1 / len(goals))) / 2
    if tolerance == "seeds":
        own, other = here.errors, np.zeros_like(here.errors)
        if target.relation == "=":
            other = np.full_like(own, np.nan) if paper is None else paper.errors
            own, other = (np.where(np.isnan(a), b, a) for a, b in ((own, other), (other, own)))
        return -NORMAL.inv_cdf(chance) * np.nan_to_num(np.hypot(own, other))
    from scipy import special  # a quarter of a second, for claims about spreads alone

    ours, theirs = ([use.cell.n - 1 for use in side.of] if side else [] for side in (here, paper))
    more, half = here.values > goals, np.array([target.rounding(goal) for goal in goals])
    freedom = np.where(more, theirs, ours), np.where(more, ours, theirs)
    factor = 1 / np.sqrt(special.fdtri(*freedom, chance))
    fewer = (1 - 1 / factor) * np.maximum(0, goals - half)
    return np.where(more, (factor - 1) * (goals + half), fewer)


def _furthest(target: Target, found: Estimate, misses: np.ndarray, allowed: np.ndarray) -> str:
    """Say which of several numbers misses most beyond what it may."""
    failing = int(np.count_nonzero(misses > allowed))
    if not failing or len(misses) == 1:
        return ""
    worst = int(np.argmax(np.where(allowed > 0, misses / np.where(allowed, allowed, 1), misses)))
    named = target.cells and len(found.of) == len(misses)
    place = f" ({' '.join(found.of[worst].key[:-1])})" if named else ""
    goal = np.broadcast_to(target.values, misses.shape)[worst]
    value, wanted = target.show([found.values[worst]]), target.show([goal])
    return f"{failing} of {len(misses)} miss; furthest{place} {value} against {wanted}"
