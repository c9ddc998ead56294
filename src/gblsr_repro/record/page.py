"""Build the page of a record from its values: what was measured beside what the paper published."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path

from ..analysis.claims.cells import CELLS
from ..analysis.claims.verdicts import CLAIMS_FILE, JudgedClaim, count_claims, read_claims
from ..analysis.metrics import PSNR_Y, list_shown
from ..analysis.reader import BICUBIC, Aggregates, read_paper_aggregates
from ..analysis.schemas import format_scale
from ..analysis.statistics import Summary, compare_means, compute_pooled_p
from ..config import Scope, load_protocol
from ..reporting.captions import compose_caption
from ..reporting.claims import count_by_topic, format_value, summarize
from ..reporting.items import build_possible, select_items
from ..reporting.layout import DASH, Table, format_summary
from ..reporting.names import name_dataset, name_subject
from ..reporting.page import PageSection, Picture, build_simple_table
from ..reporting.sections import (
    find_notes,
    list_concerned,
    list_notes,
    list_used_versions,
)
from ..reporting.tables.build import build_beside_paper
from .restoring import OVERLAYS
from .values import MAIN, RUN_TABLE, VALUES

SHOWN = list_shown("record")  # the metrics of the short tables of arms
INTRODUCTION = (
    "What this project measured, beside the paper's numbers. `gblsr-repro record` writes this "
    "folder from the files of runs; nothing in it is typed by hand. [tables.md](tables.md) has "
    f"every table beside the paper's, [{VALUES}]({VALUES}) the number of every seed, by the setup "
    f"and by the aggregate that it is averaged in, [{RUN_TABLE}]({RUN_TABLE}) the commit, device, "
    "steps and time of every training, and `overlays/` its settings. A + after a commit: files of "
    "the checkout were modified or added, such as an overlay. p: of the pooled two-sided t-test; "
    "a single run takes the deviation of the paper's seeds."
)
CONDITIONS = (
    "A value after “paper” may be one that the paper leaves open: docs/interpretations.md says "
    "where it then comes from."
)
BY_ARM = (
    "Every score on evaluation images that was measured here; those on validation images (Table "
    "9) are among the claims. Same: the 90 % interval of the difference lies within the margin. "
    "Differs: p < 0.05, and not the same. Else undecided: these seeds cannot tell."
)


@dataclass(frozen=True)
class Part:
    """The numbers of a record under one setup: their name and their aggregates."""

    setup: str
    source: Aggregates


def build_page(folder: Path, parts: Sequence[Part], drawn: Mapping[str, Part]) -> PageSection:
    """Build the README of a record folder from its parts, the main setup first.

    `drawn` has the part that each figure was drawn from.
    """
    inside = [*compare_arms(parts)]
    inside += [section for part in parts for section in list_superres_quality(part)]
    if (folder / CLAIMS_FILE).is_file():
        claims = read_claims(folder / CLAIMS_FILE)
        inside += [*count_by_arm(claims, parts[0].source), summarize_claims(claims)]
    figures = [*build_figures(folder, parts[0], drawn)]
    notes = find_notes(figures, select_items("figure", parts[0].source.config))
    inside += [*figures, list_notes(notes), describe_setups(folder, parts)]
    return PageSection("Record", INTRODUCTION, inside=inside, elsewhere=notes)


def build_tables_page(parts: Sequence[Part]) -> PageSection:
    """Build the page of every table beside the paper's, the main setup's first."""
    text = "Every table beside the paper's, from the first setup that has it."
    tables = [*build_table_sections(parts)]
    items = {k: v for part in parts for k, v in select_items("table", part.source.config).items()}
    notes = find_notes(tables, items)
    inside = [list_notes(notes), *tables]
    return PageSection("Tables beside the paper's", text, inside=inside, elsewhere=notes)


# --- short tables ---------------------------------------------------------------------------------


def compare_arms(parts: Sequence[Part]) -> Iterator[PageSection]:
    """Compare every arm with the paper's: one table for each data set, of all setups."""
    main, paper = parts[0].source, read_paper_aggregates(load_protocol())
    for column in main.evaluate:
        rows = []
        for part, (name, arm) in product(parts, main.arms.items()):
            cells = list_scores(part.source, column, name)
            if cells[0].measured:
                pairs = compare_cells(cells, list_scores(paper, column, name))
                label = arm.short if part.setup == MAIN else f"{arm.short} ({part.setup})"
                rows.append([label, f"{cells[0].n:.0f}", *chain.from_iterable(pairs)])
        headings = ([f"{metric.arrowed_heading}, here / paper", "p"] for metric in SHOWN)
        if not rows:
            continue
        header = ["Arm", "Seeds", *chain.from_iterable(headings)]
        table = build_simple_table(header, rows, "lr" + "rr" * len(SHOWN))
        title = f"Native benchmark on {name_dataset(main, 'native', column)}"
        yield PageSection(title, tables=[table])


