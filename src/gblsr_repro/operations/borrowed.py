"""What a record needs a GPU for, on a machine that is lent for some minutes.

Every task is a job of the workflow, run by the workflow's own command into the workflow's own
files, so that tables, figures, claims and the record are made from them later, elsewhere. Nothing
but torch with numpy, and Pillow, has to be there. What is finished is not done again, and a
training goes on from its state, however it was stopped.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from ..config import (
    READING,
    Arm,
    Config,
    Method,
    arms,
    repository_root,
    resolve,
    run_identity,
    selected_arms,
    selected_methods,
    subject,
)
from ..errors import StopRequested, UserError
from ..evaluation import GRAPH, OURS
from ..evaluation.perceptual import find_backbone
from ..files import read_json, write_json
from ..progress import counted, duration, log

SETTINGS = "record-gpu.json"  # what the tasks run with, below the results
SUPERRES_SHARE = 1 / 3  # of the minutes: then training comes first
STOP_SECONDS = 20.0  # that a stopped task gets to save its state
VERBS = {"latency": "time"}  # of jobs, where their names are none
STOPPED = "stopped before the end"
SPARE = 0.02  # of the time, before its end, to stop the last task in
PACKAGE = Path(__file__).resolve().parents[2]

TELL_DEVICE = """
import sys, torch
from gblsr_repro import devices, runtime
if sys.argv[1] == "cuda":
    devices.check_usable()
