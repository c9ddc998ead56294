"""Find the best arms of every data set, and compare the main arm with them (Table 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .reader import Aggregates
from .statistics import LPIPS, PSNR, Metric, compute_pooled_p, find_ties

ANY, BASELINE = "any", "baseline"
"""The arms that a best arm is among: the paper's of the main tables, or its baselines."""


def derive_best_arms(run: Aggregates) -> Iterator[tuple[Any, ...]]:
    """Yield rows of the aggregate `best_arms`: the best arm and those that tie with it, best first.

    Columns: data set, metric, what the arm is best among, arm, its mean, the main arm minus it, and
    whether the main arm is better beyond the test of the main tables (1 or 0).
    """
    for dataset in run.evaluate:
        for metric in (PSNR, LPIPS):
            for among, arms in {ANY: run.compared, BASELINE: run.baselines}.items():
                for row in _compare_with_best(run, dataset, metric, [*arms]):
                    yield dataset, metric.name, among, *row


def _compare_with_best(
    run: Aggregates, dataset: str, metric: Metric, arms: list[str]
) -> Iterator[tuple[str, float, float, int]]:
    significance = run.config["native"]["significance"]
    own = run.cell("native", dataset, run.main_arm.arm, metric.name)
    cells = [run.cell("native", dataset, arm, metric.name) for arm in arms]
    for place in find_ties(cells, metric.lower, metric.digits, significance):
        best = cells[place]
        gap = own.mean - best.mean
        is_better = gap < 0 if metric.lower else gap > 0
        better = is_better and compute_pooled_p(own, best) < significance
        yield arms[place], best.mean, gap, int(better)
