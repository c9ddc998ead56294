"""Pages as trees of sections, which Markdown and HTML render: claims, a run's report, its record.

The parts that report and record share are gathered here: what was run, tables, figures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..analysis.claims.rows import Verdict
from ..analysis.provenance import BENCHMARKS, Difference, Provenance, Scope
from ..analysis.reader import Aggregates
from ..progress import duration
from .captions import without_lpips
from .layout import DASH, Cells, Row, Table, format_number
from .rendering import render

if TYPE_CHECKING:
    import pandas as pd

LOOKS = {  # of a verdict: a sign, a style of the page, and what it means
    Verdict.REPRODUCED: (
        "✓", "good", "agrees at the paper's printed precision, or the claimed relation holds"),
    Verdict.WITHIN_NOISE: ("≈", "near", "misses by no more than the tolerance stated beside it"),
    Verdict.REVERSED: (
        "↔", "near", "the claimed order is the other way round, by no more than seed noise"),
    Verdict.HOLDS: (
        "=", "good", "about structure alone, and so in any preset; this one is not the paper's"),
    Verdict.NOT_REPRODUCED: ("✗", "bad", "misses by more, under the paper's conditions"),
    Verdict.DIFFERENT: (
        "≠", "other", "measured on other data, settings, seeds or devices: shown, not judged"),
    Verdict.NOT_JUDGED: (
        "○", "other", "timed on a GPU that other processes used: shown alone"),
    Verdict.NOT_MEASURED: ("–", "none", "no number here; the reason is given"),
}  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A part of a page: text and captions in the marks of `markup`, tables, an image, code, links.

    `image` is its address and what it shows, `links` are names with addresses; a page may fold the
    section up.
    """

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    image: tuple[str, str] | None = None
    code: str = ""
    links: Sequence[tuple[str, str]] = ()
    inside: Sequence[Section] = ()
    folded: bool = False

    @property
    def anchor(self) -> str:
        """The name of the section in addresses."""
        return re.sub(r"\W+", "-", self.title.lower()).strip("-")


def simple_table(
    header: Sequence[str], rows: Iterable[Cells], columns: str = "", caption: str = ""
) -> Table:
    """Make a table of one header row and one group; `columns` are their types (default: left)."""
    group = [Row("", cells) for cells in rows]
    return Table("", columns or "l" * len(header), [header], [group], caption=caption)


# --- rendering ------------------------------------------------------------------------------------


def render_markdown(page: Section) -> str:
    """Render a page as Markdown."""
    return render("page.md.j2", page=page)


def render_html(page: Section, **values: Any) -> str:
    """Render a page as HTML that stands alone: it runs no script and asks no server."""
    return render("page.html.j2", page=page, version=__version__, verdicts=LOOKS, **values)


# --- what was run ---------------------------------------------------------------------------------


def differences(source: Aggregates) -> Section:
    """List in what the run differs from the paper's, and the numbers that each thing concerns."""
    title, run = "How this run differs from the paper's", source.provenance
    found = run.find_differences(tuple(Scope))
    lines = [
        (each.long or each.short, *(_measures(each, run, name) for name in BENCHMARKS))
        for each in found
    ]
    if text := without_lpips(run):
        lines.append((text, str(Scope.QUALITY), ""))
    if not lines:
        return Section(title, "In nothing: what it recorded is as in the paper.")
    told = "Beside each difference: the numbers that it concerns."
    return Section(title, told, [simple_table(("Difference", *BENCHMARKS.values()), lines)])


def _measures(difference: Difference, run: Provenance, benchmark: str) -> str:
    """Name the numbers of a benchmark that a difference concerns: "all", or which."""
    of_it = [s for s in run.scopes or difference.scopes if s.benchmark == benchmark]
    own = [scope for scope in of_it if scope in difference.scopes and scope != Scope.STRUCTURE]
    rest = {*of_it} - {*difference.scopes, Scope.STRUCTURE}
    return "all" if own and not rest else ", ".join(dict.fromkeys(scope.measure for scope in own))


def benchmarks(source: Aggregates) -> list[Section]:
    """Say of each benchmark what was run, beside the paper's, and by which code."""
    run, sections = source.provenance, []
    for name, title in BENCHMARKS.items():
        benchmark = run.benchmark(name)
        if not benchmark.facts:
            continue
        trained = [source.rows(name)[n].name for n in source.trained_runs(name)["arm"].unique()]
        rows = [("trained", ", ".join(trained) or "nothing", "all")]
        rows += [(label, own, paper or DASH) for label, own, paper in benchmark.facts]
        table = simple_table(("", "This run", "Paper"), rows)
        sections.append(Section(f"{title}: what was run", tables=[table]))
    facts = [(f"version of {name}", str(value)) for name, value in run.versions.items()]
    if run.git.get("commit"):
        state = " (with uncommitted changes)" if "True" in str(run.git.get("modified")) else ""
        facts.insert(0, ("code", f"commit {run.git['commit']}{state}"))
    code = Section("Code and versions", tables=[simple_table(("", "This run"), facts)])
    return [*sections, code] if facts else sections


def cost(source: Aggregates) -> Section:
    """Return a row per arm or method that was trained, and a total per benchmark."""
    lines: list[Cells] = []
    for half, title in (("native", "All native runs"), ("asr", "All super-resolution runs")):
        runs = source.trained_runs(half)
        lines += [
            _cost(source.rows(half)[name].name, own)
            for name, own in runs.groupby("arm", sort=False)
        ]
        lines += [[f"**{cell}**" for cell in _cost(title, runs)]] if len(runs) else []
    if not lines:
        return Section("Cost", "No training run is aggregated yet.")
    header = ("Model", "Runs", "Steps", "One run", "All runs", "Steps/s", "Peak MiB", "Device")
    caption = "Training runs: time and peak memory as each run recorded them."
    return Section("Cost", tables=[simple_table(header, lines, "lrrrrrrl", caption)])


def _cost(title: str, runs: pd.DataFrame) -> list[str]:
    seconds, steps = runs["wall_seconds"], runs["steps"].dropna()
    span = dict.fromkeys(f"{step:,.0f}" for step in (steps.min(), steps.max()))
    return [
        title,
        str(len(runs)),
        " to ".join(span) if len(steps) else DASH,
        *(
            DASH if math.isnan(s) else duration(s)
            for s in (seconds.mean(), seconds.sum(min_count=1))
        ),
        format_number(runs["steps_per_second"].mean(), "{:,.3g}"),
        format_number(runs["peak_memory_mib"].max(), "{:,.0f}"),
        ", ".join(device for device in runs["device"].unique() if device) or DASH,
    ]
