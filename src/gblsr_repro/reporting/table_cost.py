"""The tables of training time and of licences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

import pandas as pd

from ..config import READING, Arm, Method, assets
from ..errors import UserError
from ..progress import duration
from .aggregates import Aggregates
from .compare import short_names
from .items import item
from .kinds import ABLATION
from .layout import DASH, Float, Line, Span
from .markup import listed

NATIVE_GROUPS = (
    "Matched-budget amortized baselines",
    "GB-LSR arms and control of the main tables",
    "Locality diagnostic: per-patch arms with a linear bandwidth map",
    "Log-space ablation: arms beside those of the main tables",
)
ENCODERS = {"rdn": "RDN", "swinir": "SwinIR"}


def groups_of(source: Aggregates, half: str) -> dict[str, list[str]]:
    """Return the arms or methods of every group of a half's table, by the group's title.

    Other readings of the baselines are in none.
    """
    groups: dict[str, list[str]] = {title: [] for title in NATIVE_GROUPS if half == "native"}
    for name, row in source.rows(half).items():
        if row.group != READING:
            groups.setdefault(_group(row), []).append(name)
    return groups


def _group(row: Arm | Method) -> str:
    if isinstance(row, Method):
        if row.group == "variant":
            return "Variants of the GB-LSR family"
        return f"Methods on the {ENCODERS.get(row.encoder, row.encoder)} encoder"
    baselines, main, linear, log = NATIVE_GROUPS
    if row.in_benchmark:
        return baselines if row.group == "baseline" else main
    return linear if row.diagnostic == "linear" else log


@item
def compute(source: Aggregates, half: str) -> Float:
    """Training time of a benchmark by group of arms or methods (Tables 16 and 17)."""
    native, names = half == "native", short_names(half)
    kind, groups = "runs" if native else "asr_runs", groups_of(source, half)
    runs = source.frame(kind)
    runs = runs[runs["arm"].isin(chain(*groups.values()))]
    if runs.empty:
        raise UserError(f"{source.path(kind)} has no run of the paper's arms; train one first.")
    lines: list[Line] = []
    for title, members in groups.items():
        chosen = runs[runs["arm"].isin(members)]
        if not chosen.empty:
            present = [names[m] for m in members if m in set(chosen["arm"])]
            count = _by_seed(chosen, len(present), "arm" if native else "method")
            lines.append([f"{title} ({', '.join(present)}; {count})", *_times(chosen)])
    count, _, total = _times(runs)
    bottom: Line = ["**Total**", f"**{count}**", "", f"**{total}**"]
    devices = [device for device in runs["device"].unique() if device]
    told = [
        f"Trained on {listed(devices, 'or')}" if devices else "Device not recorded",
        _shared([source.arms[n] for n in names if n in {*runs["arm"]}]) if native else None,
    ]
    header, spec = ["Training group", "runs", "per-run", "total"], [r"p{0.55\linewidth}", *"rrr"]
    return Float(f"compute_{half}", spec, [header], [lines, [bottom]], told, ragged=True)


def _shared(trained: Sequence[Arm]) -> str | None:
    """Say that the log-space ablation uses runs of the main tables, where any of it was trained."""
    ablation = [arm for arm in trained if arm.diagnostic in ABLATION]
    both = [arm.short for arm in ablation if arm.in_benchmark]
    if not both or len(both) == len(ablation):
        return None
    return (
        f"The log-space ablation shares the runs of {listed(both)} with the main tables, "
        "where the paper trained all of its arms but Scalar again: nine runs of its own"
    )


def _by_seed(runs: pd.DataFrame, members: int, noun: str) -> str:
    shown = f"{members} {noun}{'' if members == 1 else 's'}"
    seeds, rest = divmod(len(runs), members)
    if rest:
        return f"{shown}, {len(runs)} runs in all"
    return f"{shown} × {seeds} seed{'' if seeds == 1 else 's'}"


def _times(runs: pd.DataFrame) -> list[str]:
    known = runs["wall_seconds"].dropna()
    if known.empty:
        return [f"{len(runs)}", DASH, DASH]
    span = dict.fromkeys((clock(known.min()), clock(known.max())))
    return [f"{len(runs)}", "–".join(span), clock(known.sum())]


def clock(seconds: float) -> str:
    """Format a duration for a table: 45s, 3m07s, 2h05m, 1,428h18m."""
    return re.sub(r"^\d{4,}", lambda hours: f"{int(hours[0]):,}", duration(seconds))


# --- licences -----------------------------------------------------------------------------------


@item
def licenses(source: Aggregates) -> Float:
    """Licences and terms of the data sets the config uses, and of code (Table 18)."""
    sections = source.config["native"]["data"], source.config["asr"]
    used = {name for s in sections for name in (*s["train"], *s["evaluate"].values())}
    rows = [d for name, d in source.datasets.items() if name in used or d.role == "weights"]
    data = [[d.title, d.license, _link(d.homepage)] for d in rows]
    code = [[row["title"], row["license"], _link(row["url"])] for row in assets()]
    header = ["Asset", "Licence or terms of use", "URL"]
    spec = [r"p{0.20\linewidth}", r"p{0.34\linewidth}", r"p{0.40\linewidth}"]
    groups: list[list[Line]] = [
        [[Span("*Data sets*", 3, "l")], *data],
        [[Span("*Code and architectures*", 3, "l")], *code],
    ]
    return Float("licenses", spec, [header], groups, ragged=True)


def _link(address: str) -> str:
    return f"<{address}>" if address.startswith("http") else address or DASH
