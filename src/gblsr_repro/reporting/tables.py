"""Every table by name, alone and beside the paper's, and rendering them from aggregates.

The paper's rows are those of the table made from its own numbers (`Aggregates.paper`), with the
cells of config/paper/printed.csv put in: what the paper prints without what it is computed from,
such as speed ratios over a set whose times it does not list, and where it rounds last. Rows of
training time are those of config/paper/compute.csv.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..config import (
    Config,
    arms,
    datasets,
    items,
    methods,
    protocol,
    repository_root,
    selected_items,
)
from ..errors import UserError
from ..evaluation import GRAPH, OURS
from ..files import write_text
from . import table_asr, table_cost, table_native  # noqa: F401 (register)
from .aggregates import Aggregates, read_rows
from .captions import titled, with_readings
from .layout import TABLES, Float, Line, Maker, Span, Table, beside, render
from .markup import plain
from .table_cost import clock, groups_of

Builder = Callable[[Aggregates], Table]
VERSUS = "_vs_paper"
CLOCKS = {  # beside the paper's: how rows of their times are called, and what the caption says
    OURS: ("own path", "this package's own path, the fast call that its users get, which is no "
                       "part of the paper and is not judged"),
    GRAPH: ("CUDA graph", "that call replayed as one graph"),
}  # fmt: skip
REMARKS = re.compile(r" \((?:base|main|F1 anchor)\)$")
GROUPS_SHOWN = "The paper's total is that of the groups shown, without its reruns and pilots"
NOTES = {
    "compute_native": [f"{GROUPS_SHOWN}; its log-space ablation is of three arms"],
    "compute_asr": [GROUPS_SHOWN],
}


def builders(config: Config) -> dict[str, Builder]:
    """Return the maker of every table: one main table per evaluation column, then the others.

    Those that config/items.tsv says to compare also come as `<name>_vs_paper`, with the published
    value above the measured one.
    """
    columns = config["native"]["data"]["evaluate"]
    made: dict[str, Maker] = {
        f"main_{column}": partial(table_native.main, column=column) for column in columns
    }
    made |= {name: TABLES[name].make for name in items() if name in TABLES}
    alone = {name for name, item in items().items() if item.compared == "no"}
    found: dict[str, Builder] = {n: partial(_table, name=n, make=m) for n, m in made.items()}
    return found | {
        n + VERSUS: partial(_versus, name=n, make=m) for n, m in made.items() if n not in alone
    }


def _table(source: Aggregates, name: str, make: Maker) -> Table:
    made, title = make(source), (items() | selected_items(source.config))[name].title
    floats = [made] if isinstance(made, Float) else made
    return Table(name, [replace(part, caption=titled(title, part.caption)) for part in floats])


def write(
    aggregates: Path, output: Path, config: Config, only: Sequence[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """Render tables to `output`/<name>.tex; return the names rendered and why others were not.

    Without `only` every table whose aggregates are there is rendered. Raises `UserError` for an
    unknown name, for a table of `only` that cannot be made, and when nothing could be.
    """
    known = builders(config)
    stranger = next((name for name in only if name not in known), None)
    if stranger is not None:
        raise UserError(f"There is no table {stranger!r}; known are {', '.join(known)}.")
    if not only and not aggregates.is_dir():
        raise UserError(f"{aggregates} is not a folder; name one that holds aggregates.")
    source = Aggregates(aggregates, config)
    rendered, skipped = [], {}
    for name in only or known:
        try:
            table = known[name](source)
        except UserError as error:
            if only:
                raise
            skipped[name] = str(error)
            continue
        item = name.removesuffix(VERSUS)
        floats = [replace(f, caption=with_readings(f.caption, item)) for f in table.floats]
        write_text(output / f"{name}.tex", render(replace(table, floats=floats)))
        rendered.append(name)
    if not rendered:
        raise UserError(f"{aggregates} holds nothing that a table can be made from.")
    return rendered, skipped


# --- beside the paper -----------------------------------------------------------------------------


def _versus(source: Aggregates, name: str, make: Maker) -> Table:
    """Build a table from the aggregates and put the paper's rows above the measured ones.

    Columns that are all one's own get dashes; a main table of such a column is refused.
    """
    # The paper has no bicubic row, so it stands where the measured numbers have company only.
    fuller = partial(make, bicubic=True) if name in TABLES and TABLES[name].bicubic else make
    measured = _table(source, name, fuller).floats
    try:
        published = paper_floats(partial(_table, name=name, make=make), source, name, measured)
    except UserError as error:
        if name.startswith("main_"):
            raise UserError(
                f"The paper has no values to put beside {name}; ask for the table itself."
            ) from error
        published = [replace(part, groups=[]) for part in measured]
    timed = CLOCKS if any(part.timed for part in measured) else {}
    others = {
        called: _table(Aggregates(source.folder, source.config, clock), name, make).floats
        for clock, (called, _) in timed.items()
    }
    floats = [
        beside(part, published[i], {called: other[i] for called, other in others.items()})
        for i, part in enumerate(measured)
    ]
    shown = {line[1] for part in floats for group in part.groups for line in group if line[1:]}
    notes = [*NOTES.get(name, ()), *(f"“{c}”: {t}" for c, t in CLOCKS.values() if c in shown)]
    said = "".join(f" {note}." for note in notes)
    beginning = (
        ", beside the paper's values.** The paper's value stands above the one measured here, with "
        f"its own bold numbers.{said}"
    )
    return Table(
        name + VERSUS,
        [replace(f, caption=f.caption.replace(".**", beginning, 1)) for f in floats],
    )


def paper_floats(
    make: Builder, source: Aggregates, name: str, measured: Sequence[Float] = ()
) -> Sequence[Float]:
    """Return the floats of a table with the paper's rows, in the columns of the measured one.

    Rows and cells that the paper lacks are absent or dashes. Raises `UserError` when it has none.
    """
    if name.startswith("compute_"):
        return [_compute(source, name.removeprefix("compute_"), measured[0])]
    # The paper's configuration with the columns of the run's: what is shown, not how.
    paper, own = protocol(), source.config
    averages = all(
        own["asr"]["timing"][key] == paper["asr"]["timing"][key] for key in ("datasets", "scale")
    )
    paper["native"]["data"]["evaluate"] = own["native"]["data"]["evaluate"]
    paper["native"]["arms"] = own["native"]["arms"]
    shown = ("evaluate", "scales", "trained_scales", "timing", "methods")
    paper["asr"] |= {key: own["asr"][key] for key in shown}
    known = _printed(name)
    return [
        replace(
            part, groups=[[_with(line, part, known, averages) for line in g] for g in part.groups]
        )
        for part in make(Aggregates.paper(paper)).floats
    ]


def _printed(table: str) -> dict[tuple[str, str], str]:
    """Return the printed cells of a table by the name of their row and the column's heading."""
    rows = read_rows(repository_root() / "config" / "paper" / "printed.csv", ("table", "row"))
    titles = {key: row.name for key, row in (arms() | methods()).items()}
    titles |= {key: row.title for key, row in datasets().items()}
    rows = rows[rows["table"] == table].replace({"row": titles})
    return {(row.row, row.column): row.text for row in rows.itertuples()}


