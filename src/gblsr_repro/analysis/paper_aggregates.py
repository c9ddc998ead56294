"""Read the paper's numbers (config/paper), most of them as the aggregates of a run."""

from __future__ import annotations

from functools import cache

from ..config import Config, find_repository_root
from .aggregate import derive
from .budget import compare_with_anchor
from .provenance import Provenance
from .reader import Aggregates, convert_to_numbers, read_rows
from .schemas import SCHEMAS

DERIVED = ("criteria", "best_arms", "native_means", "psnr_gaps", "mean_psnr_gaps", "speed")
"""The aggregates that the paper's means determine, as far as it prints them."""


def read_paper_aggregates(config: Config) -> Aggregates:
    """Read the paper's numbers (config/paper), for the rows and columns of `config`."""
    paper = Aggregates(find_repository_root() / "config" / "paper", config)
    paper.provenance = Provenance.paper()
    counts = _read_counts(paper)
    paper.tables["budget"] = [
        dict(zip(SCHEMAS["budget"].columns, row, strict=True))
        for row in compare_with_anchor(counts, config)
    ]
    counts |= {row["arm"]: row["parameters"] for row in paper.table("asr_runs")}
    paper.tables["structure"] = [{"name": name, "value": n} for name, n in counts.items()]
    for name in DERIVED:
        paper.tables[name] = derive(name, paper)
    return paper


def _read_counts(paper: Aggregates) -> dict[str, float]:
    """Read the parameters of every arm that the paper prints."""
    path, columns = paper.path("budget"), ("arm", "parameters")
    table = read_rows(path, columns, ("arm",))
    convert_to_numbers(table, columns[1:], ("arm",), path)
    return {row["arm"]: row["parameters"] for row in table}


@cache
def read_printed() -> dict[tuple[str, str, str], str]:
    """Read the cells that the other published numbers do not determine (config/paper/printed.csv).

    By table, row and heading of the column: the text that the paper prints.
    """
    rows = read_rows(find_repository_root() / "config" / "paper" / "printed.csv", ("table", "row"))
    return {(row["table"], row["row"], row["column"]): row["text"] for row in rows}
