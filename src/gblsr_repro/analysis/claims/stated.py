"""Read what the paper claims (config/paper/claims.tsv), each claim with what measures it."""

from __future__ import annotations

from dataclasses import dataclass

from ...config import find_repository_root, read_table, suggest
from ...errors import UserError
from ..measured import Measure
from ..provenance.differences import Scope
from . import compute, diagnostics, native, structure, superres
from .published import Tabled
from .rules import RULES, AgreementRule

PATH = find_repository_root() / "config" / "paper" / "claims.tsv"
MEASURES = (
    native.MEASURES
    | diagnostics.MEASURES
    | structure.MEASURES
    | superres.MEASURES
    | compute.MEASURES
)


@dataclass(frozen=True)
class Statement:
    """A row of config/paper/claims.tsv, a statement of the paper.

    `topic` is the heading on the page of claims; `scope` selects the conditions that the numbers
    depend on. `where` names sections and tables. `rule` is one of `RULES`. `published` is what the
    paper prints (see `Published.parse`); where it is empty, the number is that of the paper's
    tables (config/paper) to so many `decimals`. `note` says why nothing is measured where nothing
    is.
    """

    claim: str
    topic: str
    scope: str
    where: str
    sentence: str
    rule: str
    published: str
    decimals: str
    unit: str
    note: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper that a run can confirm or contradict, see `Statement`.

    `measure` computes the measured side, or is None where the workflow does not measure it.
    """

    id: str
    topic: str
    scope: Scope
    where: str
    sentence: str
    rule: AgreementRule
    published: str | Tabled
    unit: str
    note: str
    measure: Measure | None


def build_claim(stated: Statement) -> Claim:
    """Build a claim from its row. Raises `UserError` for a rule that does not exist."""
    if stated.rule not in RULES:
        remedy = suggest(stated.rule, RULES)
        raise UserError(f"{PATH}: rule of {stated.claim!r} is {stated.rule!r}; {remedy}")
    return Claim(
        stated.claim,
        stated.topic,
        Scope(stated.scope),
        stated.where,
        stated.sentence,
        RULES[stated.rule],
        Tabled(int(stated.decimals)) if stated.decimals else stated.published,
        stated.unit,
        stated.note,
        MEASURES.get(stated.claim),
    )


CLAIMS = {name: build_claim(row) for name, row in read_table(PATH, Statement, "claim").items()}
"""The claims in the order of claims.csv, by id."""