def _with(line: Line, part: Float, known: Mapping[tuple[str, str], str], averages: bool) -> Line:
    """Put the printed cells into a line; means over timed sets only where those are the paper's."""
    if isinstance(line[0], Span):
        return line
    name, cells = REMARKS.sub("", plain(line[0])), list(line)
    for place, heading in enumerate(part.header[-1]):
        text = known.get((name, str(heading)), known.get(("*", str(heading))))
        if text is not None and (averages or place not in part.timed):
            cells[place] = f"**{text}**" if str(cells[place]).startswith("**") else text
    return cells


def _compute(source: Aggregates, half: str, measured: Float) -> Float:
    """Tables 16 and 17: the groups of runs that are measured here too."""
    groups = groups_of(source, half)
    path = repository_root() / "config" / "paper" / "compute.csv"
    rows = read_rows(path, ("benchmark", "subjects"))
    rows = rows[rows["benchmark"] == half]
    body, bottom = measured.groups
    lines, runs, total = [], 0, 0.0
    for label, *_ in body:
        members = next(m for title, m in groups.items() if str(label).startswith(f"{title} ("))
        inside = [{*names.split()} <= {*members} for names in rows["subjects"]]
        for row in rows[inside].head(1).itertuples():
            span = "–".join(clock(float(s)) for s in (row.shortest_seconds, row.longest_seconds))
            lines.append([label, row.runs, span, clock(float(row.total_seconds))])
            runs, total = runs + int(row.runs), total + float(row.total_seconds)
    last = [[bottom[0][0], f"**{runs}**", "", f"**{clock(total)}**"]] if lines else []
    return replace(measured, groups=[lines, last])
