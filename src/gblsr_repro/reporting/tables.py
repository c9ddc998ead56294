"""Every table by name, alone and beside the paper's, and rendering them from aggregates.

The paper's rows are those of the table made from its own numbers (`Aggregates.paper`), with the
cells of config/paper/printed.csv put in: what the paper prints without what it is computed from,
such as speed ratios over a set whose times it does not list, and where it rounds last. Rows of
training time are those of config/paper/compute.csv.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..config import Config, arms, datasets, methods, protocol, repository_root
from ..errors import UserError
from ..evaluation import GRAPH, OURS
from ..files import write_text
from . import table_asr, table_cost, table_native  # noqa: F401 (register)
from .aggregates import Aggregates, read_rows
from .captions import caption
from .items import known, made_by, make_each
from .layout import Float, Line, Span, beside, render
from .markup import plain
from .table_cost import clock, groups_of

VERSUS = "_vs_paper"
CLOCKS = {  # beside the paper's: how rows of their times are called, and what the caption says
    OURS: ("own path", "this package's own path, the fast call that its users get, which is no "
                       "part of the paper and is not judged"),
    GRAPH: ("CUDA graph", "that call replayed as one graph"),
}  # fmt: skip
REMARKS = re.compile(r" \((?:base|main|F1 anchor)\)$")


def names(config: Config) -> list[str]:
    """Return the names of all tables: each alone, then those with the paper's values beside."""
    table = known("table", config)
    return [*table, *(name + VERSUS for name, item in table.items() if item.compared == "yes")]


def build(source: Aggregates, name: str) -> list[Float]:
    """Make the floats of a table; raises `UserError` naming what is missing."""
    if name.endswith(VERSUS):
        return _versus(source, name.removesuffix(VERSUS))
    item = known("table", source.config)[name]
    return [
        replace(part, caption=caption(item, source.conditions, part.told, part.about))
        for part in _floats(source, name)
    ]


def _floats(source: Aggregates, name: str) -> list[Float]:
    made = made_by(name)(source)
    return [made] if isinstance(made, Float) else made


def write(
    aggregates: Path, output: Path, config: Config, only: Sequence[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """Render tables to `output`/<name>.tex, see `items.make_each`."""
    source = Aggregates(aggregates, config)
    return make_each(
        "table",
        names(config),
        only,
        lambda name: write_text(output / f"{name}.tex", render(build(source, name))),
        aggregates,
    )


# --- beside the paper -----------------------------------------------------------------------------


def _versus(source: Aggregates, name: str) -> list[Float]:
    """Build a table from the aggregates and put the paper's rows above the measured ones.

    Columns that are all one's own get dashes.
    """
    folder, config = source.folder, source.config
    # The paper has no bicubic row, so it stands where the measured numbers have company only.
    measured = build(Aggregates(folder, config, bicubic=True), name)
    try:
        published = paper_floats(source, name, measured)
    except UserError:
        published = [replace(part, groups=[]) for part in measured]
    others = {
        called: _floats(Aggregates(folder, config, clock), name)
        for clock, (called, _) in CLOCKS.items()
        if any(part.timed for part in measured)
    }
    floats = [
        beside(part, published[i], {called: other[i] for called, other in others.items()})
        for i, part in enumerate(measured)
    ]
    shown = {line[1] for part in floats for group in part.groups for line in group if line[1:]}
    notes = "".join(f" “{called}”: {told}." for called, told in CLOCKS.values() if called in shown)
    beginning = (
        ", beside the paper's values.** The paper's value stands above the one measured here, with "
        f"its own bold numbers.{notes}"
    )
    return [replace(f, caption=f.caption.replace(".**", beginning, 1)) for f in floats]


def paper_floats(source: Aggregates, name: str, measured: Sequence[Float] = ()) -> list[Float]:
    """Return the floats of a table with the paper's rows, in the columns of the measured one.

    Rows and cells that the paper lacks are absent or dashes. Raises `UserError` when it has none.
    """
    if name.startswith("compute_"):
        return [_compute(source, name.removeprefix("compute_"), measured[0])]
    # The paper's configuration with the columns of the run's: what is shown, not how.
    paper, own = copy.deepcopy(protocol()), source.config
    averages = all(
        own["asr"]["timing"][key] == paper["asr"]["timing"][key] for key in ("datasets", "scale")
    )
    paper["native"]["data"]["evaluate"] = own["native"]["data"]["evaluate"]
    paper["native"]["arms"] = own["native"]["arms"]
    shown = ("evaluate", "scales", "trained_scales", "timing", "methods")
    paper["asr"] |= {key: own["asr"][key] for key in shown}
    cells = _printed(name)
    return [
        replace(
            part, groups=[[_with(line, part, cells, averages) for line in g] for g in part.groups]
        )
        for part in _floats(Aggregates.paper(paper), name)
    ]


def _printed(table: str) -> dict[tuple[str, str], str]:
    """Return the printed cells of a table by the name of their row and the column's heading."""
    rows = read_rows(repository_root() / "config" / "paper" / "printed.csv", ("table", "row"))
    titles = {key: row.name for key, row in (arms() | methods()).items()}
    titles |= {key: row.title for key, row in datasets().items()}
    return {
        (titles.get(row["row"]) or row["row"], row["column"]): row["text"]
        for row in rows
        if row["table"] == table
    }


def _with(line: Line, part: Float, cells: Mapping[tuple[str, str], str], averages: bool) -> Line:
    """Put the printed cells into a line; means over timed sets only where those are the paper's."""
    if isinstance(line[0], Span):
        return line
    name, made = REMARKS.sub("", plain(line[0])), list(line)
    for place, heading in enumerate(part.header[-1]):
        text = cells.get((name, str(heading)), cells.get(("*", str(heading))))
        if text is not None and (averages or place not in part.timed):
            made[place] = f"**{text}**" if str(made[place]).startswith("**") else text
    return made


def _compute(source: Aggregates, half: str, measured: Float) -> Float:
    """Tables 16 and 17: the groups of runs that are measured here too."""
    groups = groups_of(source, half)
    path = repository_root() / "config" / "paper" / "compute.csv"
    rows = [row for row in read_rows(path, ("benchmark", "subjects")) if row["benchmark"] == half]
    body, bottom = measured.groups
    lines, runs, total = [], 0, 0.0
    for label, *_ in body:
        members = next(m for title, m in groups.items() if str(label).startswith(f"{title} ("))
        row = next((row for row in rows if {*row["subjects"].split()} <= {*members}), None)
        if row:
            span = "–".join(clock(float(row[f"{end}_seconds"])) for end in ("shortest", "longest"))
            lines.append([label, row["runs"], span, clock(float(row["total_seconds"]))])
            runs, total = runs + int(row["runs"]), total + float(row["total_seconds"])
    last = [[bottom[0][0], f"**{runs}**", "", f"**{clock(total)}**"]] if lines else []
    return replace(measured, groups=[lines, last])
