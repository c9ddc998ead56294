"""Parse and format the published side of a claim: numbers, bounds, cells of the paper's tables."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

BOUNDS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


@dataclass(frozen=True)
class Published:
    """What the paper states: a relation (= or a bound), its values, and how they are printed."""

    relation: str
    values: tuple[float, ...]
    decimals: int
    style: str = "f"
    signed: bool = False

    @classmethod
    def parse(cls, text: str) -> Published:
        """Parse one number, several numbers between slashes, or bounds (<= 1.0 / 2.0).

        Raises `ValueError` for anything else.
        """
        relation, _, rest = text.partition(" ")
        if relation not in BOUNDS:
            relation, rest = "=", text
        numbers = [part.strip() for part in rest.split("/")]
        try:
            values = tuple(map(float, numbers))
        except ValueError as error:
            raise ValueError("it is not made of numbers") from error
        decimals = max(len(n.partition("e")[0].partition(".")[2]) for n in numbers)
        style = "e" if "e" in numbers[0] else "f"
        return cls(relation, values, decimals, style, numbers[0].startswith(("+", "-")))

    def compute_half_unit(self, value: float) -> float:
        """Return half a unit of the last printed decimal of `value`."""
        exponent = math.floor(math.log10(abs(value))) if self.style == "e" and value else 0
        return 0.5 * 10.0 ** (exponent - self.decimals) * (1 + 1e-9)

    def compute_misses(self, values: np.ndarray) -> np.ndarray:
        """Compute by how much each number misses the published one (<= 0: it agrees)."""
        goals = np.broadcast_to(self.values, values.shape)
        if self.relation == "=":
            return np.abs(values - goals) - [self.compute_half_unit(goal) for goal in goals]
        over = values - goals if self.relation.startswith("<") else goals - values
        holds = BOUNDS[self.relation](values, goals)
        return np.where(holds, np.minimum(over, 0), np.maximum(over, np.finfo(float).tiny))

    def format(self, values: Iterable[float]) -> str:
        """Format values as the paper prints its own."""
        form = (
            f"{'+' if self.signed else ''}z{',' * (self.style == 'f')}.{self.decimals}{self.style}"
        )
        return " / ".join(format(value, form) for value in values)

    def format_measured(self, values: Collection[float]) -> str:
        """Format measured values as the paper does, or with three digits beside a bound."""
        if self.relation == "=":
            return self.format(values)
        digits = [2 - math.floor(math.log10(abs(v))) if v != round(v) else 0 for v in values]
        return " / ".join(f"{v:,.{max(0, d)}f}" for v, d in zip(values, digits, strict=True))

    def __str__(self) -> str:
        shown = {"=": "", "<=": "≤ ", ">=": "≥ "}.get(self.relation, f"{self.relation} ")
        return shown + self.format(self.values)
