"""Render the templates of this folder as LaTeX, Markdown and HTML.

The text of pages and tables is Unicode with three marks of Markdown: **bold**, *italic* and
<https://address>. Numbers carry thousands commas, typographic signs (± × − ≤ ≥ ≈) and — for a value
that was not measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import jinja2
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from .layout import Cells, Span, Table

FILL = "\t"  # pushes what follows to the right end of a cell in LaTeX
_MARKDOWN = MarkdownIt("zero").enable(["emphasis", "autolink"])

_LATEX_LETTERS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "#": r"\#",
    "$": r"\$",
    "%": r"\%",
    "&": r"\&",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "±": r"$\pm$",
    FILL: r"\ \hspace*{\fill}",
    "×": r"$\times$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "→": r"$\rightarrow$",
    "Δ": r"$\Delta$",
    "–": "--",
    "—": "---",
}
# Letters that LaTeX prints as they are; of others, as in terms of data sets, the code is shown.
_PRINTED = re.compile(r"[\n -~\xa0-ž](?<![«»ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲų])|[‘’“”…™]")
_LATEX_MARKS = {
    "strong_open": r"\textbf{",
    "strong_close": "}",
    "em_open": r"\textit{",
    "em_close": "}",
    "link_open": r"\texttt{",
    "link_close": "}",
}


def render_template(template: str, **values: Any) -> str:
    """Render a template of `templates/`; its name ends in .tex.j2, .md.j2 or .html.j2."""
    ending = template.removesuffix(".j2").rpartition(".")[2]
    return _create_environment(ending).get_template(template).render(**values)


@cache
def _create_environment(ending: str) -> jinja2.Environment:
    """Create the environment in which templates of one ending are rendered."""
    latex = ending == "tex"
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        # Braces and percent signs mean something else in LaTeX.
        block_start_string="<%" if latex else "{%",
        block_end_string="%>" if latex else "%}",
        variable_start_string="<<" if latex else "{{",
        variable_end_string=">>" if latex else "}}",
        comment_start_string="<#" if latex else "{#",
        comment_end_string="#>" if latex else "#}",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=ending == "html",
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "to_latex": convert_to_latex,
        "to_html": lambda text: Markup(convert_to_html(text)),
        "join_header": join_header,
        "join_labels": join_labels,
        "fill_spans": fill_spans,
        "add_scopes": add_scopes,
        "to_columns": convert_columns,
    }
    return environment


def join_header(table: Table) -> list[str]:
    """Join a table's header rows into one, column by column."""
    rows = [fill_spans(cells, repeat=True) for cells in table.header]
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True)]


def convert_columns(table: Table) -> str:
    """Convert the types of a table's columns to those of the packages array and tabularx."""
    types = []
    for kind, size in ((column[0], column[1:]) for column in table.columns):
        if not size:
            types.append(kind)
        elif kind == "r":
            types.append(rf">{{\raggedleft\arraybackslash}}b{{{size}}}")
        else:
            types.append(rf">{{\hsize={size}\hsize\raggedright\arraybackslash}}X")
    return "".join(types)


def join_labels(table: Table) -> Table:
    """Join the labels of paired rows, a table's second column, to the right end of its first."""
    if not table.paired:
        return table
    header = [[cells[0], *cells[2:]] for cells in table.header]
    groups = [[replace(row, cells=_join_label(row.cells)) for row in g] for g in table.groups]
    columns = [table.columns[0], *table.columns[2:]]
    return replace(table, columns=columns, header=header, groups=groups)


def _join_label(cells: Cells) -> Cells:
    if isinstance(cells[0], Span):
        return [replace(cells[0], columns=cells[0].columns - 1)]
    return [f"{cells[0]}{FILL}*{cells[1]}*", *cells[2:]]


def fill_spans(cells: Cells, repeat: bool = False) -> list[str]:
    """Fill the columns under spanning cells: the text stands in the first, or in all (`repeat`)."""
    spans = [cell if isinstance(cell, Span) else Span(cell, 1) for cell in cells]
    return [s.text if repeat or not place else "" for s in spans for place in range(s.columns)]


def add_scopes(cells: Cells, table: Table, header: bool = False) -> Iterator[tuple[Span, str]]:
    """Add the HTML scope to the cells of a row: what a cell heads, or nothing."""
    place = 0
    for cell in cells:
        span = cell if isinstance(cell, Span) else Span(cell, 1, table.columns[place][0])
        scope = ("colgroup" if span.columns > 1 else "col") if header else ""
        if not header and place == 0:
            scope = "rowgroup" if span.columns == len(table.columns) else "row"
        yield span, scope if span.text.strip() else ""  # an empty cell heads nothing
        place += span.columns


# --- text with marks ------------------------------------------------------------------------------


def convert_to_latex(text: str) -> str:
    """Convert text with marks to LaTeX that needs no package."""
    parts = []
    inside_link = False
    for token in _parse(text):
        if token.type in _LATEX_MARKS:
            parts.append(_LATEX_MARKS[token.type])
            inside_link = token.type == "link_open"
        else:
            convert = _convert_address_to_latex if inside_link else _escape_latex
            parts.append(convert(token.content))
    return "".join(parts)


def convert_to_html(text: str) -> str:
    """Convert text with marks to HTML, escaped."""
    return _MARKDOWN.renderInline(text)


def _parse(text: str) -> Sequence[Token]:
    (inline,) = _MARKDOWN.parseInline(text)
    return inline.children or []


def _escape_latex(text: str) -> str:
    escaped = "".join(_LATEX_LETTERS.get(letter) or _show_letter(letter) for letter in text)
    escaped = escaped.replace(r" $\pm$ ", r"\,$\pm$\,")
    escaped = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "{,}", escaped)
    return re.sub(r"(?<![\w}$])\+(?=\d)", "$+$", escaped)


def _show_letter(letter: str) -> str:
    """Return a letter, or the code of one that would cost the whole document."""
    return letter if _PRINTED.fullmatch(letter) else f"U+{ord(letter):04X}"


def _convert_address_to_latex(address: str) -> str:
    # Breaks after / . - _ keep long addresses inside their column without the url package.
    pieces = re.split(r"(?<=[/._-])(?=[^/])", address)
    return r"\allowbreak ".join(map(_escape_latex, pieces))
