"""Whether a claim of the paper holds here: agreement within a tolerance, and under what conditions.

A number is reproduced when it agrees with the paper's at the precision the paper prints, or when
the relation the paper claims holds; it is within noise when it misses by no more than the claim's
tolerance. A run under other conditions than the paper's (data, steps, seeds, device) gets
neither verdict: its numbers are shown, with whether the claim would hold. Times are judged by the
paper's clock alone (see `evaluation.latency`), and not at all where other processes used the GPU
meanwhile. Claims about structure,
such as parameter counts, depend on no conditions; in a preset other than the paper's they hold
rather than are reproduced.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

import numpy as np
from scipy import stats

from ..config import datasets
from ..errors import UserError
from .captions import SHARED_GPU, named_settings
from .measures import Aggregates, Measure, NotMeasuredError, Use, evaluate, parse

Conditions = Mapping[str, Any]

BOUNDS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
CELLS = "cells:"
PAPER_PRESET = "paper"


class Verdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    WITHIN_NOISE = "within noise"
    HOLDS = "holds (structure)"
    NOT_REPRODUCED = "not reproduced"
    DIFFERENT = "different conditions"
    NOT_JUDGED = "not judged"
    NOT_MEASURED = "not measured"


class Scope(StrEnum):
    """What a claim depends on, and hence which conditions must be the paper's."""

    STRUCTURE = "structure"
    QUALITY = "quality"
    LOCALITY = "locality"
    LATENCY = "latency"
    COST = "cost"
    ASR_QUALITY = "asr_quality"
    ASR_LATENCY = "asr_latency"
    ASR_COST = "asr_cost"

    @property
    def half(self) -> str:
        """The benchmark: native or asr."""
        return "asr" if self.startswith("asr") else "native"

    @property
    def kind(self) -> str:
        """The scope without its benchmark."""
        return self.removeprefix("asr_")


