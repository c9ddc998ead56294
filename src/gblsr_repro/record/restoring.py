"""Make the aggregates of a record again from its values."""

from __future__ import annotations

from pathlib import Path

from ..analysis import aggregate
from ..analysis.schemas import RUNS, SCHEMAS, aggregate_path, list_inputs
from ..config import Config, complete, read_yaml
from ..files import write_json
from .sources import read_sources
from .values import MAIN, OVER_SEEDS, read_tables, select_runs, select_values

OVERLAYS = "overlays"


def list_conditions(folder: Path) -> list[str]:
    """List the conditions that a record has numbers of, the main ones first."""
    return sorted(read_sources(folder), key=lambda name: (name != MAIN, name))


def restore(folder: Path, conditions: str, results: Path) -> Config:
    """Write the aggregates of some conditions below `results`; return their settings.

    An aggregate that the record has nothing of is not written. What the code alone gives is
    written once, beside the main conditions.
    """
    config = complete(read_yaml(folder / OVERLAYS / f"{conditions}.yaml"))
    tables = read_tables(folder)
    for file, content in read_sources(folder)[conditions].items():
        write_json(results / file, content)
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
        elif not schema.inputs:
            if conditions == MAIN:
                aggregate.write(name, results, config, output)
        elif any((results / file).is_file() for file in list_inputs(name, config)):
            aggregate.write(name, results, config, output)
    return config
