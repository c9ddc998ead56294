"""Compute with estimates: arrays of numbers with standard errors.

Standard errors are propagated to first order as if all terms were independent, which overstates the
noise of terms that share a mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .. import statistics
from ..metrics import METRICS
from ..reader import Key
from ..statistics import Summary


class NotMeasuredError(Exception):
    """The aggregates lack a number; the message names it."""


@dataclass(frozen=True)
class Source:
    """A number of the aggregates that an estimate is computed from.

    `aggregate` and `key` are its place; `dataset` and `subject` are its data set and its arm or
    method.
    """

    aggregate: str
    key: Key
    dataset: str
    subject: str
    cell: Summary


@dataclass(frozen=True)
class Estimate:
    """An array of numbers with standard errors.

    `values` (k,); `errors` (k,), NaN where the spread over seeds is unknown; `sources`, the numbers
    of the aggregates that it is computed from: one for each value, in order, when just read.
    """

    values: np.ndarray
    errors: np.ndarray
    sources: Sequence[Source] = ()

    @classmethod
    def exact(cls, values: Iterable[float], sources: Sequence[Source] = ()) -> Estimate:
        """Build an estimate with errors of 0."""
        array = np.asarray(list(values), dtype=np.float64)
        return cls(array, np.zeros_like(array), sources)

    @classmethod
    def convert(cls, value: Estimate | float) -> Estimate:
        """Convert a number to an estimate with an error of 0; return an estimate unchanged."""
        return value if isinstance(value, Estimate) else cls.exact([value])

    def __len__(self) -> int:
        return len(self.values)

    # --- arithmetic -------------------------------------------------------------------------------

    def _with(self, other: Estimate | float, compute: Callable[[Estimate, Estimate], Estimate]
              ) -> Estimate:  # fmt: skip
        right = Estimate.convert(other)
        return replace(compute(self, right), sources=(*self.sources, *right.sources))

    def __add__(self, other: Estimate | float) -> Estimate:
        return self._with(other, lambda a, b: Estimate(a.values + b.values, _noise(a, b)))

    def __sub__(self, other: Estimate | float) -> Estimate:
        return self._with(other, lambda a, b: Estimate(a.values - b.values, _noise(a, b)))

    def __mul__(self, other: Estimate | float) -> Estimate:
        def product(a: Estimate, b: Estimate) -> Estimate:
            return Estimate(a.values * b.values, np.hypot(a.errors * b.values, b.errors * a.values))

        return self._with(other, product)

    def __truediv__(self, other: Estimate | float) -> Estimate:
        return self._with(other, _ratio)

    def __rsub__(self, other: float) -> Estimate:
        return Estimate.convert(other) - self

    def __rmul__(self, other: float) -> Estimate:
        return Estimate.convert(other) * self

    def __rtruediv__(self, other: float) -> Estimate:
        return Estimate.convert(other) / self

    def __neg__(self) -> Estimate:
        return replace(self, values=-self.values)

    def __abs__(self) -> Estimate:
        return replace(self, values=np.abs(self.values))

    # --- columns of a table: the same metric and data set, several arms or methods ----------------

    def group_columns(self) -> list[list[int]]:
        """Group the positions of numbers that differ only in their arm or method."""
        columns: dict[Key, list[int]] = {}
        for place, source in enumerate(self.sources if len(self.sources) == len(self) else ()):
            shared = tuple(part for part in source.key if part != source.subject)
            columns.setdefault(shared, []).append(place)
        return list(columns.values())

    def read_spreads(self) -> list[Summary]:
        """Return the means over seeds, or raise `NotMeasuredError` where one has no deviation."""
        for source in self.sources:
            if not source.cell.spread:
                raise NotMeasuredError(f"{' '.join(source.key)} has no spread over seeds")
        return [source.cell for source in self.sources]

    def select(self, places: Sequence[int]) -> Estimate:
        """Select elements by position; all sources are kept."""
        return replace(self, values=self.values[places], errors=self.errors[places])


def _noise(a: Estimate, b: Estimate) -> np.ndarray:
    return np.hypot(a.errors, b.errors)


def _ratio(a: Estimate, b: Estimate) -> Estimate:
    if not b.values.all():
        raise NotMeasuredError("a divisor is 0")
    ratio = a.values / b.values
    return Estimate(ratio, np.hypot(a.errors, b.errors * ratio) / np.abs(b.values))


# --- of any numbers -------------------------------------------------------------------------------


def concatenate(*parts: Estimate) -> Estimate:
    """Concatenate estimates."""
    values, errors = ([getattr(part, name) for part in parts] for name in ("values", "errors"))
    sources = [source for part in parts for source in part.sources]
    return Estimate(np.concatenate(values), np.concatenate(errors), sources)


def minimum(x: Estimate) -> Estimate:
    """Return the lowest element with its error."""
    return x.select([int(np.argmin(x.values))])


def maximum(x: Estimate) -> Estimate:
    """Return the highest element with its error."""
    return x.select([int(np.argmax(x.values))])


def span(x: Estimate) -> Estimate:
    """Return the lowest and the highest element."""
    return x.select([int(np.argmin(x.values)), int(np.argmax(x.values))])


def total(x: Estimate) -> Estimate:
    """Return the sum."""
    error = np.sqrt(np.square(x.errors).sum(keepdims=True))
    return Estimate(x.values.sum(keepdims=True), error, x.sources)


def mean(x: Estimate) -> Estimate:
    """Return the arithmetic mean."""
    whole = total(x)
    return replace(whole, values=whole.values / len(x), errors=whole.errors / len(x))


def geometric_mean(x: Estimate) -> Estimate:
    """Return the geometric mean."""
    logs = mean(Estimate(np.log(x.values), x.errors / x.values))
    middle = np.exp(logs.values)
    return Estimate(middle, middle * logs.errors, x.sources)


def count(x: Estimate) -> Estimate:
    """Count the elements that are not 0."""
    return Estimate.exact([int(np.count_nonzero(x.values))], x.sources)


# --- of numbers over seeds, between arms or methods -----------------------------------------------


def highest_mean(x: Estimate) -> Estimate:
    """Return the highest mean of every column of arms or methods."""
    return x.select([column[int(np.argmax(x.values[column]))] for column in x.group_columns()])


def lowest_mean(x: Estimate) -> Estimate:
    """Return the lowest mean of every column of arms or methods."""
    return x.select([column[int(np.argmin(x.values[column]))] for column in x.group_columns()])


def deviations(x: Estimate) -> Estimate:
    """Return the standard deviations over seeds."""
    return Estimate.exact((cell.std for cell in x.read_spreads()), x.sources)


def relative_deviations(x: Estimate) -> Estimate:
    """Return the standard deviations over seeds in percent of the means."""
    return 100 * deviations(x) / Estimate.exact(x.values)


def bold(x: Estimate, alpha: float) -> Estimate:
    """Return 1 for every number that the rule of the paper's main tables sets in bold, else 0."""
    cells, flags = x.read_spreads(), np.zeros(len(x))
    metric = METRICS[x.sources[0].key[-1]]
    for column in x.group_columns():
        flags[column] = statistics.mark_bold([cells[place] for place in column], metric, alpha)
    return Estimate.exact(flags, x.sources)


