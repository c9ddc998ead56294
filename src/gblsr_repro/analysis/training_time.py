"""Sum up the training time of arms and methods, alone and in groups (Tables 16, 17)."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain

import pandas as pd

from ..config import OWN, Arm, Method, read_arms, read_methods, read_published_times
from .reader import Aggregates

NATIVE_GROUPS = ("baselines", "main", "linear", "ablation")
BASELINES_GROUP, MAIN_GROUP, LINEAR_GROUP, ABLATION_GROUP = NATIVE_GROUPS
"""The groups of arms in the paper's table; methods are grouped by encoder, but for the variants."""
VARIANTS_GROUP = "variants"


@dataclass(frozen=True)
class RunTotals:
    """The training runs of some arms or methods, summed up; NaN stands for what is not known.

    Times are in seconds; steps per second are the mean over the runs, the memory is the highest.
    """

    members: tuple[str, ...]
    runs: int
    total_seconds: float
    shortest_seconds: float = math.nan
    longest_seconds: float = math.nan
    mean_seconds: float = math.nan
    fewest_steps: float = math.nan
    most_steps: float = math.nan
    steps_per_second: float = math.nan
    peak_memory_mib: float = math.nan
    devices: tuple[str, ...] = ()


def name_group(row: Arm | Method) -> str:
    """Name the group of an arm or method in the tables of training time."""
    if row.group == OWN:
        return OWN
    if isinstance(row, Method):
        return VARIANTS_GROUP if row.group == "variant" else row.encoder.rpartition(":")[2]
    if row.in_benchmark:
        return BASELINES_GROUP if row.group == "baseline" else MAIN_GROUP
    return LINEAR_GROUP if row.diagnostic == "linear" else ABLATION_GROUP


def list_groups(benchmark: str) -> dict[str, list[str]]:
    """List the arms or methods of every group of a benchmark's table, own ones last."""
    groups: dict[str, list[str]] = {name: [] for name in NATIVE_GROUPS if benchmark == "native"}
    rows: dict[str, Arm] | dict[str, Method] = (
        read_arms() if benchmark == "native" else read_methods()
    )
    for name, row in rows.items():
        groups.setdefault(name_group(row), []).append(name)
    groups[OWN] = groups.pop(OWN, [])
    return groups


def sum_up(runs: pd.DataFrame) -> RunTotals:
    """Sum up some rows of `Aggregates.trained_runs`."""
    seconds, steps = runs["wall_seconds"], runs["steps"]
    return RunTotals(
        tuple(runs["arm"].unique()),
        len(runs),
        seconds.sum(min_count=1),
        seconds.min(),
        seconds.max(),
        seconds.mean(),
        steps.min(),
        steps.max(),
        runs["steps_per_second"].mean(),
        runs["peak_memory_mib"].max(),
        tuple(device for device in runs["device"].unique() if device),
    )


def sum_up_groups(source: Aggregates, benchmark: str) -> dict[str, RunTotals]:
    """Sum up the runs of every group that has any, own ones last."""
    runs = source.trained_runs(benchmark)
    groups = {
        name: runs[runs["arm"].isin(members)] for name, members in list_groups(benchmark).items()
    }
    return {name: sum_up(own) for name, own in groups.items() if len(own)}


def add_up(groups: Collection[RunTotals]) -> RunTotals:
    """Add up the runs and the time of groups."""
    return RunTotals(
        tuple(chain.from_iterable(group.members for group in groups)),
        sum(group.runs for group in groups),
        sum(group.total_seconds for group in groups),
        devices=tuple(dict.fromkeys(chain.from_iterable(group.devices for group in groups))),
    )


# --- what the paper prints ------------------------------------------------------------------------


def list_published_trainings(benchmark: str, shown: Collection[str]) -> dict[str, RunTotals]:
    """List the training time that the paper prints for the groups that are shown."""
    groups, published = list_groups(benchmark), {}
    for printed in read_published_times(benchmark):
        name = next((name for name in shown if {*printed.subjects} <= {*groups[name]}), None)
        if name is not None:
            published[name] = RunTotals(
                printed.subjects,
                printed.runs,
                printed.total_seconds,
                printed.shortest_seconds,
                printed.longest_seconds,
            )
    return published