@dataclass(frozen=True)
class Claim:
    """A row of config/paper/claims.tsv.

    `where` names sections and tables of the paper; `measure` is an expression of
    `gblsr_repro.reporting.measures`, empty for what this workflow does not measure (`note` says
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
    def parse(cls, text: str, published: Measure | None = None) -> Target:
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
            exponents = {int(Decimal(number).as_tuple().exponent) for number in numbers}
        except InvalidOperation as error:
            raise UserError(f"The published value {text!r} is not made of numbers.") from error
        scientific = "e" in numbers[0]
        decimals = (
            len(numbers[0].partition("e")[0].partition(".")[2])
            if scientific
            else max(0, -min(exponents))
        )
        return cls(
            relation,
            tuple(float(number) for number in numbers),
            decimals,
            "e" if scientific else "f",
            numbers[0].startswith("+"),
        )

    def rounding(self, value: float) -> float:
        """Return half a unit of the last printed decimal of `value`."""
        exponent = math.floor(math.log10(abs(value))) if self.style == "e" and value else 0
        return 0.5 * 10.0 ** (exponent - self.decimals) * (1 + 1e-9)

    def show(self, values: Iterable[float]) -> str:
        """Print values as the paper prints its own."""
        comma = "," if self.style == "f" else ""
        form = f"{'+' if self.signed else ''}{comma}.{self.decimals}{self.style}"
        return " / ".join(format(value, form) for value in values)

    def show_measured(self, values: Iterable[float]) -> str:
        """Print measured values: as the paper does, or with three digits beside a bound."""
        if self.relation == "=":
            return self.show(values)
        return " / ".join(_three_digits(value) for value in values)


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


def check(claim: Claim) -> None:
    """Raise `UserError` when a row of the registry cannot be used."""
    try:
        if claim.measure:
            parse(claim.measure)
        elif not claim.note:
            raise UserError("it has no measure, so its note must say why.")
        if not claim.published.startswith(CELLS):
            Target.parse(claim.published)
        Scope(claim.scope)
        _band(claim.tolerance, 0.0, 0.0, 1.0)
    except (UserError, ValueError) as error:
        raise UserError(f"config/paper/claims.tsv, claim {claim.id!r}: {error}") from error


def judge(
    claim: Claim,
    here: Aggregates,
    paper: Aggregates,
    conditions: Conditions,
    paper_conditions: Conditions,
    sigmas: float,
) -> Result:
    """Compare one claim with the aggregates of this run.

    `sigmas` standard errors are seed noise for a claim of one number. A claim of k numbers gets
    a wider band, so that chance makes it fail no more often than a claim of one (Sidak).
    """
    published = _published(claim, paper)
    target = Target.parse(claim.published, published)
    count = len(target.values)
    printed = f"{count} cells" if target.cells else _relation(target) + target.show(target.values)
    if not claim.measure:
        return Result(claim, Verdict.NOT_MEASURED, printed, why=claim.note)
    try:
        measured, uses = evaluate(claim.measure, here)
    except NotMeasuredError as error:
        why = _without_lpips(claim, conditions) or str(error)
        return Result(claim, Verdict.NOT_MEASURED, printed, why=why)
    if len(measured.values) != count and (target.relation == "=" or count > 1):
        raise UserError(
            f"config/paper/claims.tsv, claim {claim.id!r}: the paper has {count} numbers, the "
            f"measure {len(measured.values)}."
        )
    if not np.isfinite(measured.values).all():
        return Result(claim, Verdict.NOT_MEASURED, printed, why="a value is not finite")
    misses, allowed = _misses(claim, target, measured, published, sigmas)
    if claim.tolerance == "spread":
        allowed = _spread_bands(target, measured, uses, (here, paper), sigmas)
    exact = misses <= 0
    near = misses <= allowed
    outcome = (
        Verdict.REPRODUCED
        if exact.all()
        else Verdict.WITHIN_NOISE
        if near.all()
        else Verdict.NOT_REPRODUCED
    )
    differences = tuple(
        differences_of(Scope(claim.scope), uses, conditions, paper_conditions, outcome)
    )
    shown = (
        f"{int(near.sum())} of {count} agree"
        if target.cells
        else target.show_measured(measured.values)
    )
    if _on_shared_gpu(Scope(claim.scope), uses, conditions):
        return Result(
            claim, Verdict.NOT_JUDGED, printed, shown, why=SHARED_GPU, differences=differences,
            values=tuple(measured.values.tolist()), targets=target.values,
        )  # fmt: skip
    structural = claim.scope == Scope.STRUCTURE and conditions.get("preset") != PAPER_PRESET
    return Result(
        claim,
        Verdict.DIFFERENT if differences else Verdict.HOLDS if structural else outcome,
        printed,
        shown,
        outcome,
        _furthest(target, measured, misses, allowed, uses),
        differences,
        tuple(measured.values.tolist()),
        target.values,
        tuple(np.broadcast_to(allowed, misses.shape).tolist()),
    )


def _published(claim: Claim, paper: Aggregates) -> Measure | None:
    if not claim.measure:
        return None
    try:
        return evaluate(claim.measure, paper)[0]
    except NotMeasuredError:
        return None


def _three_digits(value: float) -> str:
    if value == round(value):
        return f"{value:,.0f}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def _relation(target: Target) -> str:
    return {"=": "", "<=": "≤ ", ">=": "≥ "}.get(target.relation, target.relation + " ")


def _without_lpips(claim: Claim, conditions: Conditions) -> str | None:
    record = conditions.get(Scope(claim.scope).half, {}).get("lpips", {})
    if "lpips" in claim.measure and record.get("measured") is False:
        return f"LPIPS was not measured: {record.get('reason') or 'no reason recorded'}"
    return None


def _misses(
    claim: Claim, target: Target, measured: Measure, published: Measure | None, sigmas: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much each number misses the paper's (<= 0: agrees) and how much it may."""
    count = len(measured.values)
    goals = np.broadcast_to(np.asarray(target.values), (count,))
    if target.relation == "=":
        misses = np.abs(measured.values - goals) - [target.rounding(goal) for goal in goals]
        errors = _joint_errors(measured, published)
    else:
        over = measured.values - goals
        misses = over if target.relation.startswith("<") else -over
        holds = BOUNDS[target.relation](measured.values, goals)
        misses = np.where(holds, np.minimum(misses, 0), np.maximum(misses, np.finfo(float).tiny))
        errors = np.nan_to_num(measured.errors)
    band = _sidak(sigmas, count)
    pairs = zip(errors, goals, strict=True)
    return misses, np.asarray([_band(claim.tolerance, error, goal, band) for error, goal in pairs])


