"""Means over seeds, tests between arms, and the rules that set table cells in bold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import special


@dataclass(frozen=True)
class Summary:
    """A number over seeds: mean, sample standard deviation (n - 1) and number of seeds.

    `std` is None for one seed; both are None where a source gives the mean alone.
    """

    mean: float
    std: float | None = None
    n: int | None = None

    @property
    def has_spread(self) -> bool:
        """Whether a test can use it: a standard deviation over two seeds or more."""
        return self.std is not None and self.n is not None and self.n > 1


def summarize(values: Sequence[float]) -> Summary:
    """Return mean, sample standard deviation and count of one value per seed (at least one)."""
    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return Summary(mean, None, 1)
    return Summary(mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)), n)


def pooled_p(a: Summary, b: Summary) -> float:
    """Return the two-sided p of Student's t-test with pooled variance; both need a spread.

    Without any spread on either side equal means give 1 and different ones 0.
    """
    if a.std == 0 and b.std == 0:
        return float(a.mean == b.mean)
    freedom = a.n + b.n - 2
    variance = ((a.n - 1) * a.std**2 + (b.n - 1) * b.std**2) / freedom
    t = (a.mean - b.mean) / math.sqrt(variance * (1 / a.n + 1 / b.n))
    return float(2 * special.stdtr(freedom, -abs(t)))  # scipy.stats takes longer to import


def printed(value: float, digits: int) -> str:
    """Format with `digits` decimals; a value that rounds to zero has no sign."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def best(cells: Sequence[Summary | None], lower: bool) -> int | None:
    """Return the position of the best mean (first of equals), None where nothing is measured."""
    measured = [i for i, cell in enumerate(cells) if cell is not None]
    sign = 1 if lower else -1
    return min(measured, key=lambda i: sign * cells[i].mean, default=None)  # type: ignore[union-attr]


def ties(
    cells: Sequence[Summary | None], lower: bool, digits: int, alpha: float | None = None
) -> list[int]:
    """Return the positions of the best cell and of those that count as equal to it, best first.

    Equal are cells that print alike with `digits` decimals and, where `alpha` is given, cells with
    a spread that a pooled two-sided t-test at level `alpha` cannot tell from the best.
    """
    top = best(cells, lower)
    if top is None:
        return []
    winner = cells[top]
    assert winner is not None

    def equal(cell: Summary) -> bool:
        if printed(cell.mean, digits) == printed(winner.mean, digits):
            return True
        testable = alpha is not None and cell.has_spread and winner.has_spread
        return testable and pooled_p(cell, winner) >= alpha

    found = [i for i, cell in enumerate(cells) if cell is not None and equal(cell)]
    sign = 1 if lower else -1
    return sorted(found, key=lambda i: (i != top, sign * cells[i].mean))  # type: ignore[union-attr]


def bold(
    cells: Sequence[Summary | None], lower: bool, digits: int, alpha: float | None = None
) -> list[bool]:
    """Say for each cell of a column whether it is bold: the `ties`, if there is any competition.

    A single measured cell is best of nothing and stays plain.
    """
    if sum(cell is not None for cell in cells) < 2:
        return [False] * len(cells)
    chosen = set(ties(cells, lower, digits, alpha))
    return [i in chosen for i in range(len(cells))]
