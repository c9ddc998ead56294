"""Build the page of claims from the rows of claims.csv."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True)
class Claims:
    """All rows of claims.csv in their order."""

    rows: Sequence[JudgedClaim]

    @classmethod
    def read(cls, path: Path) -> Claims:
        """Read claims.csv. Raises `UserError`."""
        return cls(read_claims(path))

    def count_verdicts(self) -> dict[tuple[Verdict, str], int]:
        """Count the claims by verdict and qualifier; rare verdicts only where they occur."""
        counts = Counter((Verdict(row.verdict), row.qualifier) for row in self.rows)
        for verdict in Verdict:
            if verdict not in RARE and not any(verdict == counted for counted, _ in counts):
                counts[verdict, ""] = 0
        order = [*Verdict]
        return dict(sorted(counts.items(), key=lambda item: (order.index(item[0][0]), item[0][1])))

    @cached_property
    def shared_differences(self) -> dict[str, list[str]]:
        """By scope with judged claims: the differences from the paper that all its claims share."""
        shared: dict[str, list[str]] = {}
        for row in self.rows:
            if row.measured and row.verdict != Verdict.NOT_JUDGED:
                differences = _split_conditions(row)
                before = shared.get(row.scope, differences)
                shared[row.scope] = [text for text in before if text in differences]
        return shared

    def list_single_differences(self, row: JudgedClaim) -> list[str]:
        """List the differences of one claim beyond those that its whole scope shares."""
        shared = self.shared_differences.get(row.scope, [])
        return [text for text in _split_conditions(row) if text not in shared]

    def list_conditions(self) -> list[tuple[str, str, str]]:
        """List by scope its title, the paper's conditions, and how this run differs from them."""
        lines = []
        for scope, title in SCOPE_TITLES.items():
            rows = [row for row in self.rows if row.scope == scope]
            if scope not in self.shared_differences:
                unjudged = any(row.verdict == Verdict.NOT_JUDGED for row in rows)
                state = str(Verdict.NOT_JUDGED if unjudged else Verdict.NOT_MEASURED)
            else:
                single = any(map(self.list_single_differences, rows))
                equal = "as in the paper" + ", except where single claims say otherwise" * single
                state = "; ".join(self.shared_differences[scope]) or equal
            lines.append((title, describe_paper_conditions(scope), state))
        return lines


def _split_conditions(row: JudgedClaim) -> list[str]:
    return row.conditions.split("; ") if row.conditions else []


def describe_paper_conditions(scope: Scope) -> str:
    """Describe the paper's conditions of a scope in a few words."""
    paper = read_paper(scope.benchmark)
    if scope is Scope.STRUCTURE:
        return "none"
    seeds = f"seeds {', '.join(map(str, load_protocol()['seeds']))}"
    if scope.measure == "latency":
        return f"{', '.join(paper.timed_on)}, fixed latency protocol, {seeds}"
    trained = f"{paper.settings[f'{scope.benchmark}.training.steps'][0]:,} steps, {seeds}"
    if scope.measure == "cost":
        return f"{', '.join(paper.devices)}, {trained}"
    sets = " + ".join(images.title for images in paper.train)
    held_out = f"{paper.settings['diagnostics.images'][0]} held-out images"
    measured_on = "complete image sets" if scope.measure == "quality" else held_out
    return f"{trained}, trained on {sets}, {measured_on}"


def write(claims: Path, output: Path) -> Claims:
    """Write the rows of claims.csv as Markdown; return them."""
    rows = Claims.read(claims)
    write_text(output, render_markdown(build_page(rows)))
    return rows


# --- sections -------------------------------------------------------------------------------------


def build_page(claims: Claims) -> Section:
    """Build the page of all claims: how many hold, under which conditions, and one by one."""
    inside = [explain_verdicts(claims), tabulate_conditions(claims), *build_topics(claims)]
    return Section(
        "The paper's claims, measured here",
        summarize(claims),
        [count_by_topic(claims)],
        inside=inside,
    )


