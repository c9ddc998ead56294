"""Build the tables of training time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from ...analysis import schemas
from ...analysis.reader import Aggregates
from ...analysis.schemas import EVERY, TRAINING_TIME
from ...analysis.training_time import ABLATION, BASELINES, LINEAR, MAIN, TABLED, VARIANTS
from ...config import OWN, Arm, list_short_names
from ...errors import UserError
from ...progress import format_count, format_duration
from ...wording import join_words
from ..layout import DASH, Row, Table, View, format_number

TITLES = {
    BASELINES: "Matched-budget amortized baselines",
    MAIN: "GB-LSR arms and control of the main tables",
    LINEAR: "Locality diagnostic: per-patch arms with a linear bandwidth map",
    ABLATION: "Log-space ablation: arms beside those of the main tables",
    VARIANTS: "Variants of the GB-LSR family",
    OWN: "Not of the paper and not in the total",
}
ENCODERS = {"rdn": "RDN", "swinir": "SwinIR", "edsr": "EDSR"}


def build_training_time(source: Aggregates, view: View, benchmark: str) -> list[Table]:
    """Build Tables 16 and 17: training time of a benchmark by group of arms or methods."""
    names, aggregate = list_short_names(benchmark), TRAINING_TIME[benchmark]
    arms: dict[str, list[str]] = {}  # by group
    wholes = {}
    for row in source.table(aggregate):
        if row["arm"] == EVERY:
            wholes[row["group"]] = row
        else:
            arms.setdefault(row["group"], []).append(row["arm"])
    whole = wholes.pop(TABLED, None)
    if whole is None:
        raise UserError(
            f"{source.path(aggregate)} has no run of the paper's arms; train one first."
        )
    wholes.pop(EVERY, None)
    own = wholes.pop(OWN, None)
    noun = "arm" if benchmark == "native" else "method"

    def build_row(group: str, numbers: Mapping[str, Any]) -> Row:
        shorts = ", ".join(names[arm] for arm in arms[group])
        count = _count_runs(int(numbers["runs"]), len(arms[group]), noun)
        return Row(group, [f"{_name_group(group)} ({shorts}; {count})", *_format_times(numbers)])

    rows = [build_row(group, numbers) for group, numbers in wholes.items()]
    count, _, total = _format_times(whole)
    bottom = Row("total", ["**Total**", f"**{count}**", "", f"**{total}**"])
    devices = join_words(whole["devices"].split("; "), "or")
    notes: list[str | None] = [f"Trained on {devices}" if devices else "Device not recorded"]
    if benchmark == "native":
        shown = {arm for group in wholes for arm in arms[group]}
        notes.append(_describe_sharing([source.arms[name] for name in names if name in shown]))
    header = ["Training group", "runs", "per-run", "total"]
    spec = [r"p{0.55\linewidth}", *"rrr"]
    groups = [rows, [bottom], *([[build_row(OWN, own)]] if own else [])]
    return [Table(f"compute_{benchmark}", spec, [header], groups, notes, ragged=True)]


def _name_group(group: str) -> str:
    return TITLES.get(group) or f"Methods on the {ENCODERS.get(group, group)} encoder"


def _describe_sharing(trained: Sequence[Arm]) -> str | None:
    """Say that the log-space ablation uses runs of the main tables, where any of it was trained."""
    ablation = [arm for arm in trained if arm.diagnostic in schemas.ABLATION]
    both = [arm.short for arm in ablation if arm.in_benchmark]
    if not both or len(both) == len(ablation):
        return None
    return (
        f"The log-space ablation shares the runs of {join_words(both)} with the main tables, "
        "where the paper trained all of the ablation's arms but Scalar again: nine further runs"
    )


def _count_runs(runs: int, members: int, noun: str) -> str:
    """Say how many arms or methods a group has, times how many seeds."""
    text = format_count(members, noun)
    seeds, rest = divmod(runs, members)
    return f"{text}, {runs} runs in all" if rest else f"{text} × {format_count(seeds, 'seed')}"


def _format_times(numbers: Mapping[str, Any]) -> list[str]:
    """Format the cells of runs: their number, shortest to longest time, and total time."""
    span = dict.fromkeys(
        format_clock(numbers[name]) for name in ("shortest_seconds", "longest_seconds")
    )
    return [
        format_number(numbers["runs"], "{:.0f}"),
        "–".join(span),
        format_clock(numbers["total_seconds"]),
    ]


def format_clock(seconds: float) -> str:
    """Format a duration for a table: 45s, 3m07s, 2h05m, 1,428h18m; NaN is a dash."""
    if isnan(seconds):
        return DASH
    return re.sub(r"^\d{4,}", lambda hours: f"{int(hours[0]):,}", format_duration(seconds))
