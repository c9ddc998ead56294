"""A measured table with the paper's rows above its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..layout import DASH, Cells, Row, Span, Table


def interleave(measured: Table, published: Table, others: Mapping[str, Table]) -> Table:
    """Put the published rows of a table above the measured ones of the same key.

    Below them stand, by name, the `timed` cells of `others`, the same table by other clocks, in the
    rows where there are any. Rows of one spanning cell head their group. A measured row without a
    published counterpart gets dashes. Text that both rows share in a paragraph column stands once.
    Sideways tables come out upright: the pairs of rows need the height.
    """
    groups = []
    for number, group in enumerate(measured.groups):
        known = {
            row.key: row.cells[1:]
            for part in published.groups[number : number + 1]
            for row in part
            if row.key
        }
        timed = [other.groups[number] for other in others.values()]
        rows: list[Row] = []
        for place, row in enumerate(group):
            clocks = {name: part[place] for name, part in zip(others, timed, strict=True)}
            rows += _pair(row, known, clocks, measured)
        groups.append(rows)
    return replace(
        measured,
        label=f"{measured.label}-vs-paper",
        columns=[measured.columns[0], "l", *measured.columns[1:]],
        header=[[cells[0], "", *cells[1:]] for cells in measured.header],
        groups=groups,
        size="scriptsize",
        # What is this small already has long headings, and the rows get a column more.
        separation=min(measured.separation, 2 if measured.size == "scriptsize" else 3),
        sideways=False,
        tall=measured.sideways,
        paired=True,
    )


def _pair(
    row: Row, published: Mapping[str, Cells], clocks: Mapping[str, Row], table: Table
) -> list[Row]:
    """Return the published, the measured and the other clocks' row of one key."""
    heading = row.cells[0]
    if isinstance(heading, Span):
        return [Row(row.key, [replace(heading, columns=heading.columns + 1)])]
    above = published.get(row.key, [DASH] * (len(table.columns) - 1))
    kinds = table.columns[1:]
    own = [
        "" if kind.startswith("p") and here == there else here
        for here, there, kind in zip(row.cells[1:], above, kinds, strict=True)
    ]
    rows = [Row(row.key, [heading, "paper", *above]), Row(row.key, ["", "here", *own])]
    for name, other in clocks.items():
        times = {place: other.cells[place] for place in table.timed}
        if {*times.values()} - {DASH}:
            kept = [times.get(place, "") for place in range(1, len(table.columns))]
            rows.append(Row(row.key, ["", name, *kept]))
    return rows
