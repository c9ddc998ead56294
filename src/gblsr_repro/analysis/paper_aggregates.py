"""Read the paper's numbers (config/paper), most of them as the aggregates of a run."""

from __future__ import annotations

from functools import cache

from ..config import Config, find_repository_root
from .provenance.differences import Provenance
from .reader import Aggregates, read_rows


def read_paper_aggregates(config: Config) -> Aggregates:
    """Read the paper's numbers (config/paper), for the rows and columns of `config`."""
    paper = Aggregates(find_repository_root() / "config" / "paper", config)
    paper.provenance = Provenance.paper()
    rows = [*paper.table("budget"), *paper.table("asr_runs")]
    paper.tables["structure"] = [{"name": row["arm"], "value": row["parameters"]} for row in rows]
    return paper


@cache
def read_printed() -> dict[tuple[str, str, str], str]:
    """Read the cells that the other published numbers do not determine (config/paper/printed.csv).

    By table, row and heading of the column: the text that the paper prints.
    """
    rows = read_rows(find_repository_root() / "config" / "paper" / "printed.csv", ("table", "row"))
    return {(row["table"], row["row"], row["column"]): row["text"] for row in rows}
