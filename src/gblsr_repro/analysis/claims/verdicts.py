"""Read, write and count the rows of claims.csv: every claim, its numbers and its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path

from ...config import Scope
from ...errors import UserError
from ...files import write_csv
from ..reader import read_rows
from .rules import Agreement

CLAIMS_FILE = "claims.csv"


class Verdict(StrEnum):
    """The verdict on a claim."""

    REPRODUCED = "reproduced"
    UNDECIDED = "undecided"
    NOT_REPRODUCED = "not reproduced"
    FROM_CODE = "follows from the code"
    DIFFERENT = "different conditions"
    OTHER_DEVICE = "needs the paper's GPU"
    NOT_JUDGED = "not judged"
    NOT_MEASURED = "not measured"


VERDICTS = {
    Agreement.HOLDS: Verdict.REPRODUCED,
    Agreement.UNDECIDED: Verdict.UNDECIDED,
    Agreement.FAILS: Verdict.NOT_REPRODUCED,
}
"""The verdict under the paper's conditions."""

SHOWN_ALONE = (Verdict.OTHER_DEVICE, Verdict.NOT_JUDGED)
"""The verdicts on numbers that say nothing of the claim."""


@dataclass(frozen=True)
class JudgedClaim:
    """A row of claims.csv, all texts.

    `published` and `measured` are formatted; `published_values`, `measured_values` and `allowed`
    (the margin of each) are numbers between blanks. `interval` has low and high of each: of its
    difference from the paper's (90 %) or, for an order or a bound, of the number (95 %). `verdict`
    is one of `Verdict`, `qualifier` the conditions under which it stands; `agreement` one of
    `Agreement`, by the numbers alone (empty: not measured or not judged); `reason` explains an
    absent number or verdict and where numbers miss; `differences` are those of the run from the
    paper's.
    """

    id: str
    topic: str
    scope: str
    where: str
    sentence: str
    published: str = ""
    measured: str = ""
    unit: str = ""
    rule: str = ""
    allowed: str = ""
    interval: str = ""
    verdict: str = ""
    qualifier: str = ""
    agreement: str = ""
    reason: str = ""
    differences: str = ""
    note: str = ""
    published_values: str = ""
    measured_values: str = ""

    @property
    def qualified_verdict(self) -> str:
        """The verdict with its qualifier: "reproduced, on other training images"."""
        return ", ".join(filter(None, (self.verdict, self.qualifier)))


CLAIM_COLUMNS = tuple(field.name for field in fields(JudgedClaim))


def write_claims(rows: Sequence[JudgedClaim], path: Path) -> None:
    """Write the rows of all claims as CSV."""
    write_csv(path, CLAIM_COLUMNS, [asdict(row) for row in rows])


def read_claims(path: Path) -> list[JudgedClaim]:
    """Read claims.csv. Raises `UserError` where it is damaged."""
    read = read_rows(path, CLAIM_COLUMNS, ["id"])
    rows = [JudgedClaim(**{name: row[name] for name in CLAIM_COLUMNS}) for row in read]
    for row in rows:
        if row.verdict not in {*Verdict} or row.scope not in {*Scope}:
            raise UserError(
                f"{path}, claim {row.id!r}: verdict {row.verdict!r} or scope {row.scope!r} is "
                "unknown; judge the claims again."
            )
    return rows


# --- counts ---------------------------------------------------------------------------------------


APART = {
    Verdict.FROM_CODE: "code",
    Verdict.NOT_JUDGED: "shown",
    Verdict.OTHER_DEVICE: "device",
    Verdict.NOT_MEASURED: "absent",
}


def count_claims(rows: Iterable[JudgedClaim]) -> Counter[str]:
    """Count what runs decide, by `Agreement`, and apart from it the rest (`APART`).

    Whatever the conditions, a claim is counted once; what follows from the code no run decides.
    """
    return Counter(APART.get(Verdict(row.verdict), row.agreement) for row in rows)
