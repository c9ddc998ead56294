"""Collect the numbers of every seed below a results folder as rows of the record's tables.

A record holds numbers that were measured under several conditions: a name for each set of settings,
whose overlay is overlays/<conditions>.yaml. A row has the conditions, what it is about, the seed
(empty for bicubic, which has none) and one column a metric, as means over the images of a set. All
cells are text, as in the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ..analysis import aggregate
from ..analysis.reader import NATIVE_TIMES
from ..analysis.schemas import RUN, RUN_COLUMNS, SCHEMAS, find_files, list_subjects
from ..config import Config
from ..records import read_record
from ..wording import format_commit

MAIN = "main"  # the conditions by which claims are judged
KEYS = {  # table: the columns that identify a row
    "native": ("conditions", "dataset", "arm", "seed"),
    "validation": ("conditions", "arm", "seed"),
    "locality": ("conditions", "arm", "seed"),
    "asr": ("conditions", "dataset", "method", "scale", "seed"),
    "latency": ("conditions", "benchmark", "dataset", "subject", "scale", "clock", "seed"),
    "runs": ("conditions", "benchmark", "arm", "seed"),
}
TABLES = {  # aggregate over seeds: the table that holds its values
    "native": "native",
    "readings": "native",
    "ablation": "validation",
    "locality": "locality",
    "asr_quality": "asr",
    "asr_latency": "latency",
}
CLOCKS = {metric: clock for clock, metric in NATIVE_TIMES.items()}
TIME = "mean_ms"

Tables = dict[str, pd.DataFrame]
"""The tables of a record by name."""


# --- from a results folder ------------------------------------------------------------------------


def collect_rows(results: Path, config: Config, conditions: str) -> Tables:
    """Collect the rows of all that was measured below `results`. Raises `UserError`."""
    parts: dict[str, list[pd.DataFrame]] = {table: [] for table in KEYS}
    for name, table in TABLES.items():
        values = aggregate.read_values(name, results, config)
        if table == "native":
            is_time = values["metric"].isin(list(CLOCKS))
            parts["latency"].append(label_native_times(values[is_time]))
            values = values[~is_time]
        elif table == "latency":
            values = values.rename(columns={"method": "subject"}).assign(benchmark="asr")
        parts[table].append(values)
    parts["runs"] = [collect_runs(results, config)]
    tables = {}
    for table, frames in parts.items():
        frame = pd.concat(frames).assign(conditions=conditions).drop_duplicates()
        wide = frame if table == "runs" else widen(frame, KEYS[table])
        tables[table] = wide.astype(object).where(wide.notna(), "").astype(str)
    return tables


def label_native_times(values: pd.DataFrame) -> pd.DataFrame:
    """Label the times among the values of the native benchmark as those of the latency table."""
    clocks = values["metric"].map(CLOCKS)
    renamed = values.rename(columns={"arm": "subject"})
    return renamed.assign(benchmark="native", scale="", clock=clocks, metric=TIME)


def collect_runs(results: Path, config: Config) -> pd.DataFrame:
    """Collect one row for every run, with the commit that trained it (`format_commit`)."""
    rows = []
    for name in ("runs", "asr_runs"):
        commits = [
            format_commit(read_record(path).get("git") or {})
            for _, path in find_files(name, results, config, RUN)
        ]
        values = aggregate.collect(name, results, config)
        rows += [(*row, commit) for row, commit in zip(values, commits, strict=True)]
    return pd.DataFrame(rows, columns=[*RUN_COLUMNS, "commit"])


def widen(values: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Turn values, one metric or statistic a row, into one column for each of these."""
    names = "statistic" if "statistic" in values else "metric"
    order = list(dict.fromkeys(values[names]))
    wide = values.pivot(index=list(keys), columns=names, values="value")
    return wide[order].reset_index().rename_axis(columns=None)


# --- back to values -------------------------------------------------------------------------------


def select_values(name: str, tables: Tables, config: Config, conditions: str) -> pd.DataFrame:
    """Select the values of an aggregate under some conditions, as `aggregate.read_values` has them.

    They are those of the arms or methods that the aggregate is about, and of bicubic.
    """
    table = TABLES[name]
    values = lengthen(tables[table], table, name)
    if table == "native":
        times = lengthen(tables["latency"], "latency", name)
        times = times[(times["benchmark"] == "native") & (times["metric"] == TIME)]
        metrics = times["clock"].map(NATIVE_TIMES)
        values = pd.concat(
            [values, times.rename(columns={"subject": "arm"}).assign(metric=metrics)]
        )
    elif table == "latency":
        values = values[values["benchmark"] == "asr"].rename(columns={"subject": "method"})
    subject = "arm" if "arm" in SCHEMAS[name].keys else "method"
    subjects = [*list_subjects(name, config), aggregate.BICUBIC]
    rows = values[(values["conditions"] == conditions) & values[subject].isin(subjects)]
    return rows[[*SCHEMAS[name].keys, *aggregate.VALUE_COLUMNS]]


def lengthen(frame: pd.DataFrame, table: str, name: str) -> pd.DataFrame:
    """Turn the columns of a table that are no keys into one value a row; empty cells have none."""
    names = "statistic" if "statistic" in SCHEMAS[name].keys else "metric"
    values = frame.melt(id_vars=list(KEYS[table]), var_name=names)
    return values.assign(value=pd.to_numeric(values["value"])).dropna(subset="value")


# --- the files of a record ------------------------------------------------------------------------


def merge_rows(old: pd.DataFrame, new: pd.DataFrame, table: str) -> pd.DataFrame:
    """Add rows to a table: a row of the same keys is replaced as a whole. Sorted by the keys."""
    keys = list(KEYS[table])
    both = pd.concat([old, new], ignore_index=True).fillna("")
    last = both.drop_duplicates(keys, keep="last")
    return last[[*keys, *(column for column in last if column not in keys)]].sort_values(keys)


def read_tables(folder: Path) -> Tables:
    """Read the tables of a record; those that it lacks are empty."""
    tables = {}
    for name, keys in KEYS.items():
        path = folder / f"{name}.csv"
        empty = pd.DataFrame(columns=list(keys), dtype=str)
        is_there = path.is_file()
        tables[name] = pd.read_csv(path, dtype=str, keep_default_na=False) if is_there else empty
    return tables


def write_tables(folder: Path, tables: Tables) -> None:
    """Write the tables of a record that have rows."""
    for name, table in tables.items():
        if len(table):
            table.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
