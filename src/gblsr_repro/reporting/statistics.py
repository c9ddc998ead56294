"""Numbers over seeds, tests between them, and the rules that set table cells in bold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Summary:
    """A number over seeds: mean, sample standard deviation (n - 1) and number of seeds.

    `std` is None for one seed; both are None where a source gives the mean alone.
    """

    mean: float
    std: float | None = None
    n: int | None = None

    @classmethod
    def of(cls, mean: float, std: float, n: float) -> Summary:
        """Build a summary from the numbers of a frame's row, where NaN stands for None."""
        known = None if math.isnan(n) else round(n)
        return cls(mean, None if math.isnan(std) else std, known)

    @property
    def spread(self) -> Spread | None:
        """What a test can use: a standard deviation over two seeds or more; else None."""
        if self.std is None or self.n is None or self.n < 2:
            return None
        return Spread(self.mean, self.std, self.n)


class Spread(NamedTuple):
    """A number that was measured over two seeds or more (see `Summary`)."""

    mean: float
    std: float
    n: int


@dataclass(frozen=True)
class Metric:
    """A metric of the aggregates: its name, heading, decimals, and whether lower is better."""

    name: str
    heading: str
    digits: int
    lower: bool = False


PSNR = Metric("psnr", "PSNR (dB)", 3)
LPIPS = Metric("lpips", "LPIPS", 4, lower=True)
EDGE_LPIPS = Metric("edge_lpips", "edge-LPIPS", 4, lower=True)
QUALITY = (PSNR, Metric("ssim", "SSIM", 4), LPIPS, EDGE_LPIPS)

Column = Sequence[Summary | None]


def pooled_p(a: Spread, b: Spread) -> float:
    """Return the two-sided p of Student's t-test with pooled variance.

    Without any spread on either side equal means give 1 and different ones 0.
    """
    if a.std == 0 and b.std == 0:
        return float(a.mean == b.mean)
    from scipy import special  # scipy.stats takes longer to import, and few need either

    freedom = a.n + b.n - 2
    variance = ((a.n - 1) * a.std**2 + (b.n - 1) * b.std**2) / freedom
    t = (a.mean - b.mean) / math.sqrt(variance * (1 / a.n + 1 / b.n))
    return float(2 * special.stdtr(freedom, -abs(t)))


def printed(value: float, digits: int) -> str:
    """Format with `digits` decimals; a value that rounds to zero has no sign."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def ties(cells: Column, lower: bool, digits: int, alpha: float | None = None) -> list[int]:
    """Return the positions of the best cell and of those that count as equal to it, best first.

    Equal are cells that print alike with `digits` decimals and, where `alpha` is given, cells with
    a spread that a pooled two-sided t-test at level `alpha` cannot tell from the best.
    """
    sign = 1 if lower else -1
    known = {i: cell for i, cell in enumerate(cells) if cell is not None}
    order = sorted(known, key=lambda i: sign * known[i].mean)
    if not order:
        return []
    top = known[order[0]]

    def equal(cell: Summary) -> bool:
        if printed(cell.mean, digits) == printed(top.mean, digits):
            return True
        one, other = cell.spread, top.spread
        return bool(alpha is not None and one and other and pooled_p(one, other) >= alpha)

    return [i for i in order if equal(known[i])]


def bold(cells: Column, lower: bool, digits: int, alpha: float | None = None) -> list[bool]:
    """Say for each cell of a column whether it is bold: the `ties`, if there is any competition.

    A single measured cell is best of nothing and stays plain.
    """
    rivals = sum(cell is not None for cell in cells) > 1
    chosen = ties(cells, lower, digits, alpha) if rivals else []
    return [i in chosen for i in range(len(cells))]
