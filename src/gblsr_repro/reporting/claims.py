"""Show judged claims: how many got which verdict, and every claim with its own, by topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..analysis.claims.verdicts import JudgedClaim, Verdict
from .layout import DASH, Table
from .page import PageSection, build_simple_table

VERDICT_STYLES: Mapping[str, Sequence[str]] = {
    Verdict.REPRODUCED: (
        "✓", "good", "agrees at the paper's printed precision, or the claimed relation holds"),
    Verdict.WITHIN_NOISE: ("≈", "near", "misses by no more than the tolerance stated beside it"),
    Verdict.UNDECIDED: (
        "↔", "near", "seed noise covers both answers; the reason is stated"),
    Verdict.HOLDS: (
        "=", "good", "about structure alone, and so in any preset; this one is not the paper's"),
    Verdict.NOT_REPRODUCED: ("✗", "bad", "misses by more, under the paper's conditions"),
    Verdict.DIFFERENT: (
        "≠", "other", "measured on other data, settings or seeds: shown, not judged"),
    Verdict.OTHER_DEVICE: (
        "○", "other", "time, memory or cost of another device than the paper's: shown alone"),
    Verdict.NOT_JUDGED: (
        "○", "other", "timed on a GPU that other processes used: shown alone"),
    Verdict.NOT_MEASURED: ("–", "none", "no number here; the reason is stated"),
}  # fmt: skip
"""A sign, a class of templates/page.css, and what the verdict means."""
RARE = (Verdict.UNDECIDED, Verdict.HOLDS, Verdict.OTHER_DEVICE, Verdict.NOT_JUDGED)
"""The verdicts that are explained only where they occur."""


def count_verdicts(rows: Sequence[JudgedClaim]) -> list[tuple[Verdict, str, int]]:
    """Count claims by verdict, beside it in full; rare verdicts only where they occur."""
    counts = Counter((Verdict(row.verdict), row.qualified_verdict) for row in rows)
    for verdict in {*Verdict} - {*RARE} - {verdict for verdict, _ in counts}:
        counts[verdict, str(verdict)] = 0
    order = [*Verdict]
    lines = [(verdict, text, number) for (verdict, text), number in counts.items()]
    return sorted(lines, key=lambda line: (order.index(line[0]), line[1]))


def list_counts(rows: Sequence[JudgedClaim]) -> str:
    """List the verdicts with the number of claims that got each."""
    return "; ".join(f"{number} {text}" for _, text, number in count_verdicts(rows) if number)


def summarize(rows: Sequence[JudgedClaim]) -> str:
    """Say how many of the claims that the run decides hold, and why the others are open."""
    counts = Counter(row.holds for row in rows)
    verdicts = Counter(row.verdict for row in rows)
    absent, device = verdicts[Verdict.NOT_MEASURED], verdicts[Verdict.OTHER_DEVICE]
    text = (
        f"{counts['yes']} of the {counts['yes'] + counts['no']} claims that this run decides hold. "
        f"Of the others {counts[''] - absent - device} are left open by seed noise or not judged, "
        f"{device} need the paper's GPU and {absent} have no number here."
    )
    if any(row.verdict == Verdict.DIFFERENT for row in rows):
        text += (
            " Numbers measured under other conditions than the paper's are held against it all the "
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
    """Count by topic the claims that hold, that do not, and that are not decided."""
    columns = ("yes", "no", "")
    lines = []
    for topic, of_topic in group_by_topic(rows).items():
        counts = Counter(row.holds for row in of_topic)
        lines.append((topic, *(str(counts[column] or DASH) for column in columns)))
    return build_simple_table(("Topic", "Hold", "Do not hold", "Open"), lines, "lrrr")


def explain_verdicts(rows: Sequence[JudgedClaim]) -> PageSection:
    """Explain the meaning of each verdict, with the number of claims that got it."""
    lines = [
        (text, str(number), VERDICT_STYLES[verdict][-1])
        for verdict, text, number in count_verdicts(rows)
    ]
    table = build_simple_table(("Verdict", "Claims", "Meaning"), lines)
    return PageSection("Verdicts", tables=[table])


def build_topics(rows: Sequence[JudgedClaim]) -> list[PageSection]:
    """Build a section for every topic, with a row for each of its claims."""
    # The verdict is second, where a narrow screen shows it, too.
    header = ("Claim", "Verdict", "Paper", "Measured", "Tolerance", "Where", "Remarks")
    shared, sections = find_shared_differences(rows), []
    for topic, of_topic in group_by_topic(rows).items():
        lines = [
            (
                row.sentence,
                format_verdict(row),
                format_value(row.published, row.unit),
                format_value(row.measured, row.unit),
                format_tolerance(row),
                row.where,
                format_remarks(row, shared),
            )
            for row in of_topic
        ]
        rules = f"Rules: {'; '.join(dict.fromkeys(row.rule for row in of_topic))}."
        sections.append(PageSection(topic, rules, [build_simple_table(header, lines)]))
    return sections


# --- cells ----------------------------------------------------------------------------------------


def format_verdict(row: JudgedClaim) -> str:
    """Format the verdict, with whether the claim would hold under other conditions."""
    if row.verdict != Verdict.DIFFERENT:
        return row.qualified_verdict
    would = "would " if row.holds else ""
    return f"{row.verdict}; {would}{format_agreement(row)}"


def format_agreement(row: JudgedClaim) -> str:
    """Format whether the numbers alone agree with the paper: hold, not hold or undecided."""
    return {"yes": "hold", "no": "not hold", "": "undecided"}[row.holds]


def format_tolerance(row: JudgedClaim) -> str:
    """Format how far a number may miss: one value where all have the same, else the rule."""
    values = {format(float(value), ".2g") for value in row.allowed.split()}
    value = values.pop() if len(values) == 1 else "0"
    return f"±{value}" if value != "0" else row.rule.partition(" (")[0]


def format_remarks(row: JudgedClaim, shared: Mapping[str, Sequence[str]]) -> str:
    """Format the rest about a result: why a number is absent, differences of its own, the note.

    Differences that its whole scope shares (`shared`) stand once on a page.
    """
    single = [text for text in _split_conditions(row) if text not in shared.get(row.scope, ())]
    parts = [row.reason, "; ".join(single), row.note]
    return ". ".join(part.rstrip(".") for part in parts if part)


def find_shared_differences(rows: Sequence[JudgedClaim]) -> dict[str, list[str]]:
    """Find the differences from the paper that all judged claims of a scope share, by scope."""
    shared: dict[str, list[str]] = {}
    for row in rows:
        if row.measured and row.verdict != Verdict.NOT_JUDGED:
            differences = _split_conditions(row)
            before = shared.get(row.scope, differences)
            shared[row.scope] = [text for text in before if text in differences]
    return shared


def _split_conditions(row: JudgedClaim) -> list[str]:
    return row.conditions.split("; ") if row.conditions else []


def format_value(text: str, unit: str) -> str:
    """Format a number for readers: a true minus sign, its unit; a dash for none."""
    if not text:
        return DASH
    text = text.replace("-", "−")
    if not unit or text[-1].isalpha():  # 21 cells, 20 of 21 agree
        return text
    return f"{text}{unit}" if unit == "×" else f"{text} {unit}"