def _spread_bands(
    target: Target,
    measured: Measure,
    uses: Sequence[Use],
    sides: tuple[Aggregates, Aggregates],
    sigmas: float,
) -> np.ndarray:
    """Return how far standard deviations may miss: as far as an F-test of the variances allows.

    `uses` holds the cells in the order of the values, `sides` this run's aggregates and the
    paper's. The test is two-sided, at the chance of `sigmas` shared among the cells.
    """
    chance = stats.norm.sf(_sidak(sigmas, len(uses)))
    bands = []
    for use, value, goal in zip(uses, measured.values, target.values, strict=True):
        here, there = (side.summary(use.table, use.key).n - 1 for side in sides)
        if value > goal:
            factor = math.sqrt(stats.f.isf(chance, here, there))
            bands.append((factor - 1) * (goal + target.rounding(goal)))
        else:
            factor = math.sqrt(stats.f.isf(chance, there, here))
            bands.append((1 - 1 / factor) * max(0.0, goal - target.rounding(goal)))
    return np.asarray(bands)


def _joint_errors(measured: Measure, published: Measure | None) -> np.ndarray:
    """Combine the standard errors of both sides; a side without one is as noisy as the other."""
    here = measured.errors
    there = np.full_like(here, np.nan) if published is None else published.errors
    here, there = np.where(np.isnan(here), there, here), np.where(np.isnan(there), here, there)
    return np.nan_to_num(np.hypot(here, there))


def _sidak(sigmas: float, count: int) -> float:
    """Widen a band of `sigmas` so that `count` numbers together fail as seldom as one."""
    chance = 2 * stats.norm.sf(sigmas)
    return float(stats.norm.isf((1 - (1 - chance) ** (1 / count)) / 2))


def _band(tolerance: str, error: float, goal: float, sigmas: float) -> float:
    """Return how far a number may miss: `seeds`, `exact`, a percentage, or a number."""
    if tolerance == "seeds":
        return sigmas * error
    if tolerance in ("exact", "spread"):  # spreads have a band of their own, see _spread_bands
        return 0.0
    if tolerance.endswith("%"):
        return abs(goal) * float(tolerance.removesuffix("%")) / 100
    return float(tolerance)


def _furthest(
    target: Target, measured: Measure, misses: np.ndarray, allowed: np.ndarray, uses: Sequence[Use]
) -> str:
    """Say which of several numbers misses most beyond what it may."""
    beyond = misses - allowed
    failing = int(np.count_nonzero(beyond > 0))
    if not failing or len(misses) == 1:
        return ""
    worst = int(np.argmax(np.where(allowed > 0, misses / np.where(allowed, allowed, 1), misses)))
    place = f" ({uses[worst].label})" if target.cells and len(uses) == len(misses) else ""
    value = target.show(measured.values[worst : worst + 1])
    goal = target.show(np.broadcast_to(target.values, misses.shape)[worst : worst + 1])
    return f"{failing} of {len(misses)} miss; furthest{place} {value} against {goal}"


# --- conditions -----------------------------------------------------------------------------------


