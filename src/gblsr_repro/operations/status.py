"""What of a run is done, running and left.

Snakemake says what is left, by a dry-run; nothing is started, locked or changed, so it can be asked
while jobs run. Times left come from the progress that training writes and the times that finished
jobs took; a stage without either has no time, rather than a guessed one.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from ..config import Config, repository_root, resolve, write_resolved
from ..errors import UserError
from ..files import read_csv, read_json
from ..progress import columns, duration

QUIET_SECONDS = 180.0
TRAINING = {"train": "native", "asr_train_run": "asr"}
# Title, and how the names of its rules begin.
STAGES = (
    ("native: image arrays", ("standardize",)),
    ("native: training", ("train",)),
    ("native: evaluation", ("evaluate",)),
    ("native: bandwidth fields", ("fields",)),
    ("native: timing", ("latency",)),
    ("asr: bicubic", ("asr_bicubic",)),
    ("asr: training", ("asr_train_run",)),
    ("asr: evaluation", ("asr_evaluate",)),
    ("asr: timing", ("asr_latency",)),
    ("tables", ("tables_of_",)),
    ("figures", ("figures_of_",)),
    ("claims and report", ("claims", "report")),
)


@dataclass(frozen=True)
class Job:
    """A job as a dry-run tells it; `benchmark` is where its time is kept."""

    rule: str
    wildcards: dict[str, str]
    outputs: tuple[Path, ...]
    benchmark: Path | None
    done: bool = False

    @property
    def run(self) -> str:
        """The name of a training run, as its progress has it."""
        names = self.wildcards
        return f"{names.get('arm') or names.get('method')} seed {names.get('seed')}"

    def record(self) -> dict[str, Any]:
        """Return the record of a training run; empty when it is not there."""
        found = [path for path in self.outputs if path.name == "run.json" and path.is_file()]
        return read_json(found[0]) if found else {}


@dataclass(frozen=True)
class Training:
    """An unfinished training run.

    `step` of `steps` are done (None: it has not begun), at `rate` steps per second (None: not known
    yet); `running` says whether it told of itself in the last `QUIET_SECONDS`. One that does not
    run goes on from `step`.
    """

    name: str
    step: int | None
    steps: int
    rate: float | None
    running: bool

    def seconds_left(self, rate: float | None) -> float | None:
        """Return the time left at its own rate, else at `rate`; None where neither is known."""
        known = self.rate or rate
        return (self.steps - (self.step or 0)) / known if known else None


@dataclass(frozen=True)
class Stage:
    """A kind of job: how many are done of how many, and the seconds that the others need.

    `seconds_left` is None where nothing tells how long a job takes.
    """

    title: str
    done: int
    total: int
    seconds_left: float | None = None
    unfinished: tuple[Training, ...] = ()

    @property
    def running(self) -> int:
        """How many of its training runs told of themselves lately."""
        return sum(run.running for run in self.unfinished)


def told(config: Config) -> str:
    """Return what is done and left of a config as text for a terminal."""
    return text(survey(config))


def survey(
    config: Config, jobs: Sequence[Job] | None = None, now: float | None = None
) -> list[Stage]:
    """Count what is done and left of a config; `now` is the time of day in seconds.

    `jobs` are those of `planned_jobs` unless given. Raises `UserError` where Snakemake refuses.
    """
    every = planned_jobs(config) if jobs is None else jobs
    now = time.time() if now is None else now
    root = resolve(config, config["results"])
    stages = []
    for title, rules in STAGES:
        chosen = [job for job in every if job.rule.startswith(rules)]
        if benchmark := TRAINING.get(rules[0]):
            steps = config[benchmark]["training"]["steps"]
            told = _progress(root / benchmark / "state", steps, now)
            stages.append(_training(title, chosen, steps, told))
        else:
            stages.append(_stage(title, chosen))
    return stages


def _stage(title: str, jobs: Sequence[Job]) -> Stage:
    """Count the jobs; those that are left take the mean time of those that are done."""
    done = [job for job in jobs if job.done]
    seconds = [
        float(row["s"])
        for job in done
        if job.benchmark and job.benchmark.is_file()
        for row in read_csv(job.benchmark, "\t")
    ]
    left = len(jobs) - len(done)
    known = left * fmean(seconds) if left and seconds else None
    return Stage(title, len(done), len(jobs), known)


def _training(title: str, jobs: Sequence[Job], steps: int, progress: dict[str, Training]) -> Stage:
    """Count the runs; those of one arm or method are equally fast, and others about as fast."""
    unfinished = [
        progress.get(job.run, Training(job.run, None, steps, None, running=False))
        for job in jobs
        if not job.done
    ]
    rates: dict[str, list[float]] = {}
    told = [(job.run, job.record().get("steps_per_second")) for job in jobs if job.done]
    for name, rate in [*told, *((run.name, run.rate) for run in unfinished)]:
        if rate:
            rates.setdefault(name.split()[0], []).append(rate)
    every = [rate for known in rates.values() for rate in known]
    seconds = [
        run.seconds_left(fmean(rates.get(run.name.split()[0], every) or [0.0]))
        for run in unfinished
    ]
    known = [second for second in seconds if second is not None]
    whole = bool(known) and len(known) == len(seconds)
    done = len(jobs) - len(unfinished)
    left = sum(known) if whole else None
    return Stage(title, done, len(jobs), left, tuple(unfinished))


def _progress(states: Path, steps: int, now: float) -> dict[str, Training]:
    """Return how far every run of so many steps is that has told, by its name."""
    found = {}
    for path in states.glob("*/*.json"):
        told = read_json(path)
        running = told["running"] and abs(now - path.stat().st_mtime) <= QUIET_SECONDS
        step = told["step"] if running else told["saved"]
        if told["steps"] == steps:
            rate = told["steps_per_second"]
            found[told["run"]] = Training(told["run"], step, steps, rate, running)
    return found


# --- what Snakemake says ---------------------------------------------------------------------

BLOCK = re.compile(r"^(?:local)?rule (\w+):\n((?: +.*\n)*)", re.MULTILINE)


def planned_jobs(config: Config) -> list[Job]:
    """Return all jobs of a config, and of each whether it is done, from two dry-runs.

    Raises `UserError` with what Snakemake says where it refuses.
    """
    with TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        file = Path(folder) / "config.yaml"
        write_resolved(config, file)
        every, left = pool.map(lambda words: _dry_run(file, *words), (["--forceall"], []))
    waiting = {(job.rule, *sorted(job.wildcards.items())) for job in _jobs(left)}
    return [
        Job(**vars(job) | {"done": (job.rule, *sorted(job.wildcards.items())) not in waiting})
        for job in _jobs(every)
    ]


def _dry_run(file: Path, *words: str) -> str:
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--nolock", "--cores", "1", *words]
    done = subprocess.run(
        [*command, "--replace-workflow-config", "--configfile", file],
        cwd=repository_root(),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise UserError(f"Snakemake cannot tell what is left: {said[-1].strip()}")
    return done.stdout


def _jobs(text: str) -> Iterator[Job]:
    root = repository_root()
    for rule, body in BLOCK.findall(text):
        facts = dict(line.strip().partition(": ")[::2] for line in body.splitlines())
        listed = {name: facts.get(name, "").split(", ") for name in ("output", "wildcards")}
        yield Job(
            rule,
            dict(pair.split("=", 1) for pair in listed["wildcards"] if pair),
            tuple(root / path for path in listed["output"] if path),
            root / facts["benchmark"] if "benchmark" in facts else None,
        )


# --- text ------------------------------------------------------------------------------------


def text(stages: Sequence[Stage]) -> str:
    """Return the survey as a table for a terminal, with a line for every started run."""
    rows = [["stage", "done", "running", "left", "time left"]]
    for stage in stages:
        left = stage.total - stage.done
        counts = [f"{stage.done}/{stage.total}", str(stage.running or "-"), str(left or "-")]
        rows.append([stage.title, *counts, _time(stage.seconds_left) if left else ""])
    lines = columns(rows, right=True)
    started = [run for s in stages for run in s.unfinished if run.running or run.step]
    if started:
        lines += ["", "started runs"]
        lines += [_started(run) for run in started]
    return "\n".join([*lines, "", *_total(stages)])


def _time(seconds: float | None) -> str:
    return "unknown" if seconds is None else duration(seconds)


def _started(run: Training) -> str:
    step = "step unknown" if run.step is None else f"step {run.step:,} of {run.steps:,}"
    rate = f", {run.rate:.3g} steps/s, {_time(run.seconds_left(None))} left" if run.rate else ""
    state = "running" if run.running else "stopped; the same command goes on from there"
    return f"  {run.name}: {step}{rate} ({state})"


def _total(stages: Sequence[Stage]) -> list[str]:
    left = [stage for stage in stages if stage.done < stage.total]
    known = [stage for stage in left if stage.seconds_left is not None]
    if not left:
        return ["Everything is done."]
    if not known:
        return ["The time left is not known yet: no job of these stages has finished."]
    seconds = sum(stage.seconds_left or 0 for stage in known)
    running = sum(stage.running for stage in stages)
    line = f"Left: {duration(seconds)} of jobs"
    if running > 1:
        line += f"; with {running} at a time {duration(seconds / running)}"
    unknown = [stage.title for stage in left if stage.seconds_left is None]
    more = [f"Not counted, for want of a finished job: {', '.join(unknown)}."] if unknown else []
    return [f"{line}.", *more]
