"""Render the templates of this folder as LaTeX, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from .layout import Cells, Span, Table
from .text import convert_to_html, convert_to_latex


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
        "fill_spans": fill_spans,
        "add_scopes": add_scopes,
    }
    return environment


def join_header(table: Table) -> list[str]:
    """Join a table's header rows into one, column by column."""
    rows = [fill_spans(cells, repeat=True) for cells in table.header]
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True)]


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
