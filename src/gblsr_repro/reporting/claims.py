"""The paper's claims, one by one: what it says, what was measured here, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from ..config import Config, protocol, read_table, repository_root
from ..errors import UserError
from ..files import write_csv, write_text
from .aggregates import Aggregates
from .documents import Section, render_markdown, simple_table
from .expressions import parse
from .provenance import Scope
from .provenance.recorded import of_paper
from .tables import DASH
from .verdicts import CELLS, LOOKS, TOLERANCES, Claim, Result, Target, Verdict, judge

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


def registry(path: Path | None = None) -> list[Claim]:
    """Read and check config/paper/claims.tsv; raises `UserError`."""
    rows = read_table(path or repository_root() / "config" / "paper" / "claims.tsv", Claim, "id")
    for claim in rows.values():
        try:
            if claim.measure:
                parse(claim.measure)
            elif not claim.note:
                raise UserError("it has no measure, so its note must say why.")
            if not claim.published.startswith(CELLS):
                Target.parse(claim.published)
            Scope(claim.scope)
            if claim.tolerance not in TOLERANCES:
                float(claim.tolerance.removesuffix("%"))
        except (UserError, ValueError) as error:
            raise UserError(f"config/paper/claims.tsv, claim {claim.id!r}: {error}") from error
    return list(rows.values())


@dataclass(frozen=True)
class Page:
    """All results in the registry's order."""

    results: Sequence[Result]

    def counts(self) -> dict[Verdict, int]:
        """Return how many claims got each verdict, in order; the rare ones where they are met."""
        found = Counter(result.verdict for result in self.results)
        rare = (Verdict.HOLDS, Verdict.NOT_JUDGED)
        return {v: found[v] for v in Verdict if found[v] or v not in rare}

    @cached_property
    def shared_differences(self) -> dict[str, list[str]]:
        """For every scope with measured claims, what sets all its claims apart."""
        found: dict[str, list[str]] = {}
        for result in self.results:
            if result.holds is not None:
                mine, scope = list(result.differences), result.claim.scope
                found[scope] = [d for d in found.get(scope, mine) if d in mine]
        return found

    def own_differences(self, result: Result) -> list[str]:
        """Return what sets a claim apart beyond the differences of its whole scope."""
        shared = self.shared_differences.get(result.claim.scope, [])
        return [d for d in result.differences if d not in shared]

    def scopes(self) -> list[tuple[str, str, str]]:
        """Return per scope its title, the paper's conditions, and in what this run differs."""
        rows = []
        for scope, title in SCOPE_TITLES.items():
            own = [result for result in self.results if result.claim.scope == scope]
            if scope not in self.shared_differences:
                unjudged = any(result.verdict is Verdict.NOT_JUDGED for result in own)
                state = str(Verdict.NOT_JUDGED if unjudged else Verdict.NOT_MEASURED)
            else:
                single = any(map(self.own_differences, own))
                none = "as in the paper" + ", but for what single claims say" * single
                state = "; ".join(self.shared_differences[scope]) or none
            rows.append((title, paper_setting(scope), state))
        return rows


def paper_setting(scope: Scope) -> str:
    """Return the paper's conditions of a scope in a few words."""
    run = of_paper(scope.benchmark)
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


def evaluate(aggregates: Path, config: Config) -> Page:
    """Judge every claim on the aggregates of one folder; raises `UserError`."""
    if not aggregates.is_dir():
        raise UserError(f"{aggregates} is not a folder; run the aggregate step that makes it.")
    here, paper = Aggregates(aggregates, config), Aggregates.paper(protocol())
    sigmas = config["claims"]["seed_noise_sigmas"]
    return Page([judge(claim, here, paper, sigmas) for claim in registry()])


def write(aggregates: Path, output: Path, config: Config) -> Page:
    """Write claims.csv and claims.md under `output`; return what they say."""
    page = evaluate(aggregates, config)
    rows = [_row(result) for result in page.results]
    write_csv(output / "claims.csv", list(rows[0]), rows)
    write_text(output / "claims.md", render_markdown(section(page)))
    return page


def _row(result: Result) -> dict[str, str]:
    claim = asdict(result.claim)
    return {name: claim[name] for name in ("id", "topic", "where", "claim", "unit")} | {
        "paper": result.paper,
        "measured": result.measured,
        "verdict": str(result.verdict),
        "holds": {None: "", True: "yes", False: "no"}[result.holds],
        "why": result.why,
        "conditions": "; ".join(result.differences),
        **{name: claim[name] for name in ("tolerance", "reason", "note")},
        "paper_values": " ".join(map(repr, result.targets)),
        "measured_values": " ".join(map(repr, result.values)),
        "allowed": " ".join(format(value, ".4g") for value in result.allowed),
    }


def remarks(page: Page, result: Result) -> str:
    """Return what else to know about a result: missing numbers, own conditions, the note."""
    own = page.own_differences(result)
    parts = [result.why, "; ".join(own), result.claim.note if result.claim.measure else ""]
    return ". ".join(part.rstrip(".") for part in parts if part)


def with_unit(text: str, unit: str) -> str:
    """Return a number as people read it: a true minus sign, its unit; a dash for none."""
    if not text:
        return DASH
    text = text.replace("-", "−")
    if not unit or text[-1].isalpha():  # 21 cells, 20 of 21 agree
        return text
    return f"{text}{unit}" if unit == "×" else f"{text} {unit}"


def topics(page: Page, wanted: Callable[[Result], bool] = lambda result: True) -> list[Section]:
    """Return a section for every topic with wanted claims: a row for each of them."""
    header = ("Claim", "Where", "Paper", "Measured", "Verdict", "Tolerance", "Remarks")
    by_topic: dict[str, list[Result]] = {}
    for result in filter(wanted, page.results):
        by_topic.setdefault(result.claim.topic, []).append(result)
    sections = []
    for topic, results in by_topic.items():
        kinds = dict.fromkeys(f"{r.claim.kind_of_tolerance} ({r.claim.reason})" for r in results)
        rows = [
            (
                result.claim.claim,
                result.claim.where,
                with_unit(result.paper, result.claim.unit),
                with_unit(result.measured, result.claim.unit),
                result.outcome,
                result.tolerance,
                remarks(page, result),
            )
            for result in results
        ]
        told = f"Tolerances: {'; '.join(kinds)}."
        sections.append(Section(topic, told, [simple_table(header, rows)]))
    return sections


def section(page: Page) -> Section:
    """Return all claims: how many got each verdict, under what conditions, and one by one."""
    counts = [(str(v), str(n), LOOKS[v][-1]) for v, n in page.counts().items()]
    table = simple_table(("Verdict", "Claims", "Meaning"), counts)
    inside = [conditions(page), *topics(page)]
    return Section("The paper's claims, measured here", tables=[table], inside=inside)


def conditions(page: Page) -> Section:
    """Return the paper's conditions of each scope, and in what this run differs."""
    table = simple_table(("Claims about", "Paper", "This run"), page.scopes())
    return Section("Conditions", tables=[table])
