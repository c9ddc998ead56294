"""Make the aggregates of a record again from its values."""

from __future__ import annotations

from pathlib import Path

from ..analysis import aggregate
from ..analysis.schemas import RUNS, SCHEMAS, aggregate_path, list_inputs
from ..config import Config, complete, read_yaml
from .sources import read_sources, write_sources
from .values import MAIN, OVER_SEEDS, read_tables, select_runs, select_values

OVERLAYS = "overlays"


def list_conditions(folder: Path) -> list[str]:
    """List the conditions that a record has numbers of, the main ones first."""
    return sorted(read_sources(folder), key=lambda name: (name != MAIN, name))


def read_config(folder: Path, conditions: str) -> Config:
    """Read the settings of some conditions: those of config/config.yaml and of their overlay."""
    return complete(read_yaml(folder / OVERLAYS / f"{conditions}.yaml"))


def restore(folder: Path, conditions: str, results: Path) -> Config:
    """Write the aggregates of some conditions below `results`; return their settings.

    An aggregate that the record has nothing of is not written. What the code alone gives is
    written once, beside the main conditions.
    """
    config, tables = read_config(folder, conditions), read_tables(folder)
    write_sources(folder, conditions, results)
    for name, schema in SCHEMAS.items():
        output = results / aggregate_path(name)
        if name in OVER_SEEDS:
            values = select_values(tables, name, conditions)
            if len(values):
                aggregate.write_rows(name, aggregate.summarize_values(name, values, config), output)
        elif name in RUNS.values():
            runs = select_runs(tables, schema.benchmark, conditions)
            if len(runs):
                aggregate.write_rows(name, runs, output)
        elif _is_measured(name, results, config) or (conditions == MAIN and not schema.inputs):
            aggregate.write(name, results, config, output)
    return config


def _is_measured(name: str, results: Path, config: Config) -> bool:
    """Return whether there is a file that an aggregate is computed from."""
    return any((results / file).is_file() for file in list_inputs(name, config))
