"""Hold a table as numbers, rows and columns by key, and format them with the best in bold.

The functions of a table build such a sheet from the aggregates of a run or from the paper's;
`build` joins both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...analysis.metrics import Metric
from ...analysis.statistics import Summary, mark_bold
from ..layout import DASH, Cells, format_difference, format_summary

SheetValue = Summary | str
Texts = dict[str, str]
"""The formatted cells of a row, by column."""


@dataclass(frozen=True)
class Form:
    """How a number is printed: decimals, and whether with deviation, sign, commas, and a unit."""

    digits: int
    spread: bool = False
    signed: bool = False
    thousands: bool = False
    unit: str = ""

    def format(self, number: Summary) -> str:
        """Format a number; a dash stands where nothing is measured."""
        if not number.measured:
            return DASH
        if self.signed:
            text = format_difference(number.mean, self.digits)
        elif self.thousands:
            text = f"{number.mean:,.{self.digits}f}"
        else:
            text = format_summary(number, self.digits, self.spread)
        return text + self.unit


@dataclass(frozen=True)
class SheetColumn:
    """A column: its key, its type (see `layout.Table`), and how its numbers are printed.

    A column without a form has texts. With a `metric` its best numbers are bold, group by group.
    The cells of a `timed` one depend on the clock.
    """

    key: str
    type: str = "r"
    form: Form | None = None
    metric: Metric | None = None
    timed: bool = False

    def format(self, value: SheetValue) -> str:
        """Format a number; a text stays as it is."""
        return self.form.format(value) if self.form and isinstance(value, Summary) else str(value)


@dataclass(frozen=True)
class SheetRow:
    """A row: the key of what it is about, its name, and its numbers and texts by column.

    `fast` are the numbers of timed columns by this package's clock, `strong` the columns that are
    bold whatever the others have. Only rows that are `compared` can be the best. A row with a
    `beside_note` stands in tables beside the paper's alone, and so does that note.
    """

    key: str
    name: str
    cells: Mapping[str, SheetValue]
    fast: Mapping[str, Summary] = field(default_factory=dict)
    strong: Collection[str] = ()
    compared: bool = True
    beside_note: str = ""


@dataclass(frozen=True)
class SheetGroup:
    """Rows between two lines, below a heading if it has one; `key` tells those of equal rows."""

    rows: Sequence[SheetRow]
    key: str = ""
    heading: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table before its cells are formatted; what is not said here is that of `layout.Table`.

    `name_type` is the type of the column of names, which `header` has in front. `notes` are
    sentences of the caption about what was measured, `evaluation_columns` those of the
    configuration that the table is about (None: all). Where numbers are bold, so are those that a
    test at the level `significance` does not distinguish from the best.
    """

    label: str
    name_type: str
    columns: Sequence[SheetColumn]
    header: Sequence[Cells]
    groups: Sequence[SheetGroup]
    notes: Sequence[str | None] = ()
    evaluation_columns: Sequence[str] | None = None
    significance: float | None = None
    size: str = "footnotesize"
    separation: float = 4

    @property
    def rows(self) -> list[SheetRow]:
        """All rows, group after group."""
        return [row for group in self.groups for row in group.rows]

    def leave_out_beside_rows(self) -> Sheet:
        """Return the sheet without the rows that stand beside the paper's alone."""
        left_out = {row.beside_note for row in self.rows} - {""}
        groups = [
            replace(group, rows=[row for row in group.rows if not row.beside_note])
            for group in self.groups
        ]
        return replace(self, groups=groups, notes=[n for n in self.notes if n not in left_out])

    def format_group(self, rows: Sequence[SheetRow]) -> list[Texts]:
        """Format the cells of a group of rows, the best of a column in bold."""
        texts: list[Texts] = [{} for _ in rows]
        for column in self.columns:
            best = self._find_best(column, rows)
            for row, cells, is_best in zip(rows, texts, best, strict=True):
                text = column.format(row.cells[column.key])
                cells[column.key] = f"**{text}**" if is_best or column.key in row.strong else text
        return texts

    def _find_best(self, column: SheetColumn, rows: Sequence[SheetRow]) -> list[bool]:
        if column.metric is None:
            return [False] * len(rows)
        values = [row.cells.get(column.key) for row in rows]
        numbers = [value if isinstance(value, Summary) else Summary() for value in values]
        compared = [row.compared for row in rows]
        return mark_bold(numbers, column.metric, self.significance, compared)