def summarize(claims: Claims) -> str:
    """Say how many of the claims that the run decides hold, and why the others are open."""
    counts = Counter(row.holds for row in claims.rows)
    verdicts = Counter(row.verdict for row in claims.rows)
    absent, device = verdicts[Verdict.NOT_MEASURED], verdicts[Verdict.OTHER_DEVICE]
    text = (
        f"{counts['yes']} of the {counts['yes'] + counts['no']} claims that this run decides hold. "
        f"Of the others {counts[''] - absent - device} are left open by seed noise or not judged, "
        f"{device} need the paper's GPU and {absent} have no number here."
    )
    if any(row.verdict == Verdict.DIFFERENT for row in claims.rows):
        text += (
            " Numbers measured under other conditions than the paper's are held against it all the "
            "same, and are never called reproduced."
        )
    return text


def count_by_topic(claims: Claims) -> Table:
    """Count by topic the claims that hold, that do not, and that are not decided."""
    by_topic: dict[str, Counter[str]] = {}
    for row in claims.rows:
        by_topic.setdefault(row.topic, Counter())[row.holds] += 1
    columns = ("yes", "no", "")
    lines = [
        (topic, *(str(counts[column] or DASH) for column in columns))
        for topic, counts in by_topic.items()
    ]
    return build_simple_table(("Topic", "Hold", "Do not hold", "Open"), lines, "lrrr")


def list_counts(claims: Claims) -> str:
    """List the verdicts with the number of claims that got each."""
    counts = claims.count_verdicts().items()
    return "; ".join(f"{n} {', '.join(filter(None, key))}" for key, n in counts if n)


def explain_verdicts(claims: Claims) -> Section:
    """Explain the meaning of each verdict, with the number of claims that got it."""
    counts = [
        (", ".join(filter(None, key)), str(n), VERDICT_STYLES[key[0]][-1])
        for key, n in claims.count_verdicts().items()
    ]
    table = build_simple_table(("Verdict", "Claims", "Meaning"), counts)
    return Section("Verdicts", tables=[table])


def tabulate_conditions(claims: Claims) -> Section:
    """Tabulate the paper's conditions of each scope, and how this run differs from them."""
    header = ("Claims about", "Paper", "This run")
    return Section("Conditions", tables=[build_simple_table(header, claims.list_conditions())])


def build_topics(claims: Claims) -> list[Section]:
    """Build a section for every topic, with a row for each of its claims."""
    # The verdict is second, where a narrow screen shows it, too.
    header = ("Claim", "Verdict", "Paper", "Measured", "Tolerance", "Where", "Remarks")
    by_topic: dict[str, list[JudgedClaim]] = {}
    for row in claims.rows:
        by_topic.setdefault(row.topic, []).append(row)
    sections = []
    for topic, rows in by_topic.items():
        lines = [
            (
                row.sentence,
                format_verdict(row),
                format_value(row.published, row.unit),
                format_value(row.measured, row.unit),
                format_tolerance(row),
                row.where,
                format_remarks(claims, row),
            )
            for row in rows
        ]
        rules = f"Rules: {'; '.join(dict.fromkeys(row.rule for row in rows))}."
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


def format_remarks(claims: Claims, row: JudgedClaim) -> str:
    """Format the rest about a result: missing numbers, single differences, the note."""
    parts = [row.reason, "; ".join(claims.list_single_differences(row)), row.note]
    return ". ".join(part.rstrip(".") for part in parts if part)


def format_value(text: str, unit: str) -> str:
    """Format a number for readers: a true minus sign, its unit; a dash for none."""
    if not text:
        return DASH
    text = text.replace("-", "−")
    if not unit or text[-1].isalpha():  # 21 cells, 20 of 21 agree
        return text
    return f"{text}{unit}" if unit == "×" else f"{text} {unit}"
