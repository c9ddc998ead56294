"""Derive aggregates from other aggregates, of a run and of the numbers that the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ..config import Config, find_repository_root
from .best_arms import derive_best_arms
from .budget import compare_with_anchor
from .criteria import derive_criteria
from .efficiency import derive_mean_psnr_gaps, derive_psnr_gaps, derive_speed
from .provenance import Provenance
from .reader import Aggregates, Table, convert_to_numbers, read_rows
from .schemas import SCHEMAS, TRAINING_TIME
from .training_time import derive_training_time

DERIVED: dict[str, Callable[[Aggregates], Iterator[tuple[Any, ...]]]] = {
    "criteria": derive_criteria,
    "best_arms": derive_best_arms,
    "psnr_gaps": derive_psnr_gaps,
    "mean_psnr_gaps": derive_mean_psnr_gaps,
    "speed": derive_speed,
} | {
    name: partial(derive_training_time, benchmark=benchmark)
    for benchmark, name in TRAINING_TIME.items()
}
"""By the name of an aggregate: the function that yields its rows."""
PUBLISHED = ("criteria", "best_arms", "psnr_gaps", "mean_psnr_gaps", "speed")
"""Those that the paper's means determine, as far as it prints them."""


def derive(name: str, run: Aggregates) -> Table:
    """Derive an aggregate from the others of a folder; `UserError` names one that is missing."""
    return [_name_columns(name, row) for row in DERIVED[name](run)]


def read_paper_aggregates(config: Config) -> Aggregates:
    """Read the paper's numbers (config/paper), for the rows and columns of `config`."""
    paper = Aggregates(find_repository_root() / "config" / "paper", config)
    paper.provenance = Provenance.paper()
    counts = _read_counts(paper)
    paper.tables["budget"] = [
        _name_columns("budget", row) for row in compare_with_anchor(counts, config)
    ]
    counts |= {row["arm"]: row["parameters"] for row in paper.table("asr_runs")}
    paper.tables["structure"] = [_name_columns("structure", row) for row in counts.items()]
    for name in PUBLISHED:
        paper.tables[name] = derive(name, paper)
    return paper


def _read_counts(paper: Aggregates) -> dict[str, float]:
    """Read the parameters of every arm that the paper prints."""
    path, columns = paper.path("budget"), ("arm", "parameters")
    table = read_rows(path, columns, ("arm",))
    convert_to_numbers(table, columns[1:], ("arm",), path)
    return {row["arm"]: row["parameters"] for row in table}


def _name_columns(name: str, row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(SCHEMAS[name].columns, row, strict=True))
