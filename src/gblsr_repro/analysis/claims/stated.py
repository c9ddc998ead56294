"""Read what the paper claims (config/paper/claims.tsv), each claim with what measures it."""

from __future__ import annotations

from typing import Literal

from pydantic import field_validator, model_validator

from ...config import Scope, TableRow, Words, find_repository_root, read_table
from ..measured import Measure
from ..metrics import MARGINS
from . import diagnostics, native, structure, superres
from .published import Published
from .rules import AGREEMENT_RULES

MEASURES = (
    native.NATIVE_MEASURES
    | diagnostics.DIAGNOSTIC_MEASURES
    | structure.STRUCTURE_MEASURES
    | superres.SUPERRES_MEASURES
)
CELL_MEASURES = (
    native.NATIVE_CELLS
    | diagnostics.DIAGNOSTIC_CELLS
    | structure.STRUCTURE_CELLS
    | superres.SUPERRES_CELLS
)
RuleName = Literal[*AGREEMENT_RULES]  # type: ignore[valid-type]
MarginName = Literal["", *MARGINS]  # type: ignore[valid-type]


class Claim(TableRow):
    """A statement of the paper that a run can confirm or contradict: a row of claims.tsv.

    `topic` is the heading on the page of claims; `scope` selects the conditions that the numbers
    depend on. `where` names sections and tables. `rule` is one of `AGREEMENT_RULES`, and `margin`
    one of `MARGINS`: what numbers may differ by to be equal or a tie, or by how much a time may
    pass a bound. `published` is what the paper prints (see `Published.parse`); where it is empty,
    the number is that of the paper's tables (config/paper) to so many `decimals`. `note` says why
    nothing is measured where nothing is.

    A row about several `rows` of a table is a claim for each: {} in its id and sentence stands for
    the row, and in `published` for the number (see `cells`).
    """

    id: str
    topic: str
    scope: Scope
    where: str
    sentence: str
    rule: RuleName
    margin: MarginName = ""
    published: str = ""
    decimals: int | None = None
    unit: str = ""
    rows: Words = ()
    note: str = ""

    @field_validator("published")
    @classmethod
    def _check_published(cls, text: str) -> str:
        """Refuse what is not made of numbers, or of a format of one."""
        Published.parse(text.format(0.0))
        return text

    @model_validator(mode="after")
    def _check_columns(self) -> Claim:
        """Refuse columns that do not go together."""
        if self.rule in ("equals", "tie") and not self.margin:
            raise ValueError(f"the rule {self.rule!r} needs a margin")
        if self.rows and self.id not in CELL_MEASURES:
            raise ValueError(f"nothing in analysis/claims measures the column {self.id!r}")
        return self

    @property
    def measure(self) -> Measure | None:
        """What computes the measured side, None where the workflow does not measure it."""
        return MEASURES.get(self.id)

    @property
    def rule_text(self) -> str:
        """The rule with the margin and its reason."""
        margin = MARGINS.get(self.margin)
        return f"{self.rule} {margin} ({margin.reason})" if margin else self.rule


_TABLE = read_table(find_repository_root() / "config" / "paper" / "claims.tsv", Claim, "id")
CLAIMS = {name: claim for name, claim in _TABLE.items() if not claim.rows}
"""The claims in the order of claims.csv, by id."""
COLUMNS = {name: claim for name, claim in _TABLE.items() if claim.rows}
"""Columns of tables, by an id with {} for the row."""
