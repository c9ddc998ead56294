"""Register the paper's claims, each as a function of the measurements.

A module of this folder holds the claims about one topic, a row for each:

    topic = Topic("Baselines", Scope.QUALITY)

    topic.add(
        "rank_psnr_lte_liif",
        "§5.3",
        "LTE is ahead of LIIF in PSNR on every data set (least margin)",
        lambda run: lead(run, LTE, LIIF, PSNR),
        rule=Ordering(),
        unit="dB",
    )

Claims that differ in a data set, a metric or an arm alone are added in a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..estimates import Estimate, deviations
from ..measured import Measured
from ..metrics import Metric
from ..provenance import Scope
from .published import Tabled
from .rules import EQUALS, AgreementRule, Spread

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
    measure: Measure | None
    rule: AgreementRule
    published: str | Tabled
    unit: str
    note: str


CLAIMS: dict[str, Claim] = {}


@dataclass(frozen=True)
class Topic:
    """A topic of claims whose numbers depend on the conditions of one scope.

    `rule` is that of the claims which name no other.
    """

    title: str
    scope: Scope
    rule: AgreementRule = EQUALS

    def add(
        self,
        name: str,
        where: str,
        sentence: str,
        measure: Measure | None,
        *,
        rule: AgreementRule | None = None,
        published: str | Tabled = "",
        unit: str = "",
        note: str = "",
    ) -> None:
        """Add a claim, as `Claim` describes it; `published` is the rule's where it has one."""
        if name in CLAIMS:
            raise ValueError(f"there are two claims {name!r}")
        rule = rule or self.rule
        facts = (where, sentence, measure, rule, published or rule.published, unit, note)
        CLAIMS[name] = Claim(name, self.title, self.scope, *facts)

    def add_cells(self, name: str, where: str, of: str, read: Measure, metric: Metric) -> None:
        """Add two claims about cells of the paper's tables: their means and their deviations."""
        published, unit = Tabled(metric.digits), metric.unit
        self.add(name, where, f"{metric.title} of {of}", read, published=published, unit=unit)
        self.add(
            f"{name}_std",
            where,
            f"Standard deviations of {metric.title} of {of}",
            lambda run: deviations(read(run)),
            rule=Spread(),
            published=published,
            unit=unit,
        )
