"""Sum up the training time of arms and methods, alone and in groups (Tables 16, 17)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import chain

from ..config import OWN, Arm, Method, read_arms, read_methods, read_published_times
from .derived import read_value
from .estimates import Estimate, maximum, mean, minimum, total
from .measured import Measured, OneOrMore
from .reader import Aggregates

BASELINES, MAIN, LINEAR, ABLATION = NATIVE_GROUPS = ("baselines", "main", "linear", "ablation")
"""The groups of arms in the paper's table; methods are grouped by encoder, but for the variants."""
VARIANTS = "variants"
TIME_SUMMARIES: dict[str, Callable[[Estimate], Estimate]] = {
    "shortest_seconds": minimum,
    "longest_seconds": maximum,
    "mean_seconds": mean,
    "total_seconds": total,
}
"""By name: how the times of training runs are summarized in tables and claims."""


@dataclass(frozen=True)
class RunTotals:
    """The training runs of some arms or methods, summed up; NaN stands for what is not known.

    `seconds` are times by the names of `TIMES`.
    """

    members: tuple[str, ...]
    runs: int
    seconds: Mapping[str, float]
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
        return VARIANTS if row.group == "variant" else row.encoder.rpartition(":")[2]
    if row.in_benchmark:
        return BASELINES if row.group == "baseline" else MAIN
    return LINEAR if row.diagnostic == "linear" else ABLATION


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


def compute_time(
    run: Measured, subjects: OneOrMore, summarize: Callable[[Estimate], Estimate], unit: int = 1
) -> Estimate:
    """Compute the shortest, longest, mean or total time of training runs, in a unit of seconds."""
    return summarize(run.seconds(subjects) / unit)


def sum_up_trainings(source: Aggregates, benchmark: str, names: Collection[str]) -> RunTotals:
    """Sum up the runs of those of some arms or methods that were trained here.

    Steps per second are the mean over the runs, the memory is the highest of them.
    """
    runs = source.trained_runs(benchmark)
    own = runs[runs["arm"].isin(list(names))]
    members = tuple(own["arm"].unique())
    return RunTotals(
        members,
        len(own),
        {
            name: read_value(source, compute_time, members, how)
            for name, how in TIME_SUMMARIES.items()
        },
        own["steps"].min(),
        own["steps"].max(),
        own["steps_per_second"].mean(),
        own["peak_memory_mib"].max(),
        tuple(device for device in own["device"].unique() if device),
    )


def sum_up_groups(source: Aggregates, benchmark: str) -> dict[str, RunTotals]:
    """Sum up the runs of every group that has any, own ones last."""
    trained = {*source.trained_runs(benchmark)["arm"]}
    return {
        name: sum_up_trainings(source, benchmark, members)
        for name, members in list_groups(benchmark).items()
        if not trained.isdisjoint(members)
    }


def add_up(groups: Collection[RunTotals]) -> RunTotals:
    """Add up the runs and the time of groups."""
    return RunTotals(
        tuple(chain.from_iterable(group.members for group in groups)),
        sum(group.runs for group in groups),
        {"total_seconds": sum(group.seconds["total_seconds"] for group in groups)},
        devices=tuple(dict.fromkeys(chain.from_iterable(group.devices for group in groups))),
    )


# --- what the paper prints ------------------------------------------------------------------------


def list_published_trainings(benchmark: str, shown: Collection[str]) -> dict[str, RunTotals]:
    """List the paper's training time of those of some groups of which it prints any."""
    groups, published = list_groups(benchmark), {}
    for printed in read_published_times(benchmark):
        members = printed.subjects
        name = next((name for name in shown if {*members} <= {*groups[name]}), None)
        if name is not None:
            printed_times = printed.model_dump(include={*TIME_SUMMARIES})
            seconds = {each: float(time) for each, time in printed_times.items()}
            published[name] = RunTotals(members, printed.runs, seconds)
    return published
