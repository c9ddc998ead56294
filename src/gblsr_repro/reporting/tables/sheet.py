"""Hold a table as data: rows by what they are about, and columns that read a number for each.

The function of a table builds such a sheet from one side: the aggregates of a run, by one of its
clocks, or the paper's. `build` joins the sides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, product

from ...analysis.metrics import Metric
from ...analysis.statistics import Summary, mark_bold
from ..layout import DASH, Cells, Span, format_difference, format_summary

SheetValue = Summary | str
About = tuple[str, ...]
"""What a row is about: an arm, a method, a data set or a group; a data set and a method."""
Texts = dict[tuple[About, str], str]
"""Formatted cells by what their row is about, and by the key of their column."""


@dataclass(frozen=True)
class SheetColumn:
    """A column: its key, its heading, what it reads for a row, and how that is printed.

    `read` takes what a row is about. `above` is a heading over several columns, in tables of two
    header rows. `type` is that of `layout.Table`. Numbers have `digits` decimals and a unit, and
    may have the deviation over seeds, a sign or commas. With a `metric` the best numbers are bold,
    group by group. The cells of a `timed` column depend on the clock.
    """

    key: str
    heading: str
    read: Callable[..., SheetValue]
    type: str = "r"
    digits: int = 0
    unit: str = ""
    spread: bool = False
    signed: bool = False
    thousands: bool = False
    metric: Metric | None = None
    timed: bool = False
    above: str = ""

    def format(self, value: SheetValue) -> str:
        """Format a number, a dash where nothing is measured; a text stays as it is."""
        if isinstance(value, str):
            return value
        if not value.measured:
            return DASH
        if self.signed:
            text = format_difference(value.mean, self.digits)
        elif self.thousands:
            text = f"{value.mean:,.{self.digits}f}"
        else:
            text = format_summary(value, self.digits, self.spread)
        return text + self.unit


def collect_numbers(columns: Iterable[SheetColumn], rows: Iterable[About]) -> list[Summary]:
    """Collect the numbers that some columns have for rows."""
    values = [column.read(*about) for about in rows for column in columns]
    return [value for value in values if isinstance(value, Summary)]


@dataclass(frozen=True)
class SheetRow:
    """A row: what it is about, and its name.

    `strong` are the columns that are bold whatever the others have. Only rows that
    are `rated` can be the best. One that is `beside_only` stands beside the paper's values alone.
    """

    about: About
    name: str
    strong: Collection[str] = ()
    rated: bool = True
    beside_only: bool = False


@dataclass(frozen=True)
class SheetGroup:
    """Rows between two lines, below a heading if it has one."""

    rows: Sequence[SheetRow]
    heading: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table before its cells are formatted; what is not said here is that of `layout.Table`.

    `name_type` is the type of the column of names, and `corner` its heading, in one header row or
    two. The `label` is that of the paper's table. `notes` are sentences of the caption about what
    was measured, `evaluation_columns` those of the configuration that the table is about (None:
    all). Where numbers are bold, so are those that a test at the level `significance` does not
    distinguish from the best. `printed` are texts, by row and column, that stand instead of what is
    read.
    """

    label: str
    name_type: str
    corner: Sequence[str]
    columns: Sequence[SheetColumn]
    groups: Sequence[SheetGroup]
    notes: Sequence[str | None] = ()
    evaluation_columns: Sequence[str] | None = None
    significance: float | None = None
    printed: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def header(self) -> list[Cells]:
        """The header rows: the headings of columns, below those that stand above several."""
        headings = [column.heading for column in self.columns]
        *first, last = self.corner
        if not first:
            return [[last, *headings]]
        spans = [(text, len([*same])) for text, same in groupby(c.above for c in self.columns)]
        above = [Span(text, columns) if columns > 1 else text for text, columns in spans]
        return [[*first, *above], [last, *headings]]

    def leave_out_beside_rows(self) -> Sheet:
        """Return the sheet without the rows that stand beside the paper's alone."""
        groups = [
            replace(group, rows=[row for row in group.rows if not row.beside_only])
            for group in self.groups
        ]
        return replace(self, groups=groups)

    def read(self, column: SheetColumn, row: SheetRow) -> SheetValue:
        """Read a cell, or take the printed one."""
        text = self.printed.get((row.about[-1], column.key))
        if text is None:
            return column.read(*row.about)
        try:
            return Summary(float(text))
        except ValueError:
            return text

    def format_cells(self) -> Texts:
        """Format all cells, the best of a column and group in bold."""
        texts = {}
        for group, column in product(self.groups, self.columns):
            values = [self.read(column, row) for row in group.rows]
            best = [False] * len(values)
            if column.metric:
                rated = [
                    value if row.rated and isinstance(value, Summary) else Summary()
                    for row, value in zip(group.rows, values, strict=True)
                ]
                best = mark_bold(rated, column.metric, self.significance)
            for row, value, is_best in zip(group.rows, values, best, strict=True):
                text, is_bold = column.format(value), is_best or column.key in row.strong
                texts[row.about, column.key] = f"**{text}**" if is_bold else text
        return texts
