"""Set the paper's rows of a table above the measured ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..layout import DASH, Cells, Row, Span, Table


def interleave(measured: Table, published: Table, others: Mapping[str, Table]) -> Table:
    """Set the published rows of a table above the measured ones of the same key.

    Below them stand, by name, the `timed` cells of `others`, the same table by other clocks, in the
    rows where they have any. Rows of one spanning cell head their group. A measured row without a
    published counterpart gets dashes. Text that both rows share in a paragraph column stands once.
    Sideways tables come out upright: the pairs of rows need the height.
    """
    groups = []
    for number, group in enumerate(measured.groups):
        paper_group = published.groups[number] if number < len(published.groups) else []
        paper_cells = {row.key: row.cells[1:] for row in paper_group if row.key}
        rows: list[Row] = []
        for place, row in enumerate(group):
            clocks = {name: table.groups[number][place] for name, table in others.items()}
            rows += _stack_rows(row, paper_cells, clocks, measured)
        groups.append(rows)
    return replace(
        measured,
        label=f"{measured.label}-vs-paper",
        columns=[measured.columns[0], "l", *measured.columns[1:]],
        header=[[cells[0], "", *cells[1:]] for cells in measured.header],
        groups=groups,
        size="scriptsize",
        # A table this small already has long headings, and the rows get a column more.
        separation=min(measured.separation, 2 if measured.size == "scriptsize" else 3),
        sideways=False,
        tall=measured.sideways,
        paired=True,
    )


def _stack_rows(
    row: Row, paper_cells: Mapping[str, Cells], clocks: Mapping[str, Row], table: Table
) -> list[Row]:
    """Stack the published row of a key, the measured one, and those by other clocks."""
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
    for name, other in clocks.items():
        times = {place: other.cells[place] for place in table.timed}
        if {*times.values()} - {DASH}:
            cells = [times.get(place, "") for place in range(1, len(table.columns))]
            rows.append(Row(row.key, ["", name, *cells]))
    return rows