def list_scores(source: Aggregates, column: str, arm: str) -> list[Summary]:
    """List the numbers of an arm on a data set, one a metric of `SHOWN`."""
    if not source.has("native"):
        return [Summary() for _ in SHOWN]
    return [source.cell("native", column, arm, metric.name) for metric in SHOWN]


def compare_cells(
    cells: Iterable[Summary], published: Iterable[Summary]
) -> Iterator[tuple[str, str]]:
    """Yield measured numbers beside the published ones, one a metric of `SHOWN`, and their p."""
    for metric, cell, other in zip(SHOWN, cells, published, strict=True):
        here = format_summary(cell, metric.digits)
        pair = f"{here} / {format_summary(other, metric.digits, spread=False)}"
        p = format_p(compare_means(cell, other))
        yield pair.replace(" ", "\N{NO-BREAK SPACE}"), p  # a narrow screen keeps it in one line


def format_p(p: float) -> str:
    """Format the p of a test with three decimals; a dash for NaN."""
    if math.isnan(p):
        return DASH
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def list_superres_quality(part: Part) -> Iterator[PageSection]:
    """List PSNR-Y by data set and scale, with the p of a method's difference to the base method."""
    source, base = part.source, part.source.config["asr"]["base_method"]
    cells = source.cells("asr_quality") if source.has("asr_quality") else {}
    scales = [format_scale(scale) for scale in source.config["asr"]["scales"]]
    rows = []
    for column in source.config["asr"]["evaluate"]:
        for method in (BICUBIC, *source.methods):
            row, of_base = (
                [cells.get((column, name, scale, PSNR_Y.name), Summary()) for scale in scales]
                for name in (method, base)
            )
            if any(cell.measured for cell in row):
                names = name_dataset(source, "asr", column), name_subject(source, method)
                compared = of_base if method != base else [Summary() for _ in scales]
                rows.append([*names, *map(format_compared, row, compared)])
    if rows:
        header = ["Set", "Method", *(f"×{scale}" for scale in scales)]
        table = build_simple_table(header, rows, "ll" + "r" * len(scales))
        title = f"Super-resolution: {PSNR_Y.title} in {PSNR_Y.unit} ({part.setup})"
        text = (
            f"p: of the pooled t-test beside {name_subject(source, base)}, where both have seeds."
        )
        yield PageSection(title, f"{describe_sets(source)} {text}".strip(), tables=[table])


def format_compared(cell: Summary, other: Summary) -> str:
    """Format a number with its deviation, and the p of its difference to another if both vary."""
    text, p = format_summary(cell, PSNR_Y.digits), compute_pooled_p(cell, other)
    return text if math.isnan(p) else f"{text} (p {format_p(p)})"


def describe_sets(source: Aggregates) -> str:
    """Describe the evaluation sets of super-resolution that are not the paper's."""
    differing = [
        difference.sentence
        for difference in source.provenance.differences
        if Scope.ASR_QUALITY in difference.scopes and difference.columns
    ]
    return f"Other images than the paper's: {'; '.join(differing)}." if differing else ""


# --- items of the paper ---------------------------------------------------------------------------


def build_table_sections(parts: Sequence[Part]) -> Iterator[PageSection]:
    """Build a section for every table beside the paper's, of the first setup that has it."""
    shown: set[str] = set()
    for part in parts:
        items = select_items("table", part.source.config)
        names = [name for name, item in items.items() if item.compared]
        built, _ = build_possible(
            [name for name in names if name not in shown],
            lambda name: build_beside_paper(part.source, items[name]),  # noqa: B023
        )
        shown |= {*built}
        for name, tables in built.items():
            title = f"{tables[0].caption.title} ({part.setup})"
            yield PageSection(title, tables=tables, key=name)


def build_figures(folder: Path, main: Part, drawn: Mapping[str, Part]) -> Iterator[PageSection]:
    """Build a section for every figure in the folder, with the caption of what it was drawn from.

    What was not drawn but copied is of the `main` part.
    """
    for name, item in select_items("figure", main.source.config).items():
        path = folder / "figures" / f"{name}.png"
        if path.is_file():
            source = drawn.get(name, main).source
            picture = Picture(path.relative_to(folder).as_posix(), f"{item.title}, described above")
            caption = compose_caption(item, source.provenance)
            yield PageSection(item.title, picture=picture, caption=caption, key=name)


