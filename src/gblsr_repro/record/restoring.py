"""Make the aggregates of a record again from its rows."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ..analysis import aggregate
from ..analysis.schemas import SCHEMAS, aggregate_path, list_inputs
from ..config import Config, complete, read_yaml
from .rows import MAIN, TABLES, Tables, read_tables, select_values
from .sources import read_sources, write_sources

OVERLAYS = "overlays"


def list_conditions(folder: Path) -> list[str]:
    """List the conditions that a record has numbers of, the main ones first."""
    return sorted(read_sources(folder), key=lambda name: (name != MAIN, name))


def read_config(folder: Path, conditions: str) -> Config:
    """Read the settings of some conditions: those of config/config.yaml and of their overlay."""
    return complete(read_yaml(folder / OVERLAYS / f"{conditions}.yaml"))


def restore(folder: Path, conditions: str, results: Path) -> Config:
    """Write the aggregates of some conditions below `results`; return their settings.

    An aggregate that the rows of the record say nothing of is not written. What the code alone
    gives is written once, beside the main conditions.
    """
    config, tables = read_config(folder, conditions), read_tables(folder)
    write_sources(folder, conditions, results)
    for name in SCHEMAS:
        output = results / aggregate_path(name)
        if name in TABLES:
            values = select_values(name, tables, config, conditions)
            if len(values):
                rows = aggregate.summarize_values(name, values, config)
                aggregate.write_rows(name, rows, output)
        elif name in ("runs", "asr_runs"):
            runs = select_runs(name, tables, conditions)
            if len(runs):
                aggregate.write_rows(name, runs, output)
        elif _is_measured(name, results, config) or (
            conditions == MAIN and not SCHEMAS[name].inputs
        ):
            aggregate.write(name, results, config, output)
    return config


def select_runs(name: str, tables: Tables, conditions: str) -> pd.DataFrame:
    """Select the runs of a benchmark under some conditions as rows of their aggregate."""
    runs = tables["runs"]
    is_selected = (runs["benchmark"] == SCHEMAS[name].benchmark) & (
        runs["conditions"] == conditions
    )
    return runs[is_selected].reindex(columns=list(SCHEMAS[name].columns))


def _is_measured(name: str, results: Path, config: Config) -> bool:
    """Return whether there is a file that an aggregate is computed from."""
    return any((results / file).is_file() for file in list_inputs(name, config))
