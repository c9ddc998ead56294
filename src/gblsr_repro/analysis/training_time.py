"""Sum up the training time of arms and methods, alone and in groups (Tables 16, 17)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import chain
from typing import Any

import pandas as pd

from ..config import OWN, READING, Arm, Method, find_repository_root, read_arms, read_methods
from ..files import read_csv
from .reader import Aggregates, Table
from .schemas import EVERY, TIME_COLUMNS

BASELINES, MAIN, LINEAR, ABLATION = NATIVE_GROUPS = ("baselines", "main", "linear", "ablation")
"""The groups of arms in the paper's table; methods are grouped by encoder, but for the variants."""
VARIANTS = "variants"
READINGS = "readings"  # of the baselines: no part of the paper's table
TABLED = "tabled"  # stands for the groups that the paper's table has


def name_group(row: Arm | Method) -> str:
    """Name the group of an arm or method in the tables of training time."""
    if row.group == READING:
        return READINGS
    if row.group == OWN:
        return OWN
    if isinstance(row, Method):
        return VARIANTS if row.group == "variant" else row.encoder
    if row.in_benchmark:
        return BASELINES if row.group == "baseline" else MAIN
    return LINEAR if row.diagnostic == "linear" else ABLATION


def list_groups(benchmark: str) -> dict[str, list[str]]:
    """List the arms or methods of every group of a benchmark's table, those of the user's last."""
    groups: dict[str, list[str]] = {name: [] for name in NATIVE_GROUPS if benchmark == "native"}
    rows: dict[str, Arm] | dict[str, Method] = (
        read_arms() if benchmark == "native" else read_methods()
    )
    for name, row in rows.items():
        groups.setdefault(name_group(row), []).append(name)
    groups.pop(READINGS, None)
    groups[OWN] = groups.pop(OWN, [])
    return groups


def derive_training_time(run: Aggregates, benchmark: str) -> Iterator[tuple[Any, ...]]:
    """Yield rows of the aggregate of a benchmark's training time, as `TIME_COLUMNS` names them.

    First every arm or method that was trained here; then, as the arm `all`, every group of the
    table that has any, the paper's groups together (`tabled`), and all runs (`all`). Steps per
    second are the mean over the runs, the memory is the highest of them.
    """
    runs = run.trained_runs(benchmark)
    arms = [*runs["arm"].unique()]
    for arm in arms:
        yield name_group(run.subjects(benchmark)[arm]), arm, *_sum_up(runs, [arm])
    groups = list_groups(benchmark)
    tabled = chain(*(members for name, members in groups.items() if name != OWN))
    wholes = {**groups, TABLED: [*tabled], EVERY: arms}
    for name, members in wholes.items():
        if trained := [arm for arm in arms if arm in members]:
            yield name, EVERY, *_sum_up(runs, trained)


def _sum_up(runs: pd.DataFrame, arms: list[str]) -> Iterator[Any]:
    """Yield the numbers of the runs of some arms or methods."""
    own = runs[runs["arm"].isin(arms)]
    steps, seconds = own["steps"], own["wall_seconds"]
    yield len(own)
    yield from (steps.min(), steps.max())
    yield from (seconds.min(), seconds.max(), seconds.mean(), seconds.sum(min_count=1))
    yield from (own["steps_per_second"].mean(), own["peak_memory_mib"].max())
    yield "; ".join(device for device in own["device"].unique() if device)


# --- what the paper prints ------------------------------------------------------------------------


def read_published_times(benchmark: str) -> list[dict[str, str]]:
    """Read the rows of the paper's table of a benchmark (config/paper/compute.csv)."""
    rows = read_csv(find_repository_root() / "config" / "paper" / "compute.csv")
    return [row for row in rows if row["benchmark"] == benchmark]


def list_published_times(benchmark: str, shown: Collection[str]) -> Table:
    """List the paper's training time of the groups that are shown, with their total.

    The rows are those of `derive_training_time`; a group of which the paper prints nothing is
    absent.
    """
    groups, rows = list_groups(benchmark), []
    for printed in read_published_times(benchmark):
        members = printed["subjects"].split()
        name = next((name for name in shown if {*members} <= {*groups[name]}), None)
        if name is not None:
            numbers = {c: float(printed[c]) for c in TIME_COLUMNS if c in printed and c != "group"}
            rows += [_build_row(name, arm, {}) for arm in members]
            rows.append(_build_row(name, EVERY, numbers))
    wholes = [row for row in rows if row["arm"] == EVERY]
    if wholes:
        numbers = {
            column: sum(row[column] for row in wholes) for column in ("runs", "total_seconds")
        }
        rows.append(_build_row(TABLED, EVERY, numbers))
    return rows


def _build_row(group: str, arm: str, numbers: dict[str, float]) -> dict[str, Any]:
    """Build a row with NaN for the numbers that the paper does not print."""
    blank: dict[str, Any] = dict.fromkeys(TIME_COLUMNS, math.nan)
    return blank | {"group": group, "arm": arm, "devices": ""} | numbers
