"""Build the page of claims from the rows of claims.csv."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..analysis.claims.verdicts import JudgedClaim, Verdict, read_claims
from ..analysis.provenance.differences import Scope
from ..analysis.provenance.recorded import read_paper
from ..config import load_protocol
from ..files import write_text
from .layout import DASH, Table
from .page import VERDICT_STYLES, Section, build_simple_table, render_markdown

SCOPE_TITLES = {
    Scope.STRUCTURE: "Structure (any conditions)",
    Scope.QUALITY: "Native quality",
    Scope.LOCALITY: "Locality diagnostic",
    Scope.ABLATION: "Log-space ablation",
    Scope.LATENCY: "Native inference time",
    Scope.COST: "Native training time",
    Scope.ASR_QUALITY: "Super-resolution quality",
    Scope.ASR_LATENCY: "Super-resolution speed and memory",
    Scope.ASR_COST: "Super-resolution training time",
}
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


def group_by_topic(rows: Sequence[JudgedClaim]) -> dict[str, list[JudgedClaim]]:
    """Group claims by their topic, in their order."""
    by_topic: dict[str, list[JudgedClaim]] = {}
    for row in rows:
        by_topic.setdefault(row.topic, []).append(row)
    return by_topic


def find_shared_differences(rows: Sequence[JudgedClaim]) -> dict[str, list[str]]:
    """Find the differences from the paper that all judged claims of a scope share, by scope."""
    shared: dict[str, list[str]] = {}
    for row in rows:
        if row.measured and row.verdict != Verdict.NOT_JUDGED:
            differences = _split_conditions(row)
            before = shared.get(row.scope, differences)
            shared[row.scope] = [text for text in before if text in differences]
    return shared


def list_conditions(rows: Sequence[JudgedClaim]) -> list[tuple[str, str, str]]:
    """List by scope its title, the paper's conditions, and how this run differs from them."""
    shared, lines = find_shared_differences(rows), []
    for scope, title in SCOPE_TITLES.items():
        of_scope = [row for row in rows if row.scope == scope]
        if scope not in shared:
            unjudged = any(row.verdict == Verdict.NOT_JUDGED for row in of_scope)
            state = str(Verdict.NOT_JUDGED if unjudged else Verdict.NOT_MEASURED)
        else:
            single = any(list_single_differences(row, shared) for row in of_scope)
            equal = "as in the paper" + ", except where single claims say otherwise" * single
            state = "; ".join(shared[scope]) or equal
        lines.append((title, describe_paper_conditions(scope), state))
    return lines


def list_single_differences(row: JudgedClaim, shared: Mapping[str, Sequence[str]]) -> list[str]:
    """List the differences of one claim beyond those that its whole scope shares."""
    return [text for text in _split_conditions(row) if text not in shared.get(row.scope, ())]


def _split_conditions(row: JudgedClaim) -> list[str]:
    return row.conditions.split("; ") if row.conditions else []


def describe_paper_conditions(scope: Scope) -> str:
    """Describe the paper's conditions of a scope in a few words."""
    paper, protocol = read_paper(scope.benchmark), load_protocol()
    if scope is Scope.STRUCTURE:
        return "none"
    seeds = f"seeds {', '.join(map(str, protocol['seeds']))}"
    if scope.measure == "latency":
        return f"{', '.join(paper.timed_on)}, fixed latency protocol, {seeds}"
    trained = f"{protocol[scope.benchmark]['training']['steps']:,} steps, {seeds}"
    if scope.measure == "cost":
        return f"{', '.join(paper.devices)}, {trained}"
    sets = " + ".join(images.title for images in paper.train)
    held_out = f"{protocol['diagnostics']['images']} held-out images"
    measured_on = "complete image sets" if scope.measure == "quality" else held_out
    return f"{trained}, trained on {sets}, {measured_on}"


def write(claims: Path, output: Path) -> list[JudgedClaim]:
    """Write the rows of claims.csv as Markdown; return them."""
    rows = read_claims(claims)
    write_text(output, render_markdown(build_page(rows)))
    return rows


# --- sections -------------------------------------------------------------------------------------


def build_page(rows: Sequence[JudgedClaim]) -> Section:
    """Build the page of all claims: how many hold, under which conditions, and one by one."""
    conditions = build_simple_table(("Claims about", "Paper", "This run"), list_conditions(rows))
    inside = [
        explain_verdicts(rows),
        Section("Conditions", tables=[conditions]),
        *build_topics(rows),
    ]
    return Section(
        "The paper's claims, measured here",
        summarize(rows),
        [count_by_topic(rows)],
        inside=inside,
    )


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


def count_by_topic(rows: Sequence[JudgedClaim]) -> Table:
    """Count by topic the claims that hold, that do not, and that are not decided."""
    columns = ("yes", "no", "")
    lines = []
    for topic, of_topic in group_by_topic(rows).items():
        counts = Counter(row.holds for row in of_topic)
        lines.append((topic, *(str(counts[column] or DASH) for column in columns)))
    return build_simple_table(("Topic", "Hold", "Do not hold", "Open"), lines, "lrrr")


def list_counts(rows: Sequence[JudgedClaim]) -> str:
    """List the verdicts with the number of claims that got each."""
    return "; ".join(f"{number} {text}" for _, text, number in count_verdicts(rows) if number)


def explain_verdicts(rows: Sequence[JudgedClaim]) -> Section:
    """Explain the meaning of each verdict, with the number of claims that got it."""
    lines = [
        (text, str(number), VERDICT_STYLES[verdict][-1])
        for verdict, text, number in count_verdicts(rows)
    ]
    table = build_simple_table(("Verdict", "Claims", "Meaning"), lines)
    return Section("Verdicts", tables=[table])


def build_topics(rows: Sequence[JudgedClaim]) -> list[Section]:
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
        sections.append(Section(topic, rules, [build_simple_table(header, lines)]))
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
    """Format the rest about a result: missing numbers, single differences, the note."""
    parts = [row.reason, "; ".join(list_single_differences(row, shared)), row.note]
    return ". ".join(part.rstrip(".") for part in parts if part)


def format_value(text: str, unit: str) -> str:
    """Format a number for readers: a true minus sign, its unit; a dash for none."""
    if not text:
        return DASH
    text = text.replace("-", "−")
    if not unit or text[-1].isalpha():  # 21 cells, 20 of 21 agree
        return text
    return f"{text}{unit}" if unit == "×" else f"{text} {unit}"
