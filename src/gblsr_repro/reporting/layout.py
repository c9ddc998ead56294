"""A table before it is LaTeX: floats with a caption, header rows and groups of body rows.

All text is in the marks of `gblsr_repro.reporting.markup`, which is Markdown as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from .markup import latex
from .statistics import Column, Metric, Summary, bold, printed

DASH = "—"
LONGEST_HEADING = 8  # letters of the longest name of a data set in the paper, Urban100 and DIV2Kval


@dataclass(frozen=True)
class Span:
    """A cell over several columns, set left (l) or centered (c)."""

    text: str
    columns: int
    align: str = "c"


Cell = str | Span
Line = Sequence[Cell]


@dataclass(frozen=True)
class Float:
    """One float of LaTeX: `columns` holds the column types, `separation` the space between columns
    in points; a line is drawn before every group of body rows, and a short rule under every
    spanning cell of the first header row. Paragraph columns are ragged where
    `ragged` says so, and justified otherwise; in `paired` floats rows without a first cell belong
    to the one above them, and stand a little apart from the next. `timed` are the columns (from 0)
    whose cells depend on the clock. `told` are sentences of its caption about what was measured,
    `about` the evaluation columns that it shows (None: all).
    """

    label: str
    columns: Sequence[str]
    header: Sequence[Line]
    groups: Sequence[Sequence[Line]]
    told: Sequence[str | None] = ()
    about: Sequence[str] | None = None
    caption: str = ""
    size: str = "footnotesize"
    separation: int = 4
    sideways: bool = False
    tall: bool = False
    ragged: bool = False
    paired: bool = False
    timed: Sequence[int] = ()

    @property
    def rules(self) -> Iterator[tuple[int, int]]:
        """The first and last column (from 1) of each short rule."""
        place = 1
        for cell in self.header[0]:
            end = place + (cell.columns if isinstance(cell, Span) else 1)
            if isinstance(cell, Span):
                yield place, end - 1
            place = end


# --- cells ----------------------------------------------------------------------------------------


def value(cell: Summary, digits: int, strong: bool = False, spread: bool = True) -> str:
    """Format the mean and, where there is one and `spread` asks for it, the standard deviation; a
    dash where nothing is measured.
    """
    text = shown(cell.mean, f"{{:z.{digits}f}}")
    if cell.std >= 0 and spread:
        text += f" ± {printed(cell.std, digits)}"
    return f"**{text}**" if strong else text


def values(
    columns: Sequence[Column], metrics: Sequence[Metric], alpha: float | None = None
) -> list[list[str]]:
    """Format columns of numbers, one metric each, and return their rows; bold is what
    `statistics.bold` says of a column at level `alpha`.
    """
    made = []
    for cells, metric in zip(columns, metrics, strict=True):
        strong = bold(cells, metric.lower, metric.digits, alpha)
        made.append([value(c, metric.digits, s) for c, s in zip(cells, strong, strict=True)])
    return [list(row) for row in zip(*made, strict=True)]


def shown(number: float, form: str) -> str:
    """Format with a typographic minus sign; NaN is a dash."""
    return DASH if math.isnan(number) else form.format(number).replace("-", "−")


def signed(number: float, digits: int) -> str:
    """Format with a typographic sign; zero has none; NaN is a dash."""
    zero = printed(number, digits) == printed(0, digits)
    return shown(number, f"{{:{'' if zero else '+'}z.{digits}f}}")


def size_for(headings: Sequence[str]) -> str:
    """Return a type size in which a wide table with these data sets in its head fits a page."""
    return "footnotesize" if max(map(len, headings), default=0) <= LONGEST_HEADING else "scriptsize"


# --- beside the paper -----------------------------------------------------------------------------


def beside(measured: Float, published: Float, others: Mapping[str, Float]) -> Float:
    """Put the published rows of a float above the measured ones, matched by their first cell.

    Below them stand, by name, the `timed` cells of `others`, the same float by other clocks, in the
    rows where there are any. Rows of one spanning cell head their group. A measured row without a
    published counterpart gets dashes. Text that both rows share in a paragraph column stands once.
    Sideways floats come out upright: the pairs of rows need the height.
    """
    groups = []
    for number, group in enumerate(measured.groups):
        known = {
            line[0]: line[1:] for part in published.groups[number : number + 1] for line in part
        }
        lines: list[Line] = []
        for place, line in enumerate(group):
            if isinstance(line[0], Span):
                lines.append([replace(line[0], columns=line[0].columns + 1)])
                continue
            above = known.get(line[0], [DASH] * (len(measured.columns) - 1))
            own = ["" if kind.startswith("p") and here == there else here for here, there, kind in
                   zip(line[1:], above, measured.columns[1:], strict=True)]  # fmt: skip
            lines += [[line[0], "paper", *above], ["", "here", *own]]
            for name, other in others.items():
                timed = {i: other.groups[number][place][i] for i in measured.timed}
                if {*timed.values()} - {DASH}:
                    kept = [timed.get(i, "") for i in range(1, len(measured.columns))]
                    lines.append(["", name, *kept])
        groups.append(lines)
    return replace(
        measured,
        label=f"{measured.label}-vs-paper",
        columns=[measured.columns[0], "l", *measured.columns[1:]],
        header=[[line[0], "", *line[1:]] for line in measured.header],
        groups=groups,
        size="scriptsize",
        # What is this small already has long headings, and the rows get a column more.
        separation=min(measured.separation, 2 if measured.size == "scriptsize" else 3),
        sideways=False,
        tall=measured.sideways,
        paired=True,
    )


# --- Markdown -------------------------------------------------------------------------------------


def grid(part: Float) -> list[str]:
    """Return the body of a float as the lines of one Markdown table.

    Markdown has one header row and no spanning cells: the float's header rows are put together
    column by column, and a spanning cell of the body stands in its first column.
    """
    rows = [_unspanned(line, repeat=True) for line in part.header]
    header = [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True)]
    body = [_unspanned(line, repeat=False) for group in part.groups for line in group]
    lines = [header, ["---"] * len(header), *body]
    return ["| " + " | ".join(c.replace("|", "\\|") for c in line) + " |" for line in lines]


def _unspanned(line: Line, repeat: bool) -> list[str]:
    spans = [cell if isinstance(cell, Span) else Span(cell, 1) for cell in line]
    return [c.text if repeat or not i else "" for c in spans for i in range(c.columns)]


# --- LaTeX ----------------------------------------------------------------------------------------


def render(floats: Sequence[Float]) -> str:
    """Return a table as LaTeX; it needs booktabs, and rotating where a float is sideways."""
    return "\n".join(map(_latex, floats))


def _latex(of: Float) -> str:
    body = [*map(_row, of.header)]
    body[1:1] = [rf"\cmidrule(lr){{{first}-{last}}}" for first, last in of.rules]
    for group in of.groups:
        body.append(r"\midrule")
        for line, after in zip_longest(group, group[1:]):
            apart = of.paired and after and after[0] and not line[0]
            body += [_row(line, of), *([r"\addlinespace[2pt]"] if apart else [])]
    kind = "sidewaystable" if of.sideways else "table"
    lines = [
        rf"\begin{{{kind}}}[{'p' if of.sideways or of.tall else 't'}]",
        r"  \centering",
        r"  \setlength{\belowcaptionskip}{4pt}",
        rf"  \caption{{{latex(of.caption)}}}",
        rf"  \label{{tab:{of.label}}}",
        rf"  \{of.size}",
        rf"  \setlength{{\tabcolsep}}{{{of.separation}pt}}",
        rf"  \begin{{tabular}}{{{''.join(of.columns)}}}",
        *(f"    {line}" for line in (r"\toprule", *body, r"\bottomrule")),
        r"  \end{tabular}",
        rf"\end{{{kind}}}",
    ]
    return "\n".join(lines) + "\n"


def _row(line: Line, of: Float | None = None) -> str:
    cells = []
    for place, cell in enumerate(line):
        if isinstance(cell, Span):
            cells.append(f"\\multicolumn{{{cell.columns}}}{{{cell.align}}}{{{latex(cell.text)}}}")
        else:
            # \raggedright would take over a row's end in a last column without the array package.
            ragged = of is not None and of.ragged and of.columns[place].startswith("p")
            cells.append((r"\rightskip=0pt plus 1fil\relax " if ragged else "") + latex(cell))
    return " & ".join(cells) + r" \\"
