"""The tables of training time and of licences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..config import Arm, Dataset, Method, arms, read_table, repository_root
from ..errors import UserError
from ..progress import duration
from . import captions
from .captions import paragraph, run_notes
from .compare import Scope
from .layout import DASH, Float, Line, Span, Table
from .source import Source
from .tidy import Row, number

NATIVE_GROUPS = (
    "Matched-budget amortized baselines",
    "GB-LSR arms and control of the main tables",
    "Locality diagnostic: per-patch arms with a linear bandwidth map",
    "Log-space ablation: arms beside those of the main tables",
)


def compute_native(source: Source) -> Table:
    """Training time of the native benchmark by group of arms (Table 16)."""
    names = {name: arm.short for name, arm in source.arms.items()}
    return _compute(source, "native", "compute_native", source.runs, names)


def compute_asr(source: Source) -> Table:
    """Training time of super-resolution by group of methods (Table 17)."""
    names = {name: method.name for name, method in source.methods.items()}
    return _compute(source, "asr", "compute_asr", source.asr_runs, names)


def groups_of(source: Source, half: str) -> dict[str, list[str]]:
    """Return the arms or methods of every group of a half's table, by the group's title."""
    groups: dict[str, list[str]] = {}
    if half == "asr":
        for name, method in source.methods.items():
            groups.setdefault(_asr_group(method), []).append(name)
        return groups
    groups = {title: [] for title in NATIVE_GROUPS}
    for name, arm in source.arms.items():
        groups[_native_group(arm)].append(name)
    return groups


def _native_group(arm: Arm) -> str:
    baselines, main, linear, log = NATIVE_GROUPS
    if arm.in_benchmark:
        return baselines if arm.group == "baseline" else main
    return linear if arm.diagnostic == "linear" else log


def _asr_group(method: Method) -> str:
    if method.group == "variant":
        return "Variants of the GB-LSR family"
    return f"Methods on the {ENCODERS.get(method.encoder, method.encoder)} encoder"


ENCODERS = {"rdn": "RDN", "swinir": "SwinIR"}


def _compute(
    source: Source,
    half: str,
    table: str,
    runs: list[Row],
    names: Mapping[str, str],
) -> Table:
    path = source.path("runs" if half == "native" else "asr_runs")
    stranger = next((run["arm"] for run in runs if run["arm"] not in names), None)
    if stranger is not None:
        raise UserError(f"{path} has runs of {stranger!r}, which its table in config/ lacks.")
    noun = "arm" if half == "native" else "method"
    lines: list[Line] = []
    for title, members in groups_of(source, half).items():
        chosen = [run for run in runs if run["arm"] in members]
        if chosen:
            present = [names[m] for m in members if any(r["arm"] == m for r in chosen)]
            label = f"{title} ({', '.join(present)}; {_runs_by_seed(chosen, len(present), noun)})"
            lines.append([label, *_times(chosen, path)])
    total = _times(runs, path)
    bottom: Line = ["**Total**", f"**{total[0]}**", "", f"**{total[2]}**"]
    devices = list(dict.fromkeys(run["device"] for run in runs if run["device"]))
    what = "the native benchmark" if half == "native" else "super-resolution"
    caption = paragraph(
        f"Training time of {what}",
        f"Wall-clock of each run on {captions.listed(devices, 'or')}"
        if devices
        else "Wall-clock of each run (device not recorded)",
        "Shortest to longest run and the sum of all; evaluation and timing are not in it",
        _shared(names, runs) if half == "native" else None,
        *run_notes(source.conditions, (Scope.COST if half == "native" else Scope.ASR_COST,)),
    )
    header = ["Training group", "runs", "per-run", "total"]
    spec = [r"p{0.55\linewidth}", "r", "r", "r"]
    return Table(table, [Float(table, caption, spec, [header], [lines, [bottom]], ragged=True)])


def _shared(names: Mapping[str, str], runs: list[Row]) -> str | None:
    """Say that the log-space ablation uses runs of the main tables, where any of it was trained."""
    known = arms()
    trained = [name for name in names if any(run["arm"] == name for run in runs)]
    ablation = [n for n in trained if known[n].diagnostic in ("reference", "control", "log")]
    both = [names[n] for n in ablation if known[n].in_benchmark]
    if not both or len(both) == len(ablation):
        return None
    return (
        f"The log-space ablation shares the runs of {captions.listed(both)} with the main tables, "
        "where the paper trained all of its arms but Scalar again: nine runs of its own"
    )


def _runs_by_seed(runs: list[Row], members: int, noun: str) -> str:
    shown = f"{members} {noun}{'' if members == 1 else 's'}"
    seeds, rest = divmod(len(runs), members)
    if rest:
        return f"{shown}, {len(runs)} runs in all"
    return f"{shown} × {seeds} seed{'' if seeds == 1 else 's'}"


def _times(runs: list[Row], path: Path) -> list[str]:
    seconds = [number(r["wall_seconds"], path, f"wall_seconds of {r['arm']}") for r in runs]
    known = [s for s in seconds if s is not None]
    if not known:
        return [f"{len(runs)}", DASH, DASH]
    shortest, longest = clock(min(known)), clock(max(known))
    span = shortest if shortest == longest else f"{shortest}–{longest}"
    return [f"{len(runs)}", span, clock(sum(known))]


def clock(seconds: float) -> str:
    """Format a duration for a table: 45s, 3m07s, 2h05m, 1,428h18m."""
    return re.sub(r"^\d{4,}", lambda hours: f"{int(hours[0]):,}", duration(seconds))


# --- licences -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asset:
    """A row of config/assets.tsv: code or an architecture that the project uses or follows."""

    asset: str
    title: str
    licence: str
    url: str


def assets() -> dict[str, Asset]:
    """Return the table of code and architectures by asset."""
    return read_table(repository_root() / "config" / "assets.tsv", Asset, "asset")


def licenses(source: Source) -> Table:
    """Licences and terms of the data sets the config uses, and of code (Table 18)."""
    data = [[d.title, d.licence, _link(d.homepage)] for d in used_datasets(source)]
    code = [[a.title, a.licence, _link(a.url)] for a in assets().values()]
    caption = paragraph(
        "Licences and terms of use",
        "Data sets that this configuration reads, and code and architectures that it uses or "
        "follows; none of them is part of this repository",
    )
    header = ["Asset", "Licence or terms of use", "URL"]
    spec = [r"p{0.20\linewidth}", r"p{0.34\linewidth}", r"p{0.40\linewidth}"]
    groups = [
        [[Span("*Data sets*", 3, "l")], *data],
        [[Span("*Code and architectures*", 3, "l")], *code],
    ]
    return Table("licenses", [Float("licenses", caption, spec, [header], groups, ragged=True)])


def _link(address: str) -> str:
    return f"<{address}>" if address.startswith("http") else address or DASH


def used_datasets(source: Source) -> list[Dataset]:
    """Return the rows of datasets.tsv that the config names, in that table's order."""
    native, asr = source.config["native"]["data"], source.config["asr"]
    used = {
        *native["train"],
        *native["evaluate"].values(),
        *asr["train"],
        *asr["evaluate"].values(),
    }
    return [d for name, d in source.datasets.items() if name in used or d.role == "weights"]