print(runtime.device_record(torch.device(sys.argv[1]))["name"])
"""


@dataclass(frozen=True)
class Task:
    """A job: its command, where its words go, the files it needs, and whether it is done.

    It runs until `share` of the time has passed.
    """

    title: str
    command: tuple[str, ...]
    log: Path
    needs: tuple[Path, ...]
    done: Callable[[], bool]
    share: float = 1.0


def run(config: Config, minutes: float, device: str) -> None:
    """Run the tasks one by one for so many minutes on "cuda" or "cpu", and tell what was done.

    Raises `UserError` where that device is not there and where tasks failed, and `StopRequested`
    on SIGTERM.
    """
    began = time.monotonic()
    name = device_name(device)
    backbone, reason = find_backbone(config | {"require_lpips": False})
    if backbone is None:
        log.warning("LPIPS is left out: %s", reason)
    results = resolve(config, config["results"])
    settings = config | {"device": device, "require_lpips": backbone is not None}
    write_json(results / SETTINGS, settings)
    planned = tasks(settings, results, name, lpips=backbone is not None)
    log.info("%s on %s, within %s", counted(len(planned), "task"), name, duration(60 * minutes))
    told: dict[str, str] = {}
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        for task in planned:
            earlier = told.get(task.title)
            told[task.title] = STOPPED  # what stands where a signal ends it
            told[task.title] = _outcome(task, began, 60 * minutes, earlier)
    finally:
        signal.signal(signal.SIGTERM, before)
        print(summary({task.title: told.get(task.title, "not begun") for task in planned}))
    failed = sum(outcome.startswith("failed") for outcome in told.values())
    if failed:
        raise UserError(f"{counted(failed, 'task')} failed, as listed; mend that and run again.")


def device_name(device: str) -> str:
    """Return the device's name, asked for in a process of its own.

    A GPU that this process had touched would count as shared. Raises `UserError`.
    """
    command = [sys.executable, "-c", TELL_DEVICE, device]
    told = subprocess.run(command, env=_environment(), capture_output=True, text=True)
    if told.returncode:
        reason = (told.stderr.strip().splitlines() or ["it did not say why"])[-1]
        raise UserError(
            f"torch cannot use the device {device!r} here ({reason}); run this on a machine with a "
            "CUDA GPU, or with --device cpu."
        )
    return told.stdout.strip()


def summary(told: Mapping[str, str]) -> str:
    """Return what came of every task, those with the same outcome on one line."""
    lines: dict[str, list[str]] = {}
    for title, outcome in sorted(told.items(), key=lambda pair: not pair[1].startswith("done")):
        lines.setdefault(outcome, []).append(title)
    return "\n".join(f"{outcome}: {', '.join(titles)}" for outcome, titles in lines.items())


# --- the tasks, in order of worth ---------------------------------------------------------------


def tasks(config: Config, results: Path, device: str, lpips: bool) -> list[Task]:
    """Return all tasks, the one of most worth first.

    Times of the native arms and of the super-resolution methods; every arm trained and evaluated
    with one seed, then with the next; the readings of the baselines; times with the other seeds,
    which draw other weights and otherwise repeat the first. A super-resolution method that is not
    timed within its share of the time comes again at the end.
    """
    jobs = _Jobs(config, results, device, lpips)
    benchmark = [arm for arm in selected_arms(config).values() if arm.in_benchmark]
    readings = [arm for arm in arms().values() if arm.group == READING]
    methods = selected_methods(config).values()
    first, *others = config["seeds"]
    return [
        *(jobs.timed(arm, first) for arm in benchmark),
        *(jobs.timed(method, first, SUPERRES_SHARE) for method in methods),
        jobs.regions(),
        *(job for s in config["seeds"] for arm in benchmark for job in jobs.trained(arm, s)),
        *(jobs.timed(arm, seed) for seed in others for arm in benchmark),
        *(jobs.timed(arm, first) for arm in readings),
        *(job for s in config["seeds"] for arm in readings for job in jobs.trained(arm, s)),
        *(jobs.timed(arm, seed) for seed in others for arm in readings),
        *(jobs.timed(method, seed) for seed in (first, *others) for method in methods),
    ]


@dataclass(frozen=True)
class _Jobs:
    """The workflow's jobs, with the files that its rules name (workflow/rules)."""

    config: Config
    results: Path
    device: str
    lpips: bool

    def _task(
        self,
        job: str,
        words: Sequence[Any],
        needs: Sequence[Path],
        done: Callable[[], bool],
        row: Arm | Method | None = None,
        seed: int = 0,
        share: float = 1.0,
    ) -> Task:
        title = verb = job.split()[1]
        told = job.removeprefix("native ").replace(" ", "_")
        if row is not None:
            _, kind, name = subject(row)
            words = (f"--{kind}", name, "--seed", seed, *words)
            title = f"{VERBS.get(verb, verb)} {name}/seed{seed}"
            told = f"{told}/{name}_seed{seed}"
        start = (sys.executable, "-m", "gblsr_repro", *job.split(), "--config")
        command = tuple(map(str, (*start, self.results / SETTINGS, *words)))
        told_in = self.results / "logs" / f"{told}.log"
        return Task(title, command, told_in, tuple(needs), done, share)

    def _arrays(self, *names: str) -> list[Path]:
        folder = self.results / "native" / "arrays"
        return [folder / f"{name}.{kind}" for name in names for kind in ("npy", "csv", "json")]

    @property
    def _sets(self) -> tuple[str, ...]:
        return (*self.config["native"]["data"]["evaluate"],)

    def regions(self) -> Task:
        needs = self._arrays("validation")
        output = needs[0].with_name("regions.json")
        words = ("--array", needs[0], "--output", output)
        return self._task("native regions", words, needs, output.is_file)

    def trained(self, arm: Arm, seed: int) -> Iterator[Task]:
        native, run = self.results / "native", f"{arm.arm}/seed{seed}"
        weights, needs = native / "runs" / run, self._arrays("train")
        words = ("--array", needs[0], "--output", weights, "--state", native / f"state/{run}.pt")
        done = partial(self._is_trained, arm, weights)
        yield self._task("native train", words, needs, done, arm, seed)
        metrics, exemplars = native / "metrics" / run, native / "exemplars" / run
        needs = self._arrays(*self._sets, "validation")
        told = ("--run", weights, "--arrays", needs[0].parent, "--output", metrics,
                "--exemplars", exemplars)  # fmt: skip
        needs += [needs[0].with_name("regions.json"), weights / "run.json"]
        done = partial(self._is_evaluated, weights, metrics, exemplars)
        yield self._task("native evaluate", told, needs, done, arm, seed)

    def timed(self, row: Arm | Method, seed: int, share: float = 1.0) -> Task:
        benchmark, _, name = subject(row)
        output = self.results / benchmark / "latency" / name / f"seed{seed}.csv"
        needs = self._arrays(*self._sets) if isinstance(row, Arm) else []
        words = [*(("--arrays", needs[0].parent) if needs else ()), "--output", output]
        done = partial(self._is_timed, output)
        return self._task(f"{benchmark} latency", words, needs, done, row, seed, share)

    def _is_trained(self, arm: Arm, run: Path) -> bool:
        record = _record(run / "run.json")
        whole = (run / "weights.safetensors").is_file()
        return whole and record.get("identity") == run_identity(arm, self.config)

    def _is_evaluated(self, run: Path, metrics: Path, exemplars: Path) -> bool:
        weights = _record(run / "run.json").get("weights_sha256")
        drawn = all((exemplars / f"{name}.png").is_file() for name in self._sets)
        return drawn and all(
            record.get("weights_sha256") == weights
            and (metrics / f"{name}.csv").is_file()
            and (not self.lpips or record["lpips"]["measured"])
            for name in (*self._sets, "validation")
            for record in [_record(metrics / f"{name}.json")]
        )

    def _is_timed(self, rows: Path) -> bool:
        """Return whether times were taken by the config's protocol on this device.

        Those of a GPU do where this is none.
        """
        record, wanted = _record(rows.with_suffix(".json")), self.config["latency"]
        device, clocks = record.get("device", {}), {*wanted["clocks"]}
        cuda = self.config["device"] == "cuda"
        if cuda and OURS in clocks:
            clocks.add(GRAPH)
        return (
            rows.is_file()
            and (device.get("name") == self.device or (device.get("type") == "cuda" and not cuda))
            and clocks <= {*record.get("clocks", ())}
            and all(record.get(key) == wanted[key] for key in ("warmup", "passes"))
        )


