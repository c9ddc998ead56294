"""Keep what every seed measured: values.csv has a line for each number, runs.csv one for each run.

A record holds numbers that were measured under several conditions: a name for each set of settings,
whose overlay is overlays/<conditions>.yaml. A line of values.csv has the conditions, an aggregate,
that aggregate's keys, the seed (empty for bicubic, which has none) and the value: what
`aggregate.read_values` reads below a results folder. All cells are text, as in the files.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ..analysis import aggregate
from ..analysis.reader import read_rows
from ..analysis.schemas import RUN, RUN_COLUMNS, RUNS, SCHEMAS, find_files
from ..config import Config
from ..records import read_record
from ..wording import format_commit

MAIN = "main"  # the conditions by which claims are judged
VALUES, RUN_TABLE = "values.csv", "runs.csv"
OVER_SEEDS = tuple(name for name, schema in SCHEMAS.items() if schema.keys)
_METRICS = ("metric", "statistic")
_KEYS = tuple(dict.fromkeys(key for name in OVER_SEEDS for key in SCHEMAS[name].keys))
COLUMNS = {
    VALUES: ("conditions", "aggregate", *_KEYS, *aggregate.VALUE_COLUMNS),
    RUN_TABLE: ("conditions", *RUN_COLUMNS, "commit"),
}
IDENTITY = {  # the columns that identify the run and the images that a line is about
    VALUES: [name for name in COLUMNS[VALUES] if name not in (*_METRICS, "value")],
    RUN_TABLE: ["conditions", "benchmark", "arm", "seed"],
}

Tables = dict[str, pd.DataFrame]
"""The tables of a record by the names of their files."""


def collect_tables(results: Path, config: Config, conditions: str) -> Tables:
    """Collect the lines of all that was measured below `results`. Raises `UserError`."""
    values = [
        aggregate.read_values(name, results, config).assign(aggregate=name) for name in OVER_SEEDS
    ]
    found = {VALUES: pd.concat(values), RUN_TABLE: collect_runs(results, config)}
    tables = {}
    for name, table in found.items():
        complete = table.assign(conditions=conditions).reindex(columns=list(COLUMNS[name]))
        tables[name] = complete.astype(object).where(complete.notna(), "").astype(str)
    return tables


def collect_runs(results: Path, config: Config) -> pd.DataFrame:
    """Collect one line for every run, with the commit that trained it (`format_commit`)."""
    lines = []
    for name in RUNS.values():
        commits = [
            format_commit(read_record(path).get("git") or {})
            for _, path in find_files(name, results, config, RUN)
        ]
        runs = aggregate.collect(name, results, config)
        lines += [(*run, commit) for run, commit in zip(runs, commits, strict=True)]
    return pd.DataFrame(lines, columns=[*RUN_COLUMNS, "commit"])


def select_values(tables: Tables, name: str, conditions: str) -> pd.DataFrame:
    """Select the values of an aggregate under some conditions, as `aggregate.read_values` does."""
    values = tables[VALUES]
    is_selected = (values["aggregate"] == name) & (values["conditions"] == conditions)
    selected = values.loc[is_selected, [*SCHEMAS[name].keys, *aggregate.VALUE_COLUMNS]]
    return selected.astype({"value": float})


def select_runs(tables: Tables, benchmark: str, conditions: str) -> pd.DataFrame:
    """Select the runs of a benchmark under some conditions, as their aggregate has them."""
    runs = tables[RUN_TABLE]
    is_selected = (runs["benchmark"] == benchmark) & (runs["conditions"] == conditions)
    return runs.loc[is_selected, list(RUN_COLUMNS)]


def merge_table(old: pd.DataFrame, new: pd.DataFrame, name: str) -> pd.DataFrame:
    """Add lines to a table of a record; the earlier lines of a run measured again leave.

    The lines are sorted by the columns from the left.
    """
    identity = IDENTITY[name]
    measured_again = pd.MultiIndex.from_frame(old[identity]).isin(
        pd.MultiIndex.from_frame(new[identity])
    )
    return pd.concat([old[~measured_again], new]).sort_values(list(COLUMNS[name]))


def read_tables(folder: Path) -> Tables:
    """Read the tables of a record; those of a folder that does not exist yet are empty.

    Raises `UserError` where one is missing or damaged.
    """
    is_new = not folder.exists()
    return {
        name: pd.DataFrame([] if is_new else read_rows(folder / name, columns), columns=[*columns])
        for name, columns in COLUMNS.items()
    }


def write_tables(folder: Path, tables: Tables) -> None:
    """Write the tables of a record."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(folder / name, index=False, lineterminator="\n")
