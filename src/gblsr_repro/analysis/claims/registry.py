"""Register the paper's claims, each as a function of the measurements.

A module of this folder holds the claims about one topic:

    topic = Topic("Baselines", Scope.QUALITY)

    @topic.claim(where="§5.3", sentence="LTE is ahead of LIIF in PSNR ...", rule=Ordering(),
                 published="> 0", unit="dB")
    def rank_psnr_lte_liif(run: Measured) -> Estimate:
        return run.native(SETS, LTE, "psnr") - run.native(SETS, LIIF, "psnr")

The function's name is the claim's id. Claims that differ in a data set, a metric or an arm alone
are added in a loop, with `topic.add`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..estimates import Estimate
from ..measured import Measured
from ..provenance import Scope
from .published import Tabled
from .rules import Rule

Measure = Callable[[Measured], Estimate]


@dataclass(frozen=True)
class Claim:
    """A statement of the paper that a run can confirm or contradict.

    `where` names sections and tables; `published` is what the paper prints (see `Published.parse`),
    or `Tabled`; `measure` computes the measured side, or is None where the workflow does not
    measure it and `note` says why. `scope` selects the conditions that the numbers depend on.
    """

    id: str
    topic: str
    scope: Scope
    where: str
    sentence: str
    rule: Rule
    published: str | Tabled
    unit: str
    note: str
    measure: Measure | None


CLAIMS: dict[str, Claim] = {}


@dataclass(frozen=True)
class Topic:
    """A topic of claims whose numbers depend on the conditions of one scope."""

    title: str
    scope: Scope

    def claim(self, **facts: Any) -> Callable[[Measure], Measure]:
        """Register a function of the measurements as the claim of its name; `facts` as in `add`."""

        def register(measure: Measure) -> Measure:
            self.add(measure.__name__, measure, **facts)
            return measure

        return register

    def add(
        self,
        name: str,
        measure: Measure | None,
        *,
        where: str,
        sentence: str,
        rule: Rule,
        published: str | Tabled,
        unit: str = "",
        note: str = "",
    ) -> None:
        """Add a claim, as `Claim` describes it."""
        if name in CLAIMS:
            raise ValueError(f"there are two claims {name!r}")
        facts = (where, sentence, rule, published, unit, note)
        CLAIMS[name] = Claim(name, self.title, self.scope, *facts, measure)
