"""The claims as sections of a page, from the rows of claims.csv."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..analysis.claims.rows import Row, Verdict, read_claims
from ..analysis.provenance import Scope
from ..analysis.provenance.recorded import read_paper
from ..config import protocol
from ..files import write_text
from .documents import LOOKS, Section, render_markdown, simple_table
from .layout import DASH, Table

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
RARE = (Verdict.REVERSED, Verdict.HOLDS, Verdict.NOT_JUDGED)  # told where they are met


@dataclass(frozen=True)
class Page:
    """All rows of claims.csv in their order."""

    rows: Sequence[Row]

    @classmethod
    def read(cls, path: Path) -> Page:
        """Read claims.csv. Raises `UserError`."""
        return cls(read_claims(path))

    def counts(self) -> dict[tuple[Verdict, str], int]:
        """Count the claims by verdict and qualifier; rare verdicts only where they occur."""
        counts = Counter((Verdict(row.verdict), row.qualifier) for row in self.rows)
        for verdict in Verdict:
            if verdict not in RARE and not any(verdict == counted for counted, _ in counts):
                counts[verdict, ""] = 0
        order = [*Verdict]
        return dict(sorted(counts.items(), key=lambda item: (order.index(item[0][0]), item[0][1])))

    @cached_property
    def shared_differences(self) -> dict[str, list[str]]:
        """For every scope with judged claims, what sets all its claims apart."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if row.holds:
                mine = _differences(row)
                found[row.scope] = [d for d in found.get(row.scope, mine) if d in mine]
        return found

    def own_differences(self, row: Row) -> list[str]:
        """Return what sets a claim apart beyond the differences of its whole scope."""
        shared = self.shared_differences.get(row.scope, [])
        return [d for d in _differences(row) if d not in shared]

    def scopes(self) -> list[tuple[str, str, str]]:
        """Return per scope its title, the paper's conditions, and in what this run differs."""
        lines = []
        for scope, title in SCOPE_TITLES.items():
            own = [row for row in self.rows if row.scope == scope]
            if scope not in self.shared_differences:
                unjudged = any(row.verdict == Verdict.NOT_JUDGED for row in own)
                state = str(Verdict.NOT_JUDGED if unjudged else Verdict.NOT_MEASURED)
            else:
                single = any(map(self.own_differences, own))
                none = "as in the paper" + ", but for what single claims say" * single
                state = "; ".join(self.shared_differences[scope]) or none
            lines.append((title, paper_setting(scope), state))
        return lines


def _differences(row: Row) -> list[str]:
    return row.conditions.split("; ") if row.conditions else []


def paper_setting(scope: Scope) -> str:
    """Return the paper's conditions of a scope in a few words."""
    run = read_paper(scope.benchmark)
    if scope is Scope.STRUCTURE:
        return "none"
    seeds = f"seeds {', '.join(map(str, protocol()['seeds']))}"
    if scope.measure == "latency":
        return f"{', '.join(run.timed_on)}, fixed latency protocol, {seeds}"
    trained = f"{run.settings[f'{scope.benchmark}.training.steps'][0]:,} steps, {seeds}"
    if scope.measure == "cost":
        return f"{', '.join(run.devices)}, {trained}"
    sets = " + ".join(images.title for images in run.train)
    held_out = f"{run.settings['diagnostics.images'][0]} held-out images"
    shown = "complete image sets" if scope.measure == "quality" else held_out
    return f"{trained}, trained on {sets}, {shown}"


def write(claims: Path, output: Path) -> Page:
    """Write the rows of claims.csv as Markdown; return what they say."""
    page = Page.read(claims)
    write_text(output, render_markdown(section(page)))
    return page


def summarize(page: Page) -> str:
    """Say how many of the claims that have numbers hold, and how many have none."""
    measured = [row for row in page.rows if row.holds]
    holding = sum(row.holds == "yes" for row in measured)
    text = (
        f"{holding} of the {len(measured)} claims that this run has numbers for hold; "
        f"{len(page.rows) - len(measured)} have no number here or cannot be judged."
    )
    if any(row.verdict == Verdict.DIFFERENT for row in page.rows):
        text += (
            " Numbers measured under other conditions than the paper's are held against it all the "
            "same, and are never called reproduced."
        )
    return text


