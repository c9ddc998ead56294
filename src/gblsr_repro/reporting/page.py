"""Build pages as trees of sections, and render them as Markdown or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .. import __version__
from .captions import Caption
from .layout import Cells, Table
from .rendering import render_template

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
class PageSection:
    """A page or a part of one: text in the marks of `rendering`, tables, a picture, code.

    HTML alone shows `links`, names with addresses, and folds up the sections that are `folded`.
    """

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    picture: Picture | None = None
    code: str = ""
    links: Sequence[tuple[str, str]] = ()
    inside: Sequence[PageSection] = ()
    folded: bool = False

    @property
    def anchor(self) -> str:
        """The name of the section in addresses."""
        return re.sub(r"\W+", "-", self.title.lower()).strip("-")


def build_simple_table(
    header: Sequence[str], rows: Iterable[Cells], columns: str = "", caption: str = ""
) -> Table:
    """Build a table of one header row and one group; `columns` are their types (default: left)."""
    return Table(
        "", columns or "l" * len(header), [header], [[*rows]], caption=Caption(on_page=caption)
    )


def render_markdown(page: PageSection) -> str:
    """Render a page as Markdown."""
    return render_template("page.md.j2", page=page)


def render_html(page: PageSection, warning: str, badges: Mapping[str, Sequence[str]]) -> str:
    """Render a page as HTML that stands alone: it runs no script and asks no server.

    `warning` stands below the title. Cells that begin with a text of `badges` show its sign, in a
    class of templates/page.css.
    """
    return render_template(
        "page.html.j2", page=page, warning=warning, badges=badges, version=__version__
    )
