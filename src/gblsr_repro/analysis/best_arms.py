"""Find the best arms of every data set, and compare the main arm with them (Table 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .estimates import Estimate, NotMeasuredError, highest_mean, lowest_mean
from .measured import Measured, Names, measure
from .reader import Aggregates
from .statistics import LPIPS, PSNR, Metric, pooled_p, ties

ANY, BASELINE = "any", "baseline"
"""The arms that a best arm is among: those of the main tables, or the baselines among them."""


def compute_gap(
    run: Measured, datasets: Names, arm: str, rivals: Names, metric: Metric
) -> Estimate:
    """Compute by how much an arm's metric is above its best rival's on every data set."""
    if not rivals:
        raise NotMeasuredError(f"{arm} has no rival")
    own, others = (run.native(datasets, arms, metric.name) for arms in (arm, rivals))
    return own - (lowest_mean(others) if metric.lower else highest_mean(others))


def derive_best_arms(run: Aggregates) -> Iterator[tuple[Any, ...]]:
    """Yield rows of the aggregate `best_arms`: the best arm and those that tie with it, best first.

    Columns: data set, metric, what the arm is best among, arm, its mean, the main arm minus it, and
    whether the main arm is better beyond the test of the main tables (1 or 0).
    """
    for dataset in run.evaluate:
        for metric in (PSNR, LPIPS):
            for among, arms in {ANY: run.benchmark, BASELINE: run.baselines}.items():
                for row in _compare_with_best(run, dataset, metric, [*arms]):
                    yield dataset, metric.name, among, *row


def _compare_with_best(
    run: Aggregates, dataset: str, metric: Metric, arms: list[str]
) -> Iterator[tuple[str, float, float, int]]:
    significance, main = run.config["native"]["significance"], run.main_arm.arm
    own = run.cell("native", dataset, main, metric.name)
    cells = [run.cell("native", dataset, arm, metric.name) for arm in arms]
    for place in ties(cells, metric.lower, metric.digits, significance):
        gap = measure(compute_gap, Measured(run), dataset, main, arms[place], metric)
        better = (gap < 0 if metric.lower else gap > 0) and pooled_p(
            own, cells[place]
        ) < significance
        yield arms[place], cells[place].mean, gap, int(better)