def count_by_topic(page: Page) -> Table:
    """Count by topic the claims that hold, that do not, and that have no number."""
    found: dict[str, Counter[str]] = {}
    for row in page.rows:
        found.setdefault(row.topic, Counter())[row.holds] += 1
    columns = ("yes", "no", "")
    lines = [
        (topic, *(str(counts[column] or DASH) for column in columns))
        for topic, counts in found.items()
    ]
    return simple_table(("Topic", "Hold", "Do not hold", "No number"), lines, "lrrr")


def list_counts(page: Page) -> str:
    """Say how many claims got each verdict."""
    counts = page.counts().items()
    return "; ".join(f"{n} {', '.join(filter(None, key))}" for key, n in counts if n)


def outcome(row: Row) -> str:
    """Return the verdict in words, with whether the claim would hold under other conditions."""
    if row.verdict != Verdict.DIFFERENT:
        return row.qualified_verdict
    return f"{row.verdict}; would {held(row)}"


def held(row: Row) -> str:
    """Return whether the numbers alone agree with the paper."""
    return "hold" if row.holds == "yes" else "not hold"


def tolerance(row: Row) -> str:
    """Return how far a number may miss: a value where it is one for all, else by what rule."""
    known = {format(float(value), ".2g") for value in row.allowed.split()}
    value = known.pop() if len(known) == 1 else "0"
    return f"±{value}" if value != "0" else row.rule.partition(" (")[0]


def remarks(page: Page, row: Row) -> str:
    """Return what else to know about a result: missing numbers, own conditions, the note."""
    parts = [row.reason, "; ".join(page.own_differences(row)), row.note]
    return ". ".join(part.rstrip(".") for part in parts if part)


def with_unit(text: str, unit: str) -> str:
    """Return a number as people read it: a true minus sign, its unit; a dash for none."""
    if not text:
        return DASH
    text = text.replace("-", "−")
    if not unit or text[-1].isalpha():  # 21 cells, 20 of 21 agree
        return text
    return f"{text}{unit}" if unit == "×" else f"{text} {unit}"


def topics(page: Page, wanted: Callable[[Row], bool] = lambda row: True) -> list[Section]:
    """Return a section for every topic with wanted claims: a row for each of them."""
    # The verdict second, where it is seen on a narrow screen, too.
    header = ("Claim", "Verdict", "Paper", "Measured", "Tolerance", "Where", "Remarks")
    by_topic: dict[str, list[Row]] = {}
    for row in filter(wanted, page.rows):
        by_topic.setdefault(row.topic, []).append(row)
    sections = []
    for topic, rows in by_topic.items():
        lines = [
            (
                row.sentence,
                outcome(row),
                with_unit(row.published, row.unit),
                with_unit(row.measured, row.unit),
                tolerance(row),
                row.where,
                remarks(page, row),
            )
            for row in rows
        ]
        rules = f"Rules: {'; '.join(dict.fromkeys(row.rule for row in rows))}."
        sections.append(Section(topic, rules, [simple_table(header, lines)]))
    return sections


def section(page: Page) -> Section:
    """Return all claims: how many hold, under what conditions, and one by one."""
    inside = [explain_verdicts(page), conditions(page), *topics(page)]
    return Section(
        "The paper's claims, measured here",
        summarize(page),
        [count_by_topic(page)],
        inside=inside,
    )


def explain_verdicts(page: Page) -> Section:
    """Return what each verdict means, and how many claims got it."""
    counts = [
        (", ".join(filter(None, key)), str(n), LOOKS[key[0]][-1])
        for key, n in page.counts().items()
    ]
    return Section("Verdicts", tables=[simple_table(("Verdict", "Claims", "Meaning"), counts)])


def conditions(page: Page) -> Section:
    """Return the paper's conditions of each scope, and in what this run differs."""
    table = simple_table(("Claims about", "Paper", "This run"), page.scopes())
    return Section("Conditions", tables=[table])