def pooled_p(x: Estimate) -> Estimate:
    """Return the two-sided p of the pooled t-test for every pair of arms or methods."""
    return _apply_test(x, statistics.compute_pooled_p)


def pooled_p_above(x: Estimate) -> Estimate:
    """Return `pooled_p` where the first of a pair has the higher mean, else 1."""
    return _apply_test(
        x, lambda a, b: statistics.compute_pooled_p(a, b) if a.mean > b.mean else 1.0
    )


def welch_t(x: Estimate) -> Estimate:
    """Return |t| of Welch's t-test for every pair of arms or methods."""
    return _apply_test(x, lambda a, b: _compute_welch(a, b)[0])


def welch_freedom(x: Estimate) -> Estimate:
    """Return the Welch-Satterthwaite degrees of freedom for every pair of arms or methods."""
    return _apply_test(x, lambda a, b: _compute_welch(a, b)[1])


def _apply_test(x: Estimate, test: Callable[[Summary, Summary], float]) -> Estimate:
    cells = x.read_spreads()
    return Estimate.exact((test(cells[a], cells[b]) for a, b in x.group_columns()), x.sources)


def _compute_welch(a: Summary, b: Summary) -> tuple[float, float]:
    """Return |t| and the Welch-Satterthwaite degrees of freedom."""
    u, v = a.std**2 / a.n, b.std**2 / b.n
    if u + v == 0:
        raise NotMeasuredError("neither of two numbers varies over seeds")
    freedom = (u + v) ** 2 / (u**2 / (a.n - 1) + v**2 / (b.n - 1))
    return abs(a.mean - b.mean) / math.sqrt(u + v), freedom
