"""Summarize numbers over seeds, test for a difference, and decide which cells are bold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .metrics import Metric


@dataclass(frozen=True)
class Summary:
    """A number over seeds: mean, sample standard deviation (n - 1) and number of seeds.

    NaN stands for what is not known, as in a frame: `std` of one seed, `std` and `n` where a source
    gives the mean alone, all three where nothing was measured.
    """

    mean: float = math.nan
    std: float = math.nan
    n: float = math.nan

    @property
    def measured(self) -> bool:
        """Whether there is a number at all."""
        return not math.isnan(self.mean)

    @property
    def spread(self) -> bool:
        """Whether a test can use it: a standard deviation over two seeds or more."""
        return self.std >= 0 and self.n > 1


Summaries = Sequence[Summary]


def pool_spreads(*cells: Summary) -> tuple[float, float]:
    """Pool the standard deviations of numbers over seeds: the deviation, its degrees of freedom.

    Numbers without a spread add nothing; NaN where none has one.
    """
    known = [cell for cell in cells if cell.spread]
    if not known:
        return math.nan, math.nan
    freedom = sum(cell.n - 1 for cell in known)
    variance = sum((cell.n - 1) * cell.std**2 for cell in known) / freedom
    return math.sqrt(variance), freedom


def compute_pooled_p(a: Summary, b: Summary) -> float:
    """Return the p of `compare_means`, NaN unless both numbers have a spread over seeds."""
    return compare_means(a, b) if a.spread and b.spread else math.nan


def compare_means(a: Summary, b: Summary) -> float:
    """Compare two means; return the two-sided p of Student's t-test with pooled variance.

    A number of one seed takes the deviation of the other. NaN where neither has one, or where a
    number of seeds is not known. Where neither varies equal means give 1 and different ones 0.
    """
    std, freedom = pool_spreads(a, b)
    difference, error = a.mean - b.mean, std * math.sqrt(1 / a.n + 1 / b.n)
    return float(compute_p(np.array(difference), np.array(error), np.array(freedom)))


def compute_p(difference: np.ndarray, error: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """Compute the two-sided p of Student's t-test that differences are 0.

    Where the error is 0, no difference gives 1 and any other 0; NaN where it is not known.
    """
    from scipy import special  # scipy.stats takes longer to import, and few need either

    exact = error == 0
    t = np.abs(difference) / np.where(exact, 1, error)
    p = 2 * special.stdtr(freedom, -t)
    return np.where(exact, np.where(difference == 0, 1.0, 0.0), p)


def compute_interval(
    difference: np.ndarray, error: np.ndarray, freedom: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the two-sided confidence interval of differences; NaN where the error is."""
    from scipy import special

    reach = -special.stdtrit(freedom, (1 - level) / 2) * error
    return difference - reach, difference + reach


def format_fixed(value: float, digits: int) -> str:
    """Format with `digits` decimals; a value that rounds to zero has no sign."""
    return f"{value:z.{digits}f}"


def find_ties(cells: Summaries, metric: Metric, alpha: float | None) -> list[int]:
    """Find the positions of the best cell and of those that count as equal to it, best first.

    Equal are cells that print alike with the decimals of their `metric` and, where `alpha` is
    given, cells with a spread that a pooled two-sided t-test at level `alpha` cannot tell from the
    best.
    """
    known = [i for i, cell in enumerate(cells) if cell.measured]
    order = sorted(known, key=lambda i: cells[i].mean if metric.lower else -cells[i].mean)
    printed = [format_fixed(cell.mean, metric.digits) for cell in cells]
    return [
        i
        for i in order
        if printed[i] == printed[order[0]]
        or (alpha is not None and compute_pooled_p(cells[i], cells[order[0]]) >= alpha)
    ]


def mark_bold(cells: Summaries, metric: Metric, alpha: float | None) -> list[bool]:
    """Mark the cells of a column that are bold: the best and its ties, if there is any competition.

    A single measured one is best of nothing and stays plain.
    """
    if sum(cell.measured for cell in cells) < 2:
        return [False] * len(cells)
    chosen = find_ties(cells, metric, alpha)
    return [i in chosen for i in range(len(cells))]
