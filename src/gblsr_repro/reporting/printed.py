"""The paper's rows of a table, in the columns of the measured one.

They are the table made from the paper's own numbers (`Aggregates.paper`), with the cells of
config/paper/printed.csv put in: what the paper prints without what it is computed from, such as
speed ratios over a set whose times it does not list, and where it rounds last. Rows of training
time are those of config/paper/compute.csv.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ..config import Config, arms, datasets, methods, protocol, repository_root
from .aggregates import Aggregates, read_rows
from .layout import Float, Line, Span, Table
from .markup import plain
from .table_cost import clock, groups_of

REMARKS = re.compile(r" \((?:base|main|F1 anchor)\)$")
GROUPS_SHOWN = "The paper's total is that of the groups shown, without its reruns and pilots"
NOTES = {
    "compute_native": f"{GROUPS_SHOWN}; its log-space ablation is of three arms",
    "compute_asr": GROUPS_SHOWN,
}


def paper_floats(
    make: Callable[[Aggregates], Table], source: Aggregates, measured: Table
) -> Sequence[Float]:
    """Return the floats of a measured table with the paper's rows.

    Rows and cells that the paper lacks are absent or dashes. Raises `UserError` when it has none.
    """
    if measured.name.startswith("compute_"):
        return _compute(source, measured)
    own = source.config
    made = make(Aggregates.paper(_in_columns_of(own)))
    known = _printed(measured.name)
    averages = all(
        own["asr"]["timing"][key] == protocol()["asr"]["timing"][key]
        for key in ("datasets", "scale")
    )
    return [
        replace(
            part, groups=[[_with(line, part, known, averages) for line in g] for g in part.groups]
        )
        for part in made.floats
    ]


def _in_columns_of(config: Config) -> Config:
    """Return the paper's configuration with the columns of another: what is shown, not how."""
    paper, own = protocol(), config["asr"]
    paper["native"]["data"]["evaluate"] = config["native"]["data"]["evaluate"]
    paper["asr"] |= {key: own[key] for key in ("evaluate", "scales", "trained_scales", "timing")}
    paper["native"]["arms"] = config["native"]["arms"]
    paper["asr"]["methods"] = own["methods"]
    return paper


def _printed(table: str) -> dict[tuple[str, str], str]:
    """Return the printed cells of a table by the name of their row and the column's heading."""
    rows = read_rows(repository_root() / "config" / "paper" / "printed.csv", ("table", "row"))
    rows = rows[rows["table"] == table]
    titles = {key: row.name for key, row in (arms() | methods()).items()}
    titles |= {key: row.title for key, row in datasets().items()}
    return {(titles.get(row.row, row.row), row.column): row.text for row in rows.itertuples()}


def _with(line: Line, part: Float, known: Mapping[tuple[str, str], str], averages: bool) -> Line:
    """Put the printed cells into a line; means over timed sets only where those are the paper's."""
    if isinstance(line[0], Span):
        return line
    name = REMARKS.sub("", plain(line[0]))
    cells = list(line)
    for place, heading in enumerate(part.header[-1]):
        text = known.get((name, str(heading)), known.get(("*", str(heading))))
        if text is not None and (averages or place not in part.timed):
            cells[place] = f"**{text}**" if str(cells[place]).startswith("**") else text
    return cells


def _compute(source: Aggregates, measured: Table) -> list[Float]:
    """Tables 16 and 17: the groups of runs that are measured here too."""
    half = measured.name.removeprefix("compute_")
    groups = groups_of(source, half)
    path = repository_root() / "config" / "paper" / "compute.csv"
    published = read_rows(path, ("benchmark", "subjects"))
    published = published[published["benchmark"] == half]
    body, bottom = measured.floats[0].groups
    chosen, lines = [], []
    for line in body:
        members = next(m for title, m in groups.items() if str(line[0]).startswith(f"{title} ("))
        inside = published["subjects"].map(lambda names, m=members: set(names.split()) <= set(m))
        for row in published[inside].head(1).itertuples():
            chosen.append(row)
            span = "–".join(clock(float(s)) for s in (row.shortest_seconds, row.longest_seconds))
            lines.append([line[0], row.runs, span, clock(float(row.total_seconds))])
    total = sum(float(row.total_seconds) for row in chosen)
    runs = sum(int(row.runs) for row in chosen)
    last = [[bottom[0][0], f"**{runs}**", "", f"**{clock(total)}**"]] if chosen else []
    return [replace(measured.floats[0], groups=[lines, last])]
