"""Keep what every seed measured: values.csv has a line for each number, runs.csv one for each run.

A record holds numbers that were measured under several conditions: a name for each set of settings,
whose overlay is overlays/<setup>.yaml. A line of values.csv has the setup, an aggregate,
and what `aggregate.read_values` reads below a results folder; a line of runs.csv the setup and
a row of the aggregate of runs. All cells are text, as in the files.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ..analysis import aggregate
from ..analysis.reader import NATIVE_TIMES, read_rows
from ..analysis.schemas import OVER_SEEDS, RUN_AGGREGATES, RUN_COLUMNS
from ..config import Config

MAIN = "main"  # the setup by which claims are judged
VALUES, RUN_TABLE = "values.csv", "runs.csv"
RECORD_COLUMNS = {
    VALUES: ["setup", "aggregate", *aggregate.VALUE_COLUMNS],
    RUN_TABLE: ["setup", *RUN_COLUMNS],
}
IDENTITY = {  # the columns that identify the run and the images that a line is about
    VALUES: ["setup", "aggregate", "dataset", "arm", "method", "scale", "clock", "seed"],
    RUN_TABLE: ["setup", "benchmark", "arm", "seed"],
}

Tables = dict[str, pd.DataFrame]
"""The tables of a record by the names of their files."""


def collect_tables(results: Path, config: Config, setup: str) -> Tables:
    """Collect the lines of all that was measured below `results`. Raises `UserError`."""
    values = [
        aggregate.read_values(name, results, config).assign(aggregate=name) for name in OVER_SEEDS
    ]
    runs = [aggregate.compute(name, results, config) for name in RUN_AGGREGATES.values()]
    tables = {VALUES: pd.concat(values), RUN_TABLE: pd.concat(runs)}
    for name, table in tables.items():
        complete = table.assign(setup=setup)[RECORD_COLUMNS[name]].astype(object)
        tables[name] = complete.where(complete.notna(), "").astype(str)
    return tables


def read_tables(folder: Path) -> Tables:
    """Read the tables of a record; those of a folder that does not exist yet are empty.

    Raises `UserError` where one is missing or damaged.
    """
    return {
        name: pd.DataFrame(
            read_rows(folder / name, columns) if folder.exists() else [], columns=columns
        )
        for name, columns in RECORD_COLUMNS.items()
    }


def add_tables(folder: Path, tables: Tables) -> None:
    """Add lines to the tables of a record, sorted by the columns from the left.

    The earlier lines of a run measured again leave. Times are measured apart from scores.
    """
    old = read_tables(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, new in tables.items():
        kept = old[name][~_identify(name, old[name]).isin(_identify(name, new))]
        merged = pd.concat([kept, new]).sort_values(RECORD_COLUMNS[name])
        merged.to_csv(folder / name, index=False, lineterminator="\n")


def _identify(name: str, lines: pd.DataFrame) -> pd.MultiIndex:
    """Identify by their columns the run and images that lines are about, and whether of times."""
    identity = lines[IDENTITY[name]]
    if name == VALUES:
        identity = identity.assign(timed=lines["metric"].isin(NATIVE_TIMES.values()))
    return pd.MultiIndex.from_frame(identity)
