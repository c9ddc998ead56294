"""Numbers over seeds, tests between them, and the rules that set table cells in bold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


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


@dataclass(frozen=True)
class Metric:
    """A metric of the aggregates: its name, heading, decimals, and whether lower is better."""

    name: str
    heading: str
    digits: int
    lower: bool = False

    @property
    def title(self) -> str:
        """The heading with an arrow to the better side."""
        return f"{self.heading} {'↓' if self.lower else '↑'}"


PSNR = Metric("psnr", "PSNR (dB)", 3)
SSIM = Metric("ssim", "SSIM", 4)
LPIPS = Metric("lpips", "LPIPS", 4, lower=True)
EDGE_LPIPS = Metric("edge_lpips", "edge-LPIPS", 4, lower=True)
LSE = Metric("lse", "LSE ↓", 3, lower=True)
QUALITY = (PSNR, SSIM, LPIPS, EDGE_LPIPS)

Column = Sequence[Summary]


def compute_pooled_p(a: Summary, b: Summary) -> float:
    """Return the two-sided p of Student's t-test with pooled variance, NaN unless both can be used.

    Where neither varies over seeds equal means give 1 and different ones 0.
    """
    if not (a.spread and b.spread):
        return math.nan
    if a.std == 0 and b.std == 0:
        return float(a.mean == b.mean)
    from scipy import special  # scipy.stats takes longer to import, and few need either

    freedom = a.n + b.n - 2
    variance = ((a.n - 1) * a.std**2 + (b.n - 1) * b.std**2) / freedom
    t = (a.mean - b.mean) / math.sqrt(variance * (1 / a.n + 1 / b.n))
    return float(2 * special.stdtr(freedom, -abs(t)))


def format_fixed(value: float, digits: int) -> str:
    """Format with `digits` decimals; a value that rounds to zero has no sign."""
    return f"{value:z.{digits}f}"


def find_ties(cells: Column, lower: bool, digits: int, alpha: float | None = None) -> list[int]:
    """Find the positions of the best cell and of those that count as equal to it, best first.

    Equal are cells that print alike with `digits` decimals and, where `alpha` is given, cells with
    a spread that a pooled two-sided t-test at level `alpha` cannot tell from the best.
    """
    known = [i for i, cell in enumerate(cells) if cell.measured]
    order = sorted(known, key=lambda i: cells[i].mean if lower else -cells[i].mean)
    return [
        i
        for i in order
        if format_fixed(cells[i].mean, digits) == format_fixed(cells[order[0]].mean, digits)
        or (alpha is not None and compute_pooled_p(cells[i], cells[order[0]]) >= alpha)
    ]


def mark_bold(cells: Column, lower: bool, digits: int, alpha: float | None = None) -> list[bool]:
    """Mark the cells of a column that are bold: the best and its ties, if there is any competition.

    A single measured cell is best of nothing and stays plain.
    """
    rivals = sum(cell.measured for cell in cells) > 1
    chosen = find_ties(cells, lower, digits, alpha) if rivals else []
    return [i in chosen for i in range(len(cells))]
