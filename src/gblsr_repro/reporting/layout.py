"""Hold a table before it is rendered, and format its cells.

All text is in the marks of `gblsr_repro.reporting.rendering`, which is Markdown as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..analysis.statistics import Summary, format_fixed
from .captions import Caption

MANY_COLUMNS, MANY_ROWS = 5, 45  # what a page holds in the usual size of tables
DASH = "—"


@dataclass(frozen=True)
class Span:
    """A cell over several columns, set left (l) or centered (c)."""

    text: str
    columns: int
    align: str = "c"


Cell = str | Span
Cells = Sequence[Cell]


@dataclass(frozen=True)
class BodyRow:
    """A body row.

    On a page a row with an `anchor` has an address of its own; `choices` are numbers of a
    section's, from 1.
    """

    cells: Cells
    anchor: str = ""
    choices: Sequence[int] = ()


@dataclass(frozen=True)
class Table:
    """A table: its label in LaTeX, column types, header rows, groups of body rows, and caption.

    Types of columns are l, r and p (a paragraph). With a number behind it the text of l or p wraps
    in the room that the others leave, each of them its share, so that the numbers' mean is 1; with
    a width behind it, as r4em, the longer headings of r wrap.
    A line is drawn before every group and a short rule under every spanning cell of the first
    header row, and some space before a row with a first cell below one without.
    """

    label: str
    columns: Sequence[str]
    header: Sequence[Cells]
    groups: Sequence[Sequence[BodyRow]]
    caption: Caption = field(default_factory=Caption)

    @property
    def rows(self) -> list[BodyRow]:
        """All body rows, group after group."""
        return [row for group in self.groups for row in group]

    @property
    def dense(self) -> bool:
        """Whether letters, lines and columns must be closer for the table to fit on a page."""
        return len(self.columns) > MANY_COLUMNS or len(self.rows) > MANY_ROWS

    @property
    def paired(self) -> bool:
        """Whether there are rows without a first cell, which belong to the one above them."""
        return any(not row.cells[0] for row in self.rows)

    @property
    def wraps(self) -> bool:
        """Whether some column takes what room is left, so that the table is as wide as the text."""
        return any(column[0] in "lp" and column[1:] for column in self.columns)

    @property
    def short_rules(self) -> Iterator[tuple[int, int]]:
        """The first and last column (from 1) under each spanning cell of the first header row."""
        first = 1
        for cell in self.header[0]:
            after = first + (cell.columns if isinstance(cell, Span) else 1)
            if isinstance(cell, Span):
                yield first, after - 1
            first = after


# --- cells ----------------------------------------------------------------------------------------


def format_summary(cell: Summary, digits: int, spread: bool = True) -> str:
    """Format a mean, with its standard deviation where it has one and `spread` is set.

    A dash stands where nothing is measured.
    """
    text = format_number(cell.mean, f"{{:z.{digits}f}}")
    if cell.std >= 0 and spread:
        text += f" ± {format_fixed(cell.std, digits)}"
    return text


def format_number(number: float, form: str) -> str:
    """Format a number with a typographic minus sign; NaN is a dash."""
    return DASH if math.isnan(number) else form.format(number).replace("-", "−")


def format_difference(number: float, digits: int) -> str:
    """Format a number with a typographic sign; zero has none; NaN is a dash."""
    is_zero = format_fixed(number, digits) == format_fixed(0, digits)
    return format_number(number, f"{{:{'' if is_zero else '+'}z.{digits}f}}")
