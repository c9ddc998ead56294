"""Estimate the costs of a configuration: remaining runs, GPU-hours and days.

Times come from runs recorded on a device of the same name under the same settings, else from the
paper's wall-clock times (config/paper/compute.csv), which hold for its device and settings alone.
A time that neither source has is shown as a dash.
"""

from __future__ import annotations

import heapq
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
    find_repository_root,
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
GPUS_PER_NODE = 8  # of a usual node; shown for a machine with fewer than two
FOOTNOTE = (
    "GPU-hours are those of training, one run after the other, without evaluation and timing,\n"
    "which need an order of magnitude less (paper, appendix on compute resources)."
)


@dataclass(frozen=True)
class TrainingCost:
    """The runs of one arm or method: `done` of `runs` are finished; one run takes `seconds`.

    `basis` is the source of the time; without a source `seconds` is None and `basis` a dash.
    """

    benchmark: str
    name: str
    runs: int
    done: int
    steps: int
    seconds: float | None
    basis: str

    @property
    def hours(self) -> float | None:
        """Hours of the remaining runs, one after the other; None if the time is unknown."""
        return None if self.seconds is None else (self.runs - self.done) * self.seconds / 3600


@dataclass(frozen=True)
class Plan:
    """The runs to train on `device`, with their time, and the imported rows."""

    device: str
    costs: list[TrainingCost]
    imported: list[str]


def describe_plan(config: Config) -> str:
    """Estimate the costs of a configuration, and format them as `format_plan` does."""
    return format_plan(estimate_plan(config))


def estimate_plan(config: Config) -> Plan:
    """Estimate the costs of a configuration without running anything or using the network."""
    cuda = config["device"] != "cpu" and torch.cuda.is_available()
    name = str(describe_device(torch.device("cuda" if cuda else "cpu"))["name"])
    return Plan(name, list(_estimate_runs(config, name)), [*config["released"]])


def format_plan(plan: Plan) -> str:
    """Format a plan as a table for the terminal."""
    lines = [f"This machine: {plan.device}", ""]
    for benchmark, title in (("native", "Native benchmark"), ("asr", "Super-resolution")):
        costs = [e for e in plan.costs if e.benchmark == benchmark]
        lines += [title, *(f"  {line}" for line in format_columns(_format_costs(costs))), ""]
    gpus = len(devices.list_visible_gpus())
    if gpus < 2:
        gpus = GPUS_PER_NODE
    one, many = (estimate_days(plan.costs, count) for count in (1, gpus))
    lines.append(
        f"Days of training: {one:,.1f} on one GPU, {many:,.1f} on {gpus}, with one run per GPU"
    )
    if plan.imported:
        lines.append(f"Imported and not trained: {', '.join(plan.imported)}")
    return "\n".join([*lines, "", FOOTNOTE])


def estimate_days(costs: list[TrainingCost], gpus: int) -> float:
    """Estimate the days that the remaining runs take on several GPUs, one run per GPU.

    The GPU that is free first takes the longest remaining run. Runs of unknown time are left out.
    """
    runs = [e.seconds for e in costs if e.seconds is not None for _ in range(e.runs - e.done)]
    free = [0.0] * gpus
    for seconds in sorted(runs, reverse=True):
        heapq.heapreplace(free, free[0] + seconds)
    return max(free) / 86400


def _format_costs(costs: list[TrainingCost]) -> list[list[str]]:
    """Format the cells of a benchmark's table: headings, a row per arm or method, the total."""
    rows = [["training", "runs left", "steps", "GPU-hours", "from"]]
    for e in costs:
        left = f"{e.runs - e.done} of {e.runs}"
        rows.append([e.name, left, f"{e.steps:,}", _format_hours(e.hours), e.basis])
    hours = [e.hours for e in costs if e.hours is not None]
    unknown = len(costs) - len(hours)
    note = f"without {unknown} of unknown cost" if unknown else ""
    runs = sum(e.runs - e.done for e in costs)
    return [*rows, ["all", f"{runs}", "", _format_hours(sum(hours) if hours else None), note]]


def _format_hours(hours: float | None) -> str:
    """Format hours with two decimals below 10, else none; a dash where unknown."""
    if hours is None:
        return DASH
    return f"{hours:,.2f}" if hours < 10 else f"{hours:,.0f}"


# --- time ---------------------------------------------------------------------------------------


def _estimate_runs(config: Config, device: str) -> Iterator[TrainingCost]:
    """Estimate the runs of every arm, then of every method that the config selects."""
    results = Path(config["results"])
    recorded = list(_read_recorded_runs(results))
    rows: list[Arm | Method] = [*list_arms(config).values(), *list_methods(config).values()]
    for row in (row for row in rows if not is_imported(row, config)):
        (benchmark, _, name), identity = locate_row(row), identify_run(row, config)
        steps = config[benchmark]["training"]["steps"]
        speeds = [
            run["steps_per_second"]
            for _, run in recorded
            if run["device"]["name"] == device
            and _select_step_settings(run["identity"]) == _select_step_settings(identity)
        ]
        if speeds:
            seconds: float | None = steps / fmean(speeds)
            basis = f"{format_count(len(speeds), 'run')} recorded on {device}"
        else:
            seconds, basis = _read_published_time(row, identity, steps)
        folders = {results / benchmark / "runs" / name / f"seed{s}" for s in config["seeds"]}
        done = sum(
            run["identity"] == identity and (folder / "weights.safetensors").is_file()
            for folder, run in recorded
            if folder in folders
        )
        yield TrainingCost(benchmark, name, len(folders), done, steps, seconds, basis)


def _select_step_settings(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Select the settings that a step's time depends on: not the steps, the images or versions."""
    return {
        name: value
        for name, value in identity.items()
        if not name.endswith(".steps") and name not in ("asr.train", VERSION, MODELS)
        if not name.startswith("native.data.") or name == "native.data.image_size"
    }


def _read_recorded_runs(results: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the folder and the metadata of every finished run in this checkout.

    Records without identity, speed or device are skipped.
    """
    # Presets keep their results in subfolders of `results`.
    folders = {
        results,
        find_repository_root() / "results",
        *(find_repository_root() / "results").glob("*/"),
    }
    for path in sorted(p for f in folders for p in f.glob("*/runs/*/seed*/run.json")):
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
