"""Pages as trees of sections, which Markdown and HTML render: claims, a run's report, its record.

The parts that report and record share are gathered here: what was run, tables, figures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..progress import duration
from .aggregates import Aggregates
from .captions import differences, sentence
from .compare import Scope, data_title, short_names
from .conditions import HALVES, Half, ImageSet, of_paper
from .rendering import render
from .tables.layout import DASH, Cells, Row, Table, format_number
from .verdicts import LOOKS

if TYPE_CHECKING:
    import pandas as pd


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


def benchmarks(source: Aggregates) -> list[Section]:
    """Say of each half what was run, beside the paper's, and in what that differs."""
    run, sections = source.conditions, []
    for half, title in HALVES.items():
        here, there = run.half(half), of_paper().half(half)
        if here is None or there is None:
            continue
        names = [source.rows(half)[name].name for name in source.runs(half)["arm"].unique()]
        known, published = (_facts(of, short_names(half)) for of in (here, there))
        rows = [("trained", ", ".join(names) or "nothing", "all")]
        rows += [(label, text, published.get(label, DASH)) for label, text in known.items()]
        notes = " ".join(map(sentence, differences(run, [s for s in Scope if s.half == half])))
        table = simple_table(("", "This run", "Paper"), rows)
        sections.append(Section(f"{title}: what was run", notes, [table]))
    facts = [(f"version of {name}", str(value)) for name, value in run.versions.items()]
    if run.git.get("commit"):
        state = " (with uncommitted changes)" if "True" in str(run.git.get("modified")) else ""
        facts.insert(0, ("code", f"commit {run.git['commit']}{state}"))
    code = Section("Code and versions", tables=[simple_table(("", "This run"), facts)])
    return [*sections, code] if facts else sections


def _facts(half: Half, called: Mapping[str, str]) -> dict[str, str]:
    """Return what is known of a half, by its name: devices, image sets, why something is not there.

    `called` holds the names of its arms or methods.
    """
    sets = {"training images": half.train}
    sets |= {f"measured on {column}": images for column, images in half.evaluate.items()}
    found = {"trained on": ", ".join(half.devices), "timed on": ", ".join(half.timed_on)}
    found |= {label: "; ".join(map(_image_set, images)) for label, images in sets.items()}
    found["not timed"] = "; ".join(
        f"{called.get(subject, subject)} on {column} by the clock {clock}: {reason}"
        for subject, clocks in half.not_timed.items()
        for clock, reasons in clocks.items()
        for column, reason in reasons.items()
    )
    found["LPIPS"] = half.without_lpips and f"not measured: {half.without_lpips}"
    return {label: text for label, text in found.items() if text}


def _image_set(images: ImageSet) -> str:
    text = f"{images.title}, {images.images:,} images"
    if images.stands_in_for:
        return f"{text}, in place of {data_title(images.stands_in_for)}"
    return text if images.complete else f"{text} of {images.expected}"


def cost(source: Aggregates) -> Section:
    """Return a row per arm or method that was trained, and a total per benchmark."""
    lines: list[Cells] = []
    for half, title in (("native", "All native runs"), ("asr", "All super-resolution runs")):
        runs = source.runs(half)
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
