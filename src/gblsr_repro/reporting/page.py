"""Build pages as trees of sections, and render them as Markdown or HTML."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from .. import __version__
from .captions import Caption
from .layout import BodyRow, Cells, Table
from .rendering import render_template

WIDE = 800  # pixels of a figure across two columns
SMALL = 120
Links = Sequence[tuple[str, str]]
"""Names with addresses."""


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

    @property
    def small(self) -> bool:
        """Whether it is better seen with larger pixels."""
        return self.width < SMALL


@dataclass(frozen=True)
class Compared:
    """A picture among those of which a reader chooses one: its name, and what stands under it."""

    name: str
    picture: Picture
    text: str
    links: Links = ()


@dataclass(frozen=True)
class PageSection:
    """A page or a part of one: text in the marks of `rendering`, tables, a picture, code.

    The captions of a page lack the sentences that stand `elsewhere` on it. HTML alone shows
    `links`, names with addresses, folds up the sections that are `folded`, and gives one with a
    `key` an address of its own. A reader chooses one of the `pictures`, the original
    first, and one of `choices`, which shows the rows inside that have its number.
    """

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    picture: Picture | None = None
    caption: Caption | None = None
    code: str = ""
    links: Links = ()
    inside: Sequence[PageSection] = ()
    folded: bool = False
    key: str = ""
    pictures: Sequence[Compared] = ()
    choices: Sequence[str] = ()
    elsewhere: Collection[str] = ()

    @property
    def anchor(self) -> str:
        """The name of the section in addresses."""
        return self.key or convert_to_anchor(self.title)


def list_parts(section: PageSection) -> Iterator[PageSection]:
    """List a section and all that are inside it."""
    yield section
    for inner in section.inside:
        yield from list_parts(inner)


def list_captions(section: PageSection) -> list[Caption]:
    """List the captions in a section and in those inside it."""
    parts = [*list_parts(section)]
    of_tables = [table.caption for part in parts for table in part.tables]
    return of_tables + [part.caption for part in parts if part.caption]


def convert_to_anchor(text: str) -> str:
    """Convert a text to a name in addresses."""
    return re.sub(r"\W+", "-", text.lower()).strip("-")


def list_links(files: Mapping[str, Path], folder: Path) -> list[tuple[str, str]]:
    """List names with addresses relative to `folder`, of the files that exist."""
    return [
        (label, quote(Path(os.path.relpath(path, folder)).as_posix()))
        for label, path in files.items()
        if path.is_file()
    ]


def build_simple_table(
    header: Sequence[str], rows: Iterable[Cells], columns: str = "", caption: str = ""
) -> Table:
    """Build a table of one header row and one group; `columns` are their types (default: left)."""
    group = [BodyRow(cells) for cells in rows]
    told = Caption(sentences=[caption] if caption else [])
    return Table("", columns or "l" * len(header), [header], [group], told)


def render_markdown(page: PageSection) -> str:
    """Render a page as Markdown."""
    return render_template("page.md.j2", page=page)


def render_html(page: PageSection, warning: str, badges: Mapping[str, Sequence[str]]) -> str:
    """Render a page as HTML that stands alone: it runs no script and asks no server.

    `warning` stands below the title. Cells that begin with a text of `badges` show its sign, in a
    class of templates/page.css.
    """
    return render_template(
        "page.html.j2",
        page=page,
        warning=warning,
        badges=badges,
        version=__version__,
        most_choices=max(len(each.pictures) + len(each.choices) for each in list_parts(page)),
    )
