"""Judge whether the paper's claims hold on a run; the only module that decides verdicts.

A number is reproduced where it is the published one within a margin, or where the relation that the
paper states holds, beyond the noise of seeds; `rules` has what fails and what seeds leave
undecided. A number measured under conditions that say nothing about the paper's (such as other
steps) gets no such verdict: the claim is shown with whether it would hold. Times and memory of
another device say nothing at all about a claim. Conditions that leave a verdict possible (other
training images) qualify it. Times are judged by the paper's clock (see `evaluation.latency`), and
not at all where other processes used the GPU meanwhile. Claims about structure, such as parameter
counts, depend on no conditions: they follow from the code, and no run reproduces them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...config import Config, Scope, load_protocol
from ...errors import UserError
from ..estimates import Estimate, NotMeasuredError
from ..measured import Measured
from ..metrics import MARGINS
from ..provenance.differences import DEVICE, SHARED_GPU, Difference, Effect
from ..reader import NATIVE_TIMES, Aggregates, read_paper_aggregates
from .cells import list_cells
from .published import Published
from .rules import AGREEMENT_RULES, Agreement, Finding
from .stated import CLAIMS, Claim
from .verdicts import SHOWN_ALONE, VERDICTS, JudgedClaim, Verdict, write_claims


def judge_results(aggregates: Path, output: Path, config: Config) -> list[JudgedClaim]:
    """Judge every claim on the aggregates of a folder, write the rows to `output`, return them.

    Raises `UserError`.
    """
    if not aggregates.is_dir():
        raise UserError(f"{aggregates} is not a folder; run the aggregate step that makes it.")
    rows = judge_all(Aggregates(aggregates, config))
    write_claims(rows, output)
    return rows


def judge_all(run: Aggregates) -> list[JudgedClaim]:
    """Judge every claim on the aggregates of a run, then every cell of the paper's tables."""
    paper = read_paper_aggregates(load_protocol())
    return [judge(claim, run, paper) for claim in (*CLAIMS.values(), *list_cells(paper))]


# --- one claim ------------------------------------------------------------------------------------


def read_published(claim: Claim, paper: Measured) -> tuple[Published, Estimate | None]:
    """Return what the paper states, and the claim measured in its tables if they determine it."""
    in_tables = None
    if claim.measure:
        with suppress(NotMeasuredError):
            in_tables = claim.measure(paper)
    if claim.published:
        return Published.parse(claim.published), in_tables
    if in_tables is None or claim.decimals is None:
        raise UserError(
            f"Claim {claim.id!r} has no published number, and lacks decimals or its cells in "
            "config/paper; correct config/paper/claims.tsv."
        )
    return Published("=", tuple(in_tables.values.tolist()), claim.decimals), in_tables


def compare(claim: Claim, run: Aggregates, paper: Aggregates) -> tuple[Estimate, Finding]:
    """Measure a claim and apply its rule, whatever the conditions.

    Raises `NotMeasuredError` naming what is absent.
    """
    published, in_tables = read_published(claim, Measured(paper, run))
    if claim.measure is None:
        raise NotMeasuredError(claim.note)
    measured = claim.measure(Measured(run, paper))
    several = published.relation == "=" or len(published.values) > 1
    if several and len(measured) != len(published.values):
        raise UserError(
            f"Claim {claim.id!r} in config/paper/claims.tsv publishes {len(published.values)} "
            f"numbers where {len(measured)} are measured; correct it."
        )
    if not np.isfinite(measured.values).all():
        raise NotMeasuredError("a value is not finite")
    rule, margin = AGREEMENT_RULES[claim.rule], MARGINS.get(claim.margin)
    return measured, rule(published, measured, in_tables, margin)


def judge(claim: Claim, run: Aggregates, paper: Aggregates) -> JudgedClaim:
    """Judge one claim on the aggregates of a run, with the paper's beside them."""
    published, _ = read_published(claim, Measured(paper, run))
    described = describe_claim(claim, published)
    try:
        measured, finding = compare(claim, run, paper)
    except NotMeasuredError as error:
        note = claim.note if claim.measure else ""
        return replace(described, reason=str(error), note=note)
    differences = find_differences(claim, run, measured)
    for difference in differences:
        if difference.name == SHARED_GPU:
            finding = Finding(Agreement.SHOWN, finding.values, reason=difference.sentence)
    relevant = [each for each in differences if each.effect is not Effect.NONE]
    verdict = decide(claim, finding.agreement, relevant)
    qualifiers = [each.sentence for each in relevant if each.effect is Effect.QUALIFIES]
    sentences = [each.sentence for each in relevant if claim.scope != Scope.STRUCTURE]
    bounds = zip(finding.low.tolist(), finding.high.tolist(), strict=True)
    return replace(
        described,
        measured=published.format_measured(finding.values),
        published_values=" ".join(map(repr, published.values)),
        measured_values=" ".join(map(repr, finding.values.tolist())),
        allowed=" ".join(format(value, ".4g") for value in finding.allowed),
        # Of numbers without noise there is none.
        interval=" / ".join(f"{low:+.3g} to {high:+.3g}" for low, high in bounds)
        if (finding.high > finding.low).all()
        else "",
        verdict=verdict,
        qualifier=", ".join(qualifiers) if verdict in VERDICTS.values() else "",
        agreement="" if verdict in SHOWN_ALONE else finding.agreement,
        reason=finding.reason,
        differences="; ".join(sentences),
    )


def describe_claim(claim: Claim, published: Published) -> JudgedClaim:
    """Build the row of a claim before anything is measured."""
    return JudgedClaim(
        id=claim.id,
        topic=claim.topic,
        scope=claim.scope,
        where=claim.where,
        sentence=claim.sentence,
        published=str(published),
        unit=claim.unit,
        rule=claim.rule_text,
        verdict=Verdict.NOT_MEASURED,
        note=claim.note,
    )


def decide(claim: Claim, agreement: Agreement, relevant: Sequence[Difference]) -> Verdict:
    """Decide the verdict from how the numbers agree and which conditions block one."""
    if claim.scope == Scope.STRUCTURE and agreement is Agreement.HOLDS:
        return Verdict.FROM_CODE  # it fails only where the sizes are not the paper's
    if agreement is Agreement.SHOWN:
        return Verdict.NOT_JUDGED
    blocking = [each.name for each in relevant if each.effect is Effect.BLOCKS]
    if DEVICE in blocking:
        return Verdict.OTHER_DEVICE
    return Verdict.DIFFERENT if blocking else VERDICTS[agreement]


def find_differences(claim: Claim, run: Aggregates, measured: Estimate) -> list[Difference]:
    """Find the differences from the paper that concern the measured numbers of a claim."""
    columns = {source.dataset for source in measured.sources}
    subjects = {source.subject for source in measured.sources}
    scopes = [claim.scope, *list_timing_scopes(measured)]
    return run.provenance.find_differences(scopes, subjects, columns)


def list_timing_scopes(measured: Estimate) -> list[Scope]:
    """List the scopes of the times that an estimate is computed from, whatever its claim is of."""
    native_times = {("native", metric) for metric in NATIVE_TIMES.values()}
    scopes = []
    if any((source.aggregate, source.key[-1]) in native_times for source in measured.sources):
        scopes.append(Scope.LATENCY)
    if any(source.aggregate == "asr_latency" for source in measured.sources):
        scopes.append(Scope.ASR_LATENCY)
    return scopes
