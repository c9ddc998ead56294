"""Derive the numbers that figures show beside those of other aggregates (Figures 1, 7, extra)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..config import find_repository_root, load_protocol
from .reader import Aggregates
from .schemas import SCHEMAS

COMPARED = ("native", "ablation", "asr_quality", "asr_latency")
"""The aggregates whose cells are held against the published ones."""


def derive_native_means(run: Aggregates) -> Iterator[tuple[Any, ...]]:
    """Yield rows of the aggregate `native_means`: the means of the native metrics over data sets.

    Columns: arm, metric, on how many data sets the arm has the metric, and the mean over these.
    """
    for key, cells in run.frame("native").groupby(["arm", "metric"], sort=False)["mean"]:
        yield *key, len(cells), float(cells.mean())


def derive_distances(run: Aggregates) -> Iterator[tuple[Any, ...]]:
    """Yield rows of the aggregate `distances`: how far measured cells are from the published ones.

    Columns: aggregate, metric, how many cells the paper publishes and how many of them were
    measured, and the median of their absolute differences.
    """
    paper = Aggregates(find_repository_root() / "config" / "paper", load_protocol())
    for name in filter(run.has, COMPARED):
        keys = list(SCHEMAS[name].keys)
        cells = paper.frame(name).merge(run.frame(name), "left", on=keys)
        cells["distance"] = (cells["mean_y"] - cells["mean_x"]).abs()
        for metric, distances in cells.groupby("metric", sort=False)["distance"]:
            yield name, metric, len(distances), int(distances.count()), float(distances.median())
