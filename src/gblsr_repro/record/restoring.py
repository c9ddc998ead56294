"""Make the aggregates of a record again from its values: a filter and a mean."""

from __future__ import annotations

from pathlib import Path

from ..analysis import aggregate
from ..analysis.provenance.comparison import compare_all
from ..analysis.reader import Aggregates, convert_to_numbers
from ..analysis.schemas import RUN_AGGREGATES
from ..config import complete, read_yaml
from .sources import read_sources
from .values import MAIN, read_tables

OVERLAYS = "overlays"


def list_setups(folder: Path) -> list[str]:
    """List the setups that a record has numbers of, the main one first."""
    return sorted(read_sources(folder), key=lambda name: (name != MAIN, name))


def restore(folder: Path, setup: str) -> Aggregates:
    """Make the aggregates of one setup again, without files.

    What the code alone gives stands beside the main setup.
    """
    config = complete(read_yaml(folder / OVERLAYS / f"{setup}.yaml"))
    run = Aggregates(folder / setup / "aggregates", config)
    values, runs = (
        table[table["setup"] == setup]
        for file, read in read_tables(folder).items()
        for table in [convert_to_numbers(read, folder / file)]
    )
    for name, own in values.groupby("aggregate"):
        summarized = aggregate.summarize_values(str(name), own, config)
        run.tables[str(name)] = summarized.to_dict("records")
    for benchmark, own in runs.groupby("benchmark"):
        run.tables[RUN_AGGREGATES[str(benchmark)]] = own.to_dict("records")
    if setup == MAIN:
        for name in ("budget", "structure"):
            run.tables[name] = aggregate.compute(name, folder, config).to_dict("records")
    run.provenance = compare_all(read_sources(folder)[setup], config)
    return run
