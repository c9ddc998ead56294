"""Build the tables of training time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

import pandas as pd

from ...analysis.reader import Aggregates
from ...analysis.schemas import ABLATION
from ...config import READING, Arm, Method, list_short_names
from ...errors import UserError
from ...progress import format_duration
from ...wording import join_words
from ..items import register
from ..layout import DASH, Row, Table

NATIVE_GROUPS = (
    "Matched-budget amortized baselines",
    "GB-LSR arms and control of the main tables",
    "Locality diagnostic: per-patch arms with a linear bandwidth map",
    "Log-space ablation: arms beside those of the main tables",
)
ENCODERS = {"rdn": "RDN", "swinir": "SwinIR", "edsr": "EDSR"}


def group_runs(source: Aggregates, benchmark: str) -> dict[str, list[str]]:
    """Group a benchmark's arms or methods as its table of training time does, by group title.

    Other readings of the baselines are in none.
    """
    groups: dict[str, list[str]] = {title: [] for title in NATIVE_GROUPS if benchmark == "native"}
    for name, row in source.rows(benchmark).items():
        if row.group != READING:
            groups.setdefault(_name_group(row), []).append(name)
    return groups


def _name_group(row: Arm | Method) -> str:
    """Name the group of an arm or method in its table of training time."""
    if isinstance(row, Method):
        if row.group == "variant":
            return "Variants of the GB-LSR family"
        return f"Methods on the {ENCODERS.get(row.encoder, row.encoder)} encoder"
    baselines, main, linear, log = NATIVE_GROUPS
    if row.in_benchmark:
        return baselines if row.group == "baseline" else main
    return linear if row.diagnostic == "linear" else log


@register
def build_training_time(source: Aggregates, benchmark: str) -> list[Table]:
    """Build Tables 16 and 17: training time of a benchmark by group of arms or methods."""
    native = benchmark == "native"
    names = list_short_names(benchmark)
    aggregate = "runs" if native else "asr_runs"
    groups = group_runs(source, benchmark)
    source.require(source.table(aggregate), aggregate, "run")
    runs = source.trained_runs(benchmark)
    runs = runs[runs["arm"].isin(chain(*groups.values()))]
    if runs.empty:
        raise UserError(
            f"{source.path(aggregate)} has no run of the paper's arms; train one first."
        )
    rows = []
    for title, members in groups.items():
        group = runs[runs["arm"].isin(members)]
        if group.empty:
            continue
        present = [names[member] for member in members if member in set(group["arm"])]
        count = _format_count(group, len(present), "arm" if native else "method")
        label = f"{title} ({', '.join(present)}; {count})"
        rows.append(Row(title, [label, *_format_times(group)]))
    count, _, total = _format_times(runs)
    bottom = Row("total", ["**Total**", f"**{count}**", "", f"**{total}**"])
    devices = [device for device in runs["device"].unique() if device]
    notes: list[str | None] = [
        f"Trained on {join_words(devices, 'or')}" if devices else "Device not recorded"
    ]
    if native:
        notes.append(_describe_sharing([source.arms[n] for n in names if n in {*runs["arm"]}]))
    header = ["Training group", "runs", "per-run", "total"]
    spec = [r"p{0.55\linewidth}", *"rrr"]
    return [Table(f"compute_{benchmark}", spec, [header], [rows, [bottom]], notes, ragged=True)]


def _describe_sharing(trained: Sequence[Arm]) -> str | None:
    """Say that the log-space ablation uses runs of the main tables, where any of it was trained."""
    ablation = [arm for arm in trained if arm.diagnostic in ABLATION]
    both = [arm.short for arm in ablation if arm.in_benchmark]
    if not both or len(both) == len(ablation):
        return None
    return (
        f"The log-space ablation shares the runs of {join_words(both)} with the main tables, "
        "where the paper trained all of the ablation's arms but Scalar again: nine further runs"
    )


def _format_count(runs: pd.DataFrame, members: int, noun: str) -> str:
    """Format how many arms or methods a group has, times how many seeds."""
    text = f"{members} {noun}{'' if members == 1 else 's'}"
    seeds, rest = divmod(len(runs), members)
    if rest:
        return f"{text}, {len(runs)} runs in all"
    return f"{text} × {seeds} seed{'' if seeds == 1 else 's'}"


def _format_times(runs: pd.DataFrame) -> list[str]:
    """Format the cells of runs: their number, shortest to longest time, and total time."""
    seconds = runs["wall_seconds"].dropna()
    if seconds.empty:
        return [f"{len(runs)}", DASH, DASH]
    span = dict.fromkeys((format_clock(seconds.min()), format_clock(seconds.max())))
    return [f"{len(runs)}", "–".join(span), format_clock(seconds.sum())]


def format_clock(seconds: float) -> str:
    """Format a duration for a table: 45s, 3m07s, 2h05m, 1,428h18m."""
    return re.sub(r"^\d{4,}", lambda hours: f"{int(hours[0]):,}", format_duration(seconds))
