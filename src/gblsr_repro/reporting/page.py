"""Build pages as trees of sections, and render them as Markdown or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import __version__
from ..analysis.claims.verdicts import Verdict
from .captions import Caption
from .layout import Cells, Row, Table
from .rendering import render_template

VERDICT_STYLES = {  # a sign, a class of templates/page.css, and what the verdict means
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


WIDE = 800  # pixels of a figure across two columns


@dataclass(frozen=True)
class Picture:
    """An image in a page: its address, a description, and its width in pixels (0: any)."""

    address: str
    description: str
    width: int = 0

    @property
    def wide(self) -> bool:
        """Whether its text is legible on a narrow screen only where a reader can scroll."""
        return self.width > WIDE


@dataclass(frozen=True)
class Section:
    """A part of a page: text in the marks of `rendering`, tables, a picture, code, links.

    `links` are names with addresses; a page may fold the section up.
    """

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    picture: Picture | None = None
    code: str = ""
    links: Sequence[tuple[str, str]] = ()
    inside: Sequence[Section] = ()
    folded: bool = False

    @property
    def anchor(self) -> str:
        """The name of the section in addresses."""
        return re.sub(r"\W+", "-", self.title.lower()).strip("-")


def build_simple_table(
    header: Sequence[str], rows: Iterable[Cells], columns: str = "", caption: str = ""
) -> Table:
    """Build a table of one header row and one group; `columns` are their types (default: left)."""
    group = [Row("", cells) for cells in rows]
    return Table(
        "", columns or "l" * len(header), [header], [group], caption=Caption(on_page=caption)
    )


def render_markdown(page: Section) -> str:
    """Render a page as Markdown."""
    return render_template("page.md.j2", page=page)


def render_html(page: Section, **values: Any) -> str:
    """Render a page as HTML that stands alone: it runs no script and asks no server."""
    return render_template(
        "page.html.j2", page=page, version=__version__, verdicts=VERDICT_STYLES, **values
    )