def differences_of(
    scope: Scope,
    uses: Sequence[Use],
    conditions: Conditions,
    paper: Conditions,
    outcome: Verdict = Verdict.NOT_REPRODUCED,
) -> list[str]:
    """Return in what the conditions of the numbers in `uses` differ from the paper's.

    What a claim rests on and the run did not record counts as different. Structure differs only
    where a preset other than the paper's gives other numbers.
    """
    preset = conditions.get("preset")
    found = [] if preset == PAPER_PRESET else [f"preset {preset or 'not recorded'}"]
    if scope is Scope.STRUCTURE:
        return found if outcome is Verdict.NOT_REPRODUCED else []
    run, published = conditions.get(scope.half, {}), paper[scope.half]
    subjects = sorted({use.subject for use in uses})
    if run.get("changed_model"):
        found.append("networks of other sizes or settings")
    found += _seeds(run, subjects, published["seeds"])
    if scope.half == "native":
        found += _image_size(conditions.get("image_size"), published["image_size"])
    if scope.kind in ("quality", "locality", "cost"):
        found += _training(run, published)
    if scope.kind in ("quality", "locality"):
        found += _data(run.get("train"), "trained on", published["train"])
    # Super-resolution times depend on the sizes of the images; native images have one size.
    sized = scope is Scope.ASR_LATENCY and not run.get("timed_sizes_only")
    if scope.kind in ("quality", "locality") or sized:
        for column in sorted({use.dataset for use in uses} & set(published["evaluate"])):
            found += _data((run.get("evaluate") or {}).get(column), f"{column}:", None)
    kind = {"latency": "timing"}.get(scope.kind, "measuring")
    if scope.kind in ("quality", "locality", "latency"):
        found += _others(kind, run.get(f"changed_{kind}"))
    if scope.kind in ("latency", "cost"):
        key = "latency_devices" if scope.kind == "latency" else "devices"
        found += _device(run.get(key), published["device"])
    return list(dict.fromkeys(found))


def _on_shared_gpu(scope: Scope, uses: Sequence[Use], conditions: Conditions) -> bool:
    """Say whether a time in `uses` was taken while other processes used the GPU."""
    shared = conditions.get(scope.half, {}).get("latency_shared") or ()
    return scope.kind == "latency" and any(use.subject in shared for use in uses)


def _seeds(run: Conditions, subjects: Sequence[str], wanted: Sequence[int]) -> list[str]:
    """Compare the seeds of each arm or method; timings of untrained models have none recorded."""
    trained = run.get("arms") or run.get("methods") or {}
    found = []
    for subject in subjects:
        seeds = trained.get(subject, run.get("seeds"))
        if seeds is not None and list(seeds) != list(wanted):
            found.append(_listed("seed", seeds))
    return found


def _image_size(size: int | None, wanted: int) -> list[str]:
    if size == wanted:
        return []
    return [f"images of {size} pixels" if size else "image size not recorded"]


def _training(run: Conditions, paper: Conditions) -> list[str]:
    labels = {"steps": "steps", "batch_size": "images in a batch"}
    told = [key for key in labels if key in paper]
    found = [f"{_number(run.get(k))} {labels[k]}" for k in told if run.get(k) != paper[k]]
    changed = [key for key in run.get("changed_training") or [] if key not in told]
    return found + _others("training", changed)


def _others(what: str, changed: Sequence[str] | None) -> list[str]:
    names = named_settings(changed or ())
    return [f"other {what} settings ({', '.join(names)})"] if names else []


def _data(records: Any, label: str, wanted: Sequence[str] | None) -> list[str]:
    if not records:
        return [f"{label} images not recorded"]
    found = []
    for record in records:
        images = record.get("images")
        if record.get("stands_in_for"):
            replaced = data_title(record["stands_in_for"])
            found.append(f"{label} {record['title']} in place of {replaced}")
        elif not record.get("complete"):
            found.append(
                f"{label} {images} of {record.get('expected')} images of {record['title']}"
            )
    if wanted and not found and [r.get("dataset") for r in records] != list(wanted):
        found.append(f"{label} {', '.join(str(r.get('title')) for r in records)}")
    return found


def data_title(name: str) -> str:
    """Return the title of a data set; a name that config/datasets.tsv lacks stands for itself."""
    row = datasets().get(name)
    return row.title if row else name


def _device(names: Sequence[str] | None, wanted: str) -> list[str]:
    if not names:
        return ["device not recorded"]
    return [f"on {name}" for name in names if name != wanted]


def _listed(noun: str, values: Sequence[int]) -> str:
    return f"{noun}{'s' if len(values) != 1 else ''} {', '.join(map(str, values))}"


def _number(value: Any) -> str:
    if value is None:
        return "unrecorded"
    if isinstance(value, list):
        return f"{min(value):,} to {max(value):,}"
    return f"{value:,}"