def _record(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


# --- running one --------------------------------------------------------------------------------


def _outcome(task: Task, began: float, seconds: float, before: str | None) -> str:
    """Run a task, unless it is done or cannot be, and return what came of it in a few words."""
    if task.done():
        return before if before == "done" else "done before"
    spent = time.monotonic() - began
    left = (task.share - SPARE) * seconds - spent
    if left <= 0:
        return before or "not begun"
    missing = next((path for path in task.needs if not path.is_file()), None)
    if missing:
        return f"not done, since {missing} is not there"
    log.info("%s (%s left in all)", task.title, duration(seconds - spent))
    task.log.parent.mkdir(parents=True, exist_ok=True)
    with task.log.open("ab") as words:
        child = subprocess.Popen(
            task.command, stdout=words, stderr=subprocess.STDOUT, env=_environment(),
            cwd=repository_root(), start_new_session=True,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
        )  # fmt: skip
        try:
            status = child.wait(left)
        except subprocess.TimeoutExpired:
            return STOPPED
        finally:
            _end(child)
    if status == 0:
        return "done"
    said = task.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f"failed ({said[-1] if said else status}; see {task.log})"


def _environment() -> dict[str, str]:
    """Return the environment in which a process finds the package, installed or not."""
    path = [str(PACKAGE), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, path))}


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a process that still runs: a training saves its state first."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _end_with_parent() -> None:
    """Have Linux send this process SIGTERM when the one that starts it is killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def _stop(number: int, frame: FrameType | None) -> None:
    raise StopRequested("Stopped; the same command goes on from there.")
