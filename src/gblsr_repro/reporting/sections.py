"""Build the sections that the report and the record share: differences, what was run, cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..analysis.provenance.differences import (
    BENCHMARKS,
    PAPER_PRESET,
    RELEASED_PRESET,
    Difference,
    Provenance,
)
from ..analysis.reader import Aggregates
from ..analysis.training_time import RunTotals, sum_up
from ..config import Item, Scope
from .layout import DASH, Cells, format_number
from .page import PageSection, build_simple_table, list_captions
from .tables.training_time import format_time

MANY = 4
TOTALS = {"native": "All native runs", "asr": "All super-resolution runs"}


def explain_preset(preset: str) -> str:
    """Explain what the numbers of a preset can confirm; empty for the paper's own."""
    if preset == PAPER_PRESET:
        return ""
    if preset == RELEASED_PRESET:
        return (
            "**Scores of released weights.** A verdict on them confirms the scores and the "
            "weights, and says nothing of the training."
        )
    return (
        f"**Not the paper's experiment.** This is a run of the preset “{preset}”. Claims whose "
        "verdict is “different conditions” are shown, never called reproduced."
    )


def list_differences(source: Aggregates) -> PageSection:
    """List how the run differs from the paper's, and the numbers that each difference concerns."""
    title, provenance = "How this run differs from the paper's", source.provenance
    lines = [
        (difference.sentence, *list_concerned(difference, provenance))
        for difference in provenance.find_differences(tuple(Scope))
    ]
    if not lines:
        return PageSection(title, "It does not: all that it recorded is as in the paper.")
    table = build_simple_table(("Difference", *BENCHMARKS.values()), lines)
    return PageSection(title, "Beside each difference: the numbers that it concerns.", [table])


def list_concerned(difference: Difference, provenance: Provenance) -> list[str]:
    """List the numbers of each benchmark that a difference concerns: "all", or which."""
    texts = []
    for benchmark in BENCHMARKS:
        scopes = [
            scope
            for scope in provenance.scopes or difference.scopes
            if scope.benchmark == benchmark and scope != Scope.STRUCTURE
        ]
        concerned = [scope for scope in scopes if scope in difference.scopes]
        measures = ", ".join(dict.fromkeys(scope.measure for scope in concerned))
        texts.append("all" if concerned and len(concerned) == len(scopes) else measures)
    return texts


def find_notes(sections: Iterable[PageSection], items: Mapping[str, Item]) -> dict[str, list[str]]:
    """Find the sentences that stand once for many tables and figures, each with what it is about.

    A section's key is the name of its item. The conditions of items are among the sentences, and
    what stands under `MANY` of them.
    """
    concerned: dict[str, list[str]] = {}
    conditions: set[str] = set()
    for section in sections:
        for caption in list_captions(section) if section.key in items else ():
            conditions |= {*caption.conditions}
            for text in (*caption.sentences, *caption.conditions):
                concerned.setdefault(text, []).append(items[section.key].paper)
    named = {text: [*dict.fromkeys(papers)] for text, papers in concerned.items()}
    return {text: of for text, of in named.items() if text in conditions or len(of) >= MANY}


def list_notes(notes: Mapping[str, Sequence[str]]) -> PageSection:
    """List the sentences that stand once for many tables and figures, as `find_notes` has them."""
    lines = [(text, ", ".join(papers)) for text, papers in notes.items()]
    table = build_simple_table(("Note", "Tables and figures"), lines)
    title = "Notes on tables and figures"
    return PageSection(title, "" if lines else "Nothing is recorded.", [table] if lines else [])


def describe_runs(source: Aggregates) -> PageSection:
    """Describe what was run of each benchmark, and by which code."""
    facts, commits = [], []
    for name, title in BENCHMARKS.items():
        subjects, runs = source.subjects(name), source.trained_runs(name)
        if len(runs):
            names = [subjects[arm].name for arm in runs["arm"].unique()]
            facts.append((f"{title}: trained", ", ".join(names)))
        commits += [commit for commit in source.runs(name)["commit"] if commit]
    facts += source.provenance.remarks
    if commits:
        text = f"commit {', '.join(dict.fromkeys(commits))}"
        facts.append(("code (+: with uncommitted changes)", text))
    facts += list_used_versions(source.provenance)
    tables = [build_simple_table(("", "This run"), facts)] if facts else []
    return PageSection("What was run", tables=tables)


def list_used_versions(provenance: Provenance) -> list[tuple[str, str]]:
    """List the versions of the packages that the runs used."""
    versions = provenance.versions.items()
    return [(f"version of {name}", ", ".join(sorted(found))) for name, found in versions]


def list_training_costs(source: Aggregates) -> PageSection:
    """List time and memory of every trained arm and method, with a total per benchmark."""
    lines: list[Cells] = []
    for benchmark, title in TOTALS.items():
        subjects, runs = source.subjects(benchmark), source.trained_runs(benchmark)
        for arm, own in runs.groupby("arm", sort=False):
            lines.append(_format_costs(subjects[arm].name, sum_up(own)))
        if len(runs):
            lines.append([f"**{cell}**" for cell in _format_costs(title, sum_up(runs))])
    if not lines:
        return PageSection("Cost", "No training run is aggregated yet.")
    header = ("Model", "Runs", "Steps", "One run", "All runs", "Steps/s", "Peak MiB", "Device")
    caption = "Training runs: time and peak memory as each run recorded them."
    return PageSection("Cost", tables=[build_simple_table(header, lines, "lrrrrrrl", caption)])


def _format_costs(title: str, trainings: RunTotals) -> list[str]:
    """Format the row of some runs: steps, time, speed, memory and devices."""
    steps = (trainings.fewest_steps, trainings.most_steps)
    return [
        title,
        f"{trainings.runs}",
        " to ".join(dict.fromkeys(format_number(number, "{:,.0f}") for number in steps)),
        format_time(trainings.mean_seconds),
        format_time(trainings.total_seconds),
        format_number(trainings.steps_per_second, "{:,.3g}"),
        format_number(trainings.peak_memory_mib, "{:,.0f}"),
        ", ".join(trainings.devices) or DASH,
    ]