def count_by_arm(claims: Sequence[JudgedClaim], source: Aggregates) -> Iterator[PageSection]:
    """Count for every arm and method the published scores that are the same here, or differ."""
    by_subject: dict[str, list[JudgedClaim]] = {}
    for row in claims:
        is_score = row.topic.startswith(CELLS) and row.scope in (Scope.QUALITY, Scope.ASR_QUALITY)
        subject = row.id.split()[1].rpartition("/")[2] if is_score and row.measured else ""
        if subject in source.arms or subject in source.methods:
            by_subject.setdefault(subject, []).append(row)
    lines = []
    for subject, rows in by_subject.items():
        n = count_claims(rows)
        numbers = (n["holds"], n["undecided"], n["fails"])
        lines.append((name_subject(source, subject), *map(str, numbers)))
    if lines:
        header = ("Arm", "Same", "Undecided", "Differs")
        table = build_simple_table(header, lines, "lrrr")
        yield PageSection("Published scores by arm", BY_ARM, [table])


def summarize_claims(claims: Sequence[JudgedClaim]) -> PageSection:
    """Summarize the claims: how many hold, and each ordering and bound."""
    text = f"{summarize(claims)} Every claim with its numbers: [{CLAIMS_FILE}]({CLAIMS_FILE})."
    return PageSection(
        "What the paper claims", text, [count_by_topic(claims), *list_relations(claims)]
    )


def list_relations(claims: Sequence[JudgedClaim]) -> list[Table]:
    """List the orderings and bounds that the paper claims, and whether they hold here."""
    rows = []
    for row in claims:
        is_bound = row.published.startswith(("<", ">", "≤", "≥")) and row.scope != Scope.STRUCTURE
        if is_bound and row.agreement:
            sides = (format_value(side, row.unit) for side in (row.published, row.measured))
            rows.append((row.sentence, *sides, row.agreement))
    caption = "Orderings and bounds that there are numbers for"
    header = ("The paper says", "Bound", "Measured", "In these runs")
    return [build_simple_table(header, rows, caption=caption)] if rows else []


# --- setups ---------------------------------------------------------------------------------------


def describe_setups(folder: Path, parts: Sequence[Part]) -> PageSection:
    """Describe all setups: their settings and command, and a line for each distinct condition."""
    conditions: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        provenance = part.source.provenance
        for each in provenance.find_differences(tuple(Scope)):
            concerned = ", ".join(filter(None, list_concerned(each, provenance)))
            conditions.setdefault((each.sentence, concerned), []).append(part.setup)
    for part in parts:
        provenance = part.source.provenance
        for label, text in (*provenance.remarks, *list_used_versions(provenance)):
            conditions.setdefault((f"{label}: {text}", ""), []).append(part.setup)
    rows = [
        (*condition, ", ".join(setups) if len(setups) < len(parts) else "all")
        for condition, setups in conditions.items()
    ]
    table = build_simple_table(("Condition", "Concerns", "Setups"), rows)
    names = ", ".join(f"[{part.setup}]({OVERLAYS}/{part.setup}.yaml)" for part in parts)
    return PageSection(
        "Setups",
        f"The settings of each: {names}. The commands that measure their numbers again:",
        code="\n".join(format_command(folder, part) for part in parts),
        inside=[PageSection("Conditions", CONDITIONS, tables=[table])],
    )


def format_command(folder: Path, part: Part) -> str:
    """Format the command that measures these numbers again."""
    config, scopes = part.source.config, {*part.source.provenance.scopes}
    overlay = f"docs/{folder.name}/{OVERLAYS}/{part.setup}.yaml"
    words = ["snakemake", "--cores", "all", "--configfile", overlay]
    if config["preset"] == "mirror" or config["accept_partial"]:
        words += ["--config", "mirror=FOLDER"]
    words.append("--")
    if scopes & {Scope.QUALITY, Scope.LOCALITY, Scope.ABLATION}:
        words.append("native")
    elif Scope.LATENCY in scopes:
        words.append("native_timing")
    if Scope.ASR_QUALITY in scopes:
        words.append("asr" if Scope.ASR_LATENCY in scopes else "asr_eval")
    elif Scope.ASR_LATENCY in scopes:
        words.append("asr_timing")
    return shlex.join(words)
