"""Tables as Markdown. Text in the marks of `reporting.markup` is Markdown as it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .layout import Float, Line, Span


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; every row has as many cells as the header."""
    return [_line(header), _line(["---"] * len(header)), *map(_line, rows)]


def grid(part: Float) -> list[str]:
    """Return the body of a float as the lines of one table.

    Markdown has one header row and no spanning cells: the float's header rows are put together
    column by column, and a spanning cell of the body stands in its first column.
    """
    rows = [_spread(line, repeat=True) for line in part.header]
    header = [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True)]
    body = [_spread(line, repeat=False) for group in part.groups for line in group]
    return table(header, body)


def _spread(line: Line, repeat: bool) -> list[str]:
    cells: list[str] = []
    for cell in line:
        if isinstance(cell, Span):
            cells += [cell.text] + [cell.text if repeat else ""] * (cell.columns - 1)
        else:
            cells.append(cell)
    return cells


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
