"""Compute with estimates: arrays of numbers with standard errors and degrees of freedom.

Standard errors are propagated to first order, degrees of freedom by the Welch-Satterthwaite formula
(Satterthwaite, Biometrics Bulletin 2, 1946; Welch, Biometrika 34, 1947): the arms of a difference
or a ratio have spreads of different size, which a pooled variance would mix up. Two sides of a
comparison, whose spreads are the same, are pooled before that (`Measured`). Terms count as
independent, which overstates the noise of terms that share a mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .reader import CellKey
from .statistics import Summary


class NotMeasuredError(Exception):
    """The aggregates lack a number; the message names it."""


@dataclass(frozen=True)
class Source:
    """A number of the aggregates that an estimate is computed from.

    `aggregate` and `key` are its place; `dataset` and `subject` are its data set and its arm or
    method.
    """

    aggregate: str
    key: CellKey
    dataset: str
    subject: str
    cell: Summary = field(default_factory=Summary)


@dataclass(frozen=True)
class Estimate:
    """An array of numbers with standard errors.

    `values` (k,); `errors` (k,), NaN where no spread over seeds is known; `freedom` (k,), the
    degrees of freedom of the errors, infinite where these are exact; `sources`, the numbers of the
    aggregates that it is computed from: one for each value, in order, when just read.
    """

    values: np.ndarray
    errors: np.ndarray
    freedom: np.ndarray
    sources: Sequence[Source] = ()

    @classmethod
    def exact(cls, values: Iterable[float], sources: Sequence[Source] = ()) -> Estimate:
        """Build an estimate with errors of 0."""
        array = np.asarray(list(values), dtype=np.float64)
        return cls(array, np.zeros_like(array), np.full_like(array, np.inf), sources)

    @classmethod
    def convert(cls, value: Estimate | float) -> Estimate:
        """Convert a number to an estimate with an error of 0; return an estimate unchanged."""
        return value if isinstance(value, Estimate) else cls.exact([value])

    def __len__(self) -> int:
        return len(self.values)

    # --- arithmetic -------------------------------------------------------------------------------

    def _join(
        self,
        other: Estimate,
        values: np.ndarray,
        slope: np.ndarray | float,
        other_slope: np.ndarray | float,
    ) -> Estimate:
        """Return `values`, computed from two estimates, with their errors by the two slopes."""
        squares = np.square(self.errors * slope), np.square(other.errors * other_slope)
        weight = squares[0] ** 2 / self.freedom + squares[1] ** 2 / other.freedom
        freedom = _divide(np.square(sum(squares)), weight)
        sources = (*self.sources, *other.sources)
        return Estimate(values, np.sqrt(sum(squares)), freedom, sources)

    def __add__(self, other: Estimate | float) -> Estimate:
        right = Estimate.convert(other)
        return self._join(right, self.values + right.values, 1, 1)

    def __sub__(self, other: Estimate | float) -> Estimate:
        right = Estimate.convert(other)
        return self._join(right, self.values - right.values, 1, -1)

    def __mul__(self, other: Estimate | float) -> Estimate:
        right = Estimate.convert(other)
        return self._join(right, self.values * right.values, right.values, self.values)

    def __truediv__(self, other: Estimate | float) -> Estimate:
        right = Estimate.convert(other)
        if not right.values.all():
            raise NotMeasuredError("a divisor is 0")
        ratio = self.values / right.values
        return self._join(right, ratio, 1 / right.values, -ratio / right.values)

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
        columns: dict[CellKey, list[int]] = {}
        for place, source in zip(range(len(self)), self.sources, strict=True):
            shared = tuple(part for part in source.key if part != source.subject)
            columns.setdefault(shared, []).append(place)
        return list(columns.values())

    def select(self, places: Sequence[int]) -> Estimate:
        """Select elements by position; all sources are kept."""
        return Estimate(
            self.values[places], self.errors[places], self.freedom[places], self.sources
        )


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide degrees of freedom, which are infinite where errors are 0."""
    return np.divide(
        numerator, denominator, out=np.full(denominator.shape, np.inf), where=denominator > 0
    )


# --- of any numbers -------------------------------------------------------------------------------


def concatenate(*parts: Estimate) -> Estimate:
    """Concatenate estimates."""
    values, errors, freedom = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("values", "errors", "freedom")
    )
    sources = [source for part in parts for source in part.sources]
    return Estimate(values, errors, freedom, sources)


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
    """Return the sum. Its elements come from the same runs, so that their errors add up."""
    errors = x.errors.sum(keepdims=True)
    weight = (x.errors / np.sqrt(x.freedom)).sum(keepdims=True)
    freedom = _divide(np.square(errors), np.square(weight))
    return Estimate(x.values.sum(keepdims=True), errors, freedom, x.sources)


def mean(x: Estimate) -> Estimate:
    """Return the arithmetic mean, with the error of `total`."""
    return total(x) / len(x)


def geometric_mean(x: Estimate) -> Estimate:
    """Return the geometric mean."""
    logs = mean(replace(x, values=np.log(x.values), errors=x.errors / x.values))
    middle = np.exp(logs.values)
    return replace(logs, values=middle, errors=middle * logs.errors)


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
    """Return the standard deviations over seeds. Raises `NotMeasuredError` where there is none."""
    for source in x.sources:
        if not source.cell.spread:
            raise NotMeasuredError(f"{' '.join(source.key)} has no spread over seeds")
    return Estimate.exact((source.cell.std for source in x.sources), x.sources)


def relative_deviations(x: Estimate) -> Estimate:
    """Return the standard deviations over seeds in percent of the means."""
    return 100 * deviations(x) / Estimate.exact(x.values)
