"""A table before it is LaTeX: floats with a caption, header rows and groups of body rows.

All text is in the marks of `gblsr_repro.reporting.markup`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

import jinja2

from .markup import latex
from .statistics import Summary, printed

DASH = "—"
LONGEST_HEADING = 8  # letters of the longest name of a data set in the paper, Urban100 and DIV2Kval


@dataclass(frozen=True)
class Span:
    """A cell over several columns, set left (l) or centred (c)."""

    text: str
    columns: int
    align: str = "c"


Cell = str | Span
Line = Sequence[Cell]


@dataclass(frozen=True)
class Float:
    """One float of LaTeX: `columns` holds the column types, `rules` the first and last column
    (from 1) of each short rule under the first header row, `separation` the space between columns
    in points; a line is drawn before every group of body rows. Paragraph columns are ragged where
    `ragged` says so, and justified otherwise; in `paired` floats rows without a first cell belong
    to the one above them, and stand a little apart from the next. `timed` are the columns (from 0)
    whose cells depend on the clock.
    """

    label: str
    caption: str
    columns: Sequence[str]
    header: Sequence[Line]
    groups: Sequence[Sequence[Line]]
    rules: Sequence[tuple[int, int]] = ()
    size: str = "footnotesize"
    separation: int = 4
    sideways: bool = False
    tall: bool = False
    ragged: bool = False
    paired: bool = False
    timed: Sequence[int] = ()

    @property
    def environment(self) -> str:
        """The LaTeX environment."""
        return "sidewaystable" if self.sideways else "table"

    @property
    def placement(self) -> str:
        """Top of a page, or a page of its own for what nearly fills one."""
        return "p" if self.sideways or self.tall else "t"


@dataclass(frozen=True)
class Table:
    """A table of the paper: its name and one float, or several on pages of their own."""

    name: str
    floats: Sequence[Float]


Maker = Callable[..., Float | Sequence[Float]]


@dataclass(frozen=True)
class Entry:
    """The maker of a table; `bicubic` says whether it can add a row of bicubic interpolation."""

    make: Maker
    bicubic: bool = False


TABLES: dict[str, Entry] = {}


def table(name: str, bicubic: bool = False) -> Callable[[Maker], Maker]:
    """Register a function as the maker of the table of that name in config/items.tsv."""

    def register(make: Maker) -> Maker:
        TABLES[name] = Entry(make, bicubic)
        return make

    return register


def size_for(headings: Sequence[str]) -> str:
    """Return a type size in which a wide table with these data sets in its head fits a page."""
    return "footnotesize" if max(map(len, headings), default=0) <= LONGEST_HEADING else "scriptsize"


def render(table: Table) -> str:
    """Return the table as LaTeX; it needs booktabs, and rotating where a float is sideways."""
    return environment().get_template("table.tex.j2").render(table=table)


def value(cell: Summary | None, digits: int, strong: bool = False) -> str:
    """Format mean and, where there is one, standard deviation; a dash where nothing is measured."""
    if cell is None:
        return DASH
    text = printed(cell.mean, digits)
    if cell.std is not None:
        text += f" ± {printed(cell.std, digits)}"
    text = text.replace("-", "−")
    return f"**{text}**" if strong else text


def signed(number: float | None, digits: int) -> str:
    """Format with a typographic sign; zero has none; None is a dash."""
    if number is None:
        return DASH
    text = printed(number, digits)
    return text.replace("-", "−") if text.startswith("-") or float(text) == 0 else f"+{text}"


def beside(measured: Float, published: Float, others: Mapping[str, Float]) -> Float:
    """Put the published rows of a float above the measured ones, matched by their first cell.

    Below them stand, by name, the `timed` cells of `others`, the same float by other clocks, in the
    rows where there are any.

    Rows of one spanning cell head their group. A measured row without a published counterpart
    gets dashes. Text that both rows share in a paragraph column stands once. Sideways floats come
    out upright: the pairs of rows need the height.
    """
    width = len(measured.columns)
    groups = []
    for number, group in enumerate(measured.groups):
        clocks = {
            name: {line[0]: line for line in other.groups[number]} for name, other in others.items()
        }
        known = {
            line[0]: line[1:]
            for line in (published.groups[number] if number < len(published.groups) else [])
        }
        lines: list[Line] = []
        for line in group:
            if isinstance(line[0], Span):
                lines.append([replace(line[0], columns=line[0].columns + 1)])
                continue
            above = known.get(line[0], [DASH] * (width - 1))
            lines.append([line[0], "paper", *above])
            lines.append(["", "here", *_but_shared(line[1:], above, measured.columns[1:])])
            for name, rows in clocks.items():
                own = rows[line[0]]
                if any(own[place] != DASH for place in measured.timed):
                    kept = [own[i] if i in measured.timed else "" for i in range(1, width)]
                    lines.append(["", name, *kept])
        groups.append(lines)
    return replace(
        measured,
        label=f"{measured.label}-vs-paper",
        columns=[measured.columns[0], "l", *measured.columns[1:]],
        header=[[line[0], "", *line[1:]] for line in measured.header],
        groups=groups,
        rules=[(first + 1, last + 1) for first, last in measured.rules],
        size="scriptsize",
        # What is this small already has long headings, and the rows get a column more.
        separation=min(measured.separation, 2 if measured.size == "scriptsize" else 3),
        sideways=False,
        tall=measured.sideways,
        paired=True,
    )


def _but_shared(line: Line, above: Line, columns: Sequence[str]) -> list[Cell]:
    """Leave out the text of paragraph columns that the row above has as well."""
    cells = zip(line, above, columns, strict=True)
    return ["" if kind.startswith("p") and own == other else own for own, other, kind in cells]


def _header(line: Line) -> str:
    return " & ".join(map(_cell, line)) + r" \\"


def _body(line: Line, of: Float) -> str:
    # \raggedright would take over the end of the row in a last column without the array package.
    ragged = [of.ragged and column.startswith("p") for column in of.columns]
    cells = (
        (r"\rightskip=0pt plus 1fil\relax " if ragged[i] and not isinstance(cell, Span) else "")
        + _cell(cell)
        for i, cell in enumerate(line)
    )
    return " & ".join(cells) + r" \\"


def _cell(cell: Cell) -> str:
    if isinstance(cell, Span):
        return f"\\multicolumn{{{cell.columns}}}{{{cell.align}}}{{{latex(cell.text)}}}"
    return latex(cell)


def _rules(rules: Sequence[tuple[int, int]]) -> str:
    return " ".join(f"\\cmidrule(lr){{{first}-{last}}}" for first, last in rules)


@cache
def environment() -> jinja2.Environment:
    """Return the template engine, with delimiters that LaTeX does not use."""
    templates = resources.files(__package__).joinpath("templates")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: templates.joinpath(name).read_text("utf-8")),
        block_start_string="((*",
        block_end_string="*))",
        variable_start_string="(((",
        variable_end_string=")))",
        comment_start_string="((#",
        comment_end_string="#))",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # LaTeX is escaped by the latex filter
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"latex": latex, "header": _header, "body": _body, "rules": _rules}
    return environment
