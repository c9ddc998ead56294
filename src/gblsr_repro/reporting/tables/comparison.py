"""Set the paper's rows of a table above the measured ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..layout import DASH, Cells, Row, Span, Table

FAST_PATH = "fast path"
"""The name of rows with times by this package's clock."""


def interleave(measured: Table, published: Table, own: Table) -> Table:
    """Set the published rows of a table above the measured ones of the same key.

    Below them stand the `timed` cells of `own`, the same table by this package's clock, in the rows
    where they have any. Rows of one spanning cell head their group. A measured row without a
    published counterpart gets dashes. Text that both rows share in a paragraph column stands once.
    """
    groups = []
    for number, group in enumerate(measured.groups):
        paper_group = published.groups[number] if number < len(published.groups) else []
        paper_cells = {row.key: row.cells[1:] for row in paper_group if row.key}
        rows: list[Row] = []
        for row, own_row in zip(group, own.groups[number], strict=True):
            rows += _stack_rows(row, paper_cells, own_row, measured)
        groups.append(rows)
    return replace(
        measured,
        label=f"{measured.label}-vs-paper",
        columns=[measured.columns[0], "l", *measured.columns[1:]],
        header=[[cells[0], "", *cells[1:]] for cells in measured.header],
        groups=groups,
        size="scriptsize",
        paired=True,
    )


def _stack_rows(row: Row, paper_cells: Mapping[str, Cells], own: Row, table: Table) -> list[Row]:
    """Stack the published row of a key, the measured one, and the times of the fast path."""
    heading = row.cells[0]
    if isinstance(heading, Span):
        return [Row(row.key, [replace(heading, columns=heading.columns + 1)])]
    above = paper_cells.get(row.key, [DASH] * (len(table.columns) - 1))
    types = table.columns[1:]
    below = [
        "" if column_type.startswith("p") and measured == published else measured
        for measured, published, column_type in zip(row.cells[1:], above, types, strict=True)
    ]
    rows = [Row(row.key, [heading, "paper", *above]), Row(row.key, ["", "here", *below])]
    times = {place: own.cells[place] for place in table.timed}
    if {*times.values()} - {DASH}:
        cells = [times.get(place, "") for place in range(1, len(table.columns))]
        rows.append(Row(row.key, ["", FAST_PATH, *cells]))
    return rows
