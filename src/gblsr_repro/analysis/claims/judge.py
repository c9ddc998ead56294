"""Whether the claims of the paper hold here: the one place where verdicts are made.

A number is reproduced when it agrees with the paper's at the precision the paper prints, or when
the relation that the paper claims holds; what else there is says `rules`. A run under other
conditions than the paper's (data, steps, seeds, device) gets no such verdict: its numbers are
shown, with whether the claim would hold. Times are judged by the paper's clock alone (see
`evaluation.latency`), and not at all where other processes used the GPU meanwhile. Claims about
structure, such as parameter counts, depend on no conditions; in a preset other than the paper's
they hold rather than are reproduced.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...config import Config, protocol
from ...errors import UserError
from ..provenance import PAPER_PRESET, SHARED_GPU, Difference, Scope
from ..reader import Aggregates
from .estimates import Estimate, NotMeasuredError
from .measured import Measured
from .paper import CLAIMS
from .published import Published
from .registry import Claim
from .rows import VERDICTS, Row, Verdict, write_claims
from .rules import Agreement, Outcome


def write(aggregates: Path, output: Path, config: Config) -> list[Row]:
    """Judge every claim on the aggregates of a folder, write the rows to `output`, return them.

    Raises `UserError`.
    """
    if not aggregates.is_dir():
        raise UserError(f"{aggregates} is not a folder; run the aggregate step that makes it.")
    rows = judge_all(Aggregates(aggregates, config), config["claims"]["seed_noise_sigmas"])
    write_claims(rows, output)
    return rows


def judge_all(here: Aggregates, sigmas: float) -> list[Row]:
    """Judge every claim on the aggregates of a run."""
    paper = Measured(Aggregates.paper(protocol()))
    return [judge(claim, Measured(here), paper, sigmas) for claim in CLAIMS.values()]


# --- one claim ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Weighed:
    """What a claim's rule makes of the measured numbers, whatever the conditions."""

    published: Published
    measured: Estimate
    outcome: Outcome

    @property
    def text(self) -> str:
        """The measured numbers as people read them."""
        if self.published.cells:
            return f"{self.outcome.agreeing} of {len(self.measured)} agree"
        return self.published.show_measured(self.outcome.values)


def published(claim: Claim, paper: Measured) -> tuple[Published, Estimate | None]:
    """Return what the paper says, and what the claim measures in its tables where they tell."""
    tabled = None
    if claim.measure:
        with suppress(NotMeasuredError):
            tabled = claim.measure(paper)
    return Published.parse(claim.published, tabled), tabled


def weigh(claim: Claim, here: Measured, paper: Measured, sigmas: float) -> Weighed:
    """Measure a claim and apply its rule; `NotMeasuredError` says what is not there."""
    said, tabled = published(claim, paper)
    if claim.measure is None:
        raise NotMeasuredError(claim.note)
    measured = claim.measure(here)
    several = said.relation == "=" or len(said.values) > 1
    if several and len(measured) != len(said.values):
        raise ValueError(
            f"claim {claim.id!r}: the paper has {len(said.values)} numbers, measured are "
            f"{len(measured)}"
        )
    if not np.isfinite(measured.values).all():
        raise NotMeasuredError("a value is not finite")
    return Weighed(said, measured, claim.rule.judge(said, measured, tabled, sigmas))


def judge(claim: Claim, here: Measured, paper: Measured, sigmas: float) -> Row:
    """Compare one claim with the aggregates of a run."""
    said, _ = published(claim, paper)
    row = Row(
        claim.id, claim.topic, claim.scope, claim.where, claim.sentence, str(said), "", claim.unit,
        str(claim.rule), "", Verdict.NOT_MEASURED, "", "", "", claim.note, "", "",
    )  # fmt: skip
    try:
        weighed = weigh(claim, here, paper, sigmas)
    except NotMeasuredError as error:
        note = claim.note if claim.measure else ""
        return replace(row, reason=str(error), note=note)
    outcome = weighed.outcome
    numbers = replace(
        row,
        measured=weighed.text,
        published_values=" ".join(map(repr, said.values)),
        measured_values=" ".join(map(repr, outcome.values.tolist())),
    )
    found = _blocking(claim, here.aggregates, weighed.measured)
    conditions = "; ".join(difference.short for difference in found)
    if any(difference.short == SHARED_GPU for difference in found):
        return replace(
            numbers, verdict=Verdict.NOT_JUDGED, reason=SHARED_GPU, conditions=conditions
        )
    fails = outcome.agreement is Agreement.FAILS
    if claim.scope is Scope.STRUCTURE and not fails:
        # It depends on the code alone, and differs only where another preset gives other numbers.
        conditions = ""
        reproduced = here.aggregates.provenance.preset == PAPER_PRESET
        verdict = VERDICTS[outcome.agreement] if reproduced else Verdict.HOLDS
    else:
        verdict = Verdict.DIFFERENT if conditions else VERDICTS[outcome.agreement]
    near = outcome.agreement in (Agreement.NEAR, Agreement.REVERSED)
    told = outcome.agreement if verdict is Verdict.DIFFERENT and near else ""
    return replace(
        numbers,
        allowed=" ".join(format(value, ".4g") for value in outcome.allowed),
        verdict=verdict,
        holds="no" if fails or outcome.agreement is Agreement.REVERSED else "yes",
        reason="; ".join(filter(None, (told, outcome.reason))),
        conditions=conditions,
    )


def _blocking(claim: Claim, here: Aggregates, measured: Estimate) -> list[Difference]:
    """Return what keeps numbers from being judged, of the arms and data sets that they are of."""
    columns = {source.dataset for source in measured.sources}
    subjects = {source.subject for source in measured.sources}
    found = here.provenance.differences([claim.scope], subjects, columns)
    return [difference for difference in found if difference.blocks_verdict]
