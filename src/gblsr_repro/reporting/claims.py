"""Show judged claims: how many got which verdict, and every claim with its own, by topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..analysis.claims.rules import Agreement
from ..analysis.claims.verdicts import JudgedClaim, Verdict, count_claims
from .layout import DASH, BodyRow, Cells, Table
from .page import PageSection, build_simple_table, convert_to_anchor

VERDICT_STYLES: Mapping[str, Sequence[str]] = {
    Verdict.REPRODUCED: (
        "✓", "good", "the same within the margin beside it, or the claimed relation holds"),
    Verdict.UNDECIDED: (
        "↔", "near", "these seeds cannot tell: the interval reaches beyond margin or bound"),
    Verdict.NOT_REPRODUCED: (
        "✗", "bad", "differs (p < 0.05), and not by less than the margin"),
    Verdict.FROM_CODE: (
        "=", "good", "parameters and operations of the code, whatever is run: counted apart"),
    Verdict.DIFFERENT: (
        "≠", "other", "measured on other data, settings or seeds: never called reproduced"),
    Verdict.OTHER_DEVICE: (
        "○", "other", "time, memory or cost of another device than the paper's: shown alone"),
    Verdict.NOT_JUDGED: (
        "○", "other", "a standard deviation, or timed on a GPU that others used: shown alone"),
    Verdict.NOT_MEASURED: ("–", "none", "no number here; the reason is stated"),
}  # fmt: skip
"""A sign, a class of templates/page.css, and what the verdict means."""


def list_counts(rows: Sequence[JudgedClaim]) -> str:
    """List the verdicts with the number of claims that got each."""
    order = [*Verdict]
    ordered = sorted(rows, key=lambda row: order.index(Verdict(row.verdict)))
    counts = Counter(row.qualified_verdict for row in ordered)
    return "; ".join(f"{text} ({number})" for text, number in counts.items())


def summarize(rows: Sequence[JudgedClaim]) -> str:
    """Say how many of the claims that the run measured are the paper's, and what is apart."""
    n = count_claims(rows)
    text = (
        f"Of {n['holds'] + n['undecided'] + n['fails']} claims that this run's numbers are "
        f"about, {n['holds']} are as the paper says, {n['fails']} are not, and "
        f"{n['undecided']} are undecided: these seeds cannot tell. Counted apart: {n['code']} that "
        f"follow from the code alone, {n['shown']} shown and not judged, {n['device']} that need "
        f"the paper's GPU, {n['absent']} without a number here."
    )
    if any(row.verdict == Verdict.DIFFERENT for row in rows):
        text += (
            " Claims with the verdict “different conditions” are held against the paper all the "
            "same, and are never called reproduced."
        )
    return text


# --- sections -------------------------------------------------------------------------------------


def group_by_topic(rows: Sequence[JudgedClaim]) -> dict[str, list[JudgedClaim]]:
    """Group claims by their topic, in their order."""
    by_topic: dict[str, list[JudgedClaim]] = {}
    for row in rows:
        by_topic.setdefault(row.topic, []).append(row)
    return by_topic


def count_by_topic(rows: Sequence[JudgedClaim]) -> Table:
    """Count by topic the claims that are as the paper says, undecided, different, and apart."""
    lines = []
    for topic, of_topic in group_by_topic(rows).items():
        n = count_claims(of_topic)
        others = n["shown"] + n["device"] + n["absent"]
        counts = (n["holds"], n["undecided"], n["fails"], n["code"], others)
        lines.append((topic, *(str(count or DASH) for count in counts)))
    header = ("Topic", "Same", "Undecided", "Differ", "From the code", "No verdict")
    return build_simple_table(header, lines, "lrrrrr")


def explain_verdicts() -> PageSection:
    """Explain the meaning of each verdict."""
    lines = [(str(verdict), style[-1]) for verdict, style in VERDICT_STYLES.items()]
    table = build_simple_table(("Verdict", "Meaning"), lines)
    text = (
        "Interval: of the difference from the paper's number (90 %) or, for an order or a bound, "
        "of the number itself (95 %)."
    )
    return PageSection("Verdicts", text, [table])


def list_claims(rows: Sequence[JudgedClaim]) -> PageSection:
    """List every claim by topic; a reader chooses a verdict, at first what fails or is undecided.

    A claim has its id as its address.
    """
    verdicts = [verdict for verdict in Verdict if any(row.verdict == verdict for row in rows)]
    choices = {
        "Fails or undecided": [
            row for row in rows if row.agreement in (Agreement.FAILS, Agreement.UNDECIDED)
        ],
        **{
            verdict[0].upper() + verdict[1:]: [row for row in rows if row.verdict == verdict]
            for verdict in verdicts
        },
        "All": rows,
    }
    numbers: dict[str, list[int]] = {row.id: [] for row in rows}
    for number, chosen in enumerate(choices.values(), start=1):
        for row in chosen:
            numbers[row.id].append(number)
    # The verdict is second, where a narrow screen shows it, too.
    header = ("Claim", "Verdict", "Paper", "Measured", "Margin", "Interval", "Where", "Remarks")
    sections = []
    for topic, of_topic in group_by_topic(rows).items():
        lines = [
            BodyRow(format_claim(row), convert_to_anchor(f"claim {row.id}"), numbers[row.id])
            for row in of_topic
        ]
        rules = f"Rules: {'; '.join(dict.fromkeys(row.rule for row in of_topic))}."
        table = Table("", "l" * len(header), [header], [lines])
        sections.append(PageSection(topic, rules, [table]))
    labels = [f"{label} ({len(chosen)})" for label, chosen in choices.items()]
    return PageSection("Every claim", inside=sections, choices=labels, key="every-claim")


# --- cells ----------------------------------------------------------------------------------------


def format_claim(row: JudgedClaim) -> Cells:
    """Format the cells of a claim; its differences from the paper are in claims.csv."""
    return [
        row.sentence,
        format_verdict(row),
        format_value(row.published, row.unit),
        format_value(row.measured, row.unit),
        format_margin(row),
        format_value(row.interval, ""),
        row.where,
        ". ".join(part.rstrip(".") for part in (row.reason, row.note) if part),
    ]


def format_verdict(row: JudgedClaim) -> str:
    """Format the verdict; under other conditions with what the numbers alone say."""
    if row.verdict != Verdict.DIFFERENT:
        return row.qualified_verdict
    return f"{row.verdict}; {row.agreement}"


def format_margin(row: JudgedClaim) -> str:
    """Format how far a number may differ: one value where all have the same, else the rule."""
    values = {*row.allowed.split()}
    value = values.pop() if len(values) == 1 else "0"
    return f"±{value}" if value != "0" else row.rule.partition(" (")[0]


def format_value(text: str, unit: str) -> str:
    """Format a number for readers: a true minus sign, its unit; a dash for none."""
    if not text:
        return DASH
    text = text.replace("-", "−")
    if not unit or text[-1].isalpha():  # 21 cells, 20 of 21 agree
        return text
    return f"{text}{unit}" if unit == "×" else f"{text} {unit}"
