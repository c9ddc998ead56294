"""Build the tables of training time."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from math import isnan

from ...analysis.reader import Aggregates
from ...analysis.schemas import RUN_AGGREGATES
from ...analysis.training_time import (
    ABLATION_GROUP,
    BASELINES_GROUP,
    LINEAR_GROUP,
    MAIN_GROUP,
    VARIANTS_GROUP,
    RunTotals,
    add_up,
    list_published_trainings,
    sum_up_groups,
)
from ...config import OWN, list_short_names
from ...errors import UserError
from ...progress import format_count, format_duration
from ...wording import join_words
from ..layout import DASH
from .sheet import Sheet, SheetColumn, SheetGroup, SheetRow

TITLES = {
    BASELINES_GROUP: "Matched-budget amortized baselines",
    MAIN_GROUP: "GB-LSR arms and control of the main tables",
    LINEAR_GROUP: "Locality diagnostic: per-patch arms with a linear bandwidth map",
    ABLATION_GROUP: "Log-space ablation: arms beside those of the main tables",
    VARIANTS_GROUP: "Variants of the GB-LSR family",
    OWN: "Not of the paper and not in the total",
}
TOTAL = "total"


def build_training_time(source: Aggregates, benchmark: str) -> list[Sheet]:
    """Build Tables 16 and 17: training time of a benchmark by group of arms or methods."""
    source.require(source.table(RUN_AGGREGATES[benchmark]), RUN_AGGREGATES[benchmark], "rows")
    return [set_times(benchmark, sum_up_groups(source, benchmark))]


def build_published_times(benchmark: str, shown: Collection[str]) -> list[Sheet]:
    """Build these tables of the paper's training time, of the groups that are shown."""
    return [set_times(benchmark, list_published_trainings(benchmark, shown))]


def set_times(benchmark: str, groups: Mapping[str, RunTotals]) -> Sheet:
    """Set the training time of groups of a benchmark. Raises `UserError` without the paper's."""
    names = list_short_names(benchmark)
    papers = {group: trainings for group, trainings in groups.items() if group != OWN}
    if not papers:
        raise UserError(
            f"aggregates/{RUN_AGGREGATES[benchmark]}.csv has no run of the paper's arms; train one "
            "first."
        )
    whole = add_up(papers.values())
    shown = {**groups, TOTAL: whole}
    noun = "arm" if benchmark == "native" else "method"

    def build_row(group: str) -> SheetRow:
        trainings = groups[group]
        shorts = ", ".join(names[arm] for arm in trainings.members)
        count = _count_runs(trainings.runs, len(trainings.members), noun)
        title = TITLES.get(group) or f"Methods on the {group} encoder"
        return SheetRow((group,), f"{title} ({shorts}; {count})")

    def read_range(group: str) -> str:
        times = shown[group].shortest_seconds, shown[group].longest_seconds
        return "" if group == TOTAL else "–".join(dict.fromkeys(map(format_time, times)))

    columns = [
        SheetColumn("runs", "runs", lambda group: f"{shown[group].runs}"),
        SheetColumn("per_run", "per-run", read_range),
        SheetColumn("total", "total", lambda group: format_time(shown[group].total_seconds)),
    ]
    body = [[*map(build_row, papers)], [SheetRow((TOTAL,), "**Total**", strong=("runs", "total"))]]
    body += [[build_row(OWN)]] if OWN in groups else []
    devices = join_words(whole.devices, "or") if whole.devices else "a device that is not recorded"
    label, corner = f"compute_{benchmark}", ["Training group"]
    return Sheet(label, "p1", corner, columns, [*map(SheetGroup, body)], [f"Trained on {devices}"])


def _count_runs(runs: int, members: int, noun: str) -> str:
    """Say how many arms or methods a group has, times how many seeds."""
    text = format_count(members, noun)
    seeds, rest = divmod(runs, members)
    return f"{text}, {runs} runs in all" if rest else f"{text} × {format_count(seeds, 'seed')}"


def format_time(seconds: float) -> str:
    """Format a duration for a table: 45s, 3m07s, 2h05m, 1,428h18m; NaN is a dash."""
    if isnan(seconds):
        return DASH
    return re.sub(r"^\d{4,}", lambda hours: f"{int(hours[0]):,}", format_duration(seconds))
