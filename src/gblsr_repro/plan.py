"""Estimate the costs of a configuration: remaining runs, hours and days.

Times come from runs of its results that were recorded on a device of the same name under the same
settings, else from the paper's wall-clock times (config/paper/compute.csv), which hold for its
device and settings alone. A time that neither source has is shown as a dash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from . import devices
from .config import (
    Arm,
    Config,
    Method,
    is_imported,
    list_arms,
    list_methods,
    load_protocol,
    locate_row,
    read_paper_device,
    read_published_times,
)
from .dependencies import MODELS, VERSION, identify_run, update_identity
from .metadata import read_metadata
from .progress import format_columns, format_count
from .runtime import describe_device

DASH = "—"
FOOTNOTE = (
    "Hours are those of training, one run after the other, without evaluation and timing,\n"
    "which need an order of magnitude less (paper, appendix on compute resources)."
)


@dataclass(frozen=True)
class TrainingCost:
    """The runs of one arm or method: `left` of `runs` are to be trained; one takes `seconds`.

    `basis` is the source of the time; without a source `seconds` is None and `basis` a dash.
    """

    benchmark: str
    name: str
    runs: int
    left: int
    steps: int
    seconds: float | None
    basis: str

    @property
    def hours(self) -> float | None:
        """Hours of the remaining runs, one after the other; None if the time is unknown."""
        return None if self.seconds is None else self.left * self.seconds / 3600


def describe_plan(config: Config) -> str:
    """Estimate the costs of a configuration without running anything, as a table."""
    cuda = config["device"] != "cpu" and torch.cuda.is_available()
    device = str(describe_device(torch.device("cuda" if cuda else "cpu"))["name"])
    costs = list(estimate_runs(config, device))
    lines = [f"This machine: {device}", ""]
    for benchmark, title in (("native", "Native benchmark"), ("asr", "Super-resolution")):
        cells = _format_costs([cost for cost in costs if cost.benchmark == benchmark])
        lines += [title, *(f"  {line}" for line in format_columns(cells)), ""]
    lines.append(FOOTNOTE)
    if any(cost.hours is not None for cost in costs):
        gpus = max(len(devices.list_visible_gpus()), 1) if cuda else 1
        days = estimate_days(costs, gpus)
        lines.append(f"Days: at least {days:,.1f} with {format_count(gpus, 'run')} at a time")
    if config["released"]:
        lines.append(f"Imported and not trained: {', '.join(config['released'])}")
    return "\n".join(lines)


def estimate_days(costs: list[TrainingCost], gpus: int) -> float:
    """Estimate the days that the remaining runs take at least on several GPUs, one run per GPU.

    Runs of unknown time are left out.
    """
    runs = [cost.seconds for cost in costs if cost.seconds is not None for _ in range(cost.left)]
    return max([sum(runs) / gpus, *runs]) / 86400


def _format_costs(costs: list[TrainingCost]) -> list[list[str]]:
    """Format the cells of a benchmark's table: headings, a row per arm or method, the total."""
    rows = [["training", "runs left", "steps", "hours", "from"]]
    for cost in costs:
        left = f"{cost.left} of {cost.runs}"
        rows.append([cost.name, left, f"{cost.steps:,}", _format_hours(cost.hours), cost.basis])
    hours = [cost.hours for cost in costs if cost.hours is not None]
    unknown = sum(cost.left for cost in costs if cost.hours is None)
    note = f"without {format_count(unknown, 'run')} of unknown cost" if unknown else ""
    runs = sum(cost.left for cost in costs)
    return [*rows, ["all", f"{runs}", "", _format_hours(sum(hours) if hours else None), note]]


def _format_hours(hours: float | None) -> str:
    """Format hours with two decimals below 10, else none; a dash where unknown."""
    if hours is None:
        return DASH
    return f"{hours:,.2f}" if hours < 10 else f"{hours:,.0f}"


# --- time ---------------------------------------------------------------------------------------


def estimate_runs(config: Config, device: str) -> Iterator[TrainingCost]:
    """Estimate the runs of every arm, then of every method that a config trains on a device."""
    results = Path(config["results"])
    recorded = dict(_read_recorded_runs(results))
    rows: list[Arm | Method] = [*list_arms(config).values(), *list_methods(config).values()]
    for row in (row for row in rows if not is_imported(row, config)):
        (benchmark, _, name), identity = locate_row(row), identify_run(row, config)
        steps = config[benchmark]["training"]["steps"]
        speeds = [
            run["steps_per_second"]
            for run in recorded.values()
            if run["device"]["name"] == device
            and _select_step_settings(run["identity"]) == _select_step_settings(identity)
        ]
        if speeds:
            seconds: float | None = steps / fmean(speeds)
            basis = f"{format_count(len(speeds), 'run')} recorded on {device}"
        else:
            seconds, basis = _read_published_time(row, identity, steps)
        folders = [results / benchmark / "runs" / name / f"seed{s}" for s in config["seeds"]]
        done = [f for f in folders if recorded.get(f, {}).get("identity") == identity]
        left = len(folders) - len(done)
        yield TrainingCost(benchmark, name, len(folders), left, steps, seconds, basis)


def _select_step_settings(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Select the settings that a step's time depends on: not the steps, the images or versions."""
    return {
        name: value
        for name, value in identity.items()
        if not name.endswith(".steps") and name not in ("asr.train", VERSION, MODELS)
        if not name.startswith("native.data.") or name == "native.data.image_size"
    }


def _read_recorded_runs(results: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the folder and the metadata of every finished run, if they have what is needed here."""
    for path in sorted(results.glob("*/runs/*/seed*/run.json")):
        match metadata := read_metadata(path):
            case {"steps_per_second": speed, "device": {"name": _}, "identity": dict()} if speed:
                yield path.parent, metadata | {"identity": update_identity(metadata["identity"])}


def _read_published_time(
    row: Arm | Method, identity: Mapping[str, Any], steps: int
) -> tuple[float | None, str]:
    """Return the paper's seconds of a run and their source; None where its settings differ."""
    paper, (benchmark, _, name) = load_protocol(), locate_row(row)
    if _select_step_settings(identity) == _select_step_settings(identify_run(row, paper)):
        for group in read_published_times(benchmark):
            if name in group.subjects:
                share = steps / paper[benchmark]["training"]["steps"]
                seconds = group.total_seconds / group.runs
                return seconds * share, f"the paper, on {read_paper_device()}"
    return None, DASH
