"""What of a run is done, running and left, from the files alone.

Nothing is started, locked or changed, so it can be asked while jobs run. Times left come from
the rates that training logged and the times that finished jobs took; a stage without either has
no time, rather than a guessed one.
"""

from __future__ import annotations

import csv
import json
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from ..config import Config, resolve, selected_arms, selected_items, selected_methods
from ..files import read_json
from ..progress import duration

QUIET_SECONDS = 180.0
PROGRESS = re.compile(r": (\d+)/(\d+), ([\d.]+) steps/s")
LONGEST_LINE = 1000  # of the two lines that a saved state begins with
STARTED = re.compile(r": (\d+) steps(?:, going on from (\d+))?$")


@dataclass(frozen=True)
class Training:
    """An unfinished training run.

    `step` of `steps` are done (None: nothing tells), at `rate` steps per second (None: not known
    yet); `running` says whether its log was written to in the last `QUIET_SECONDS`.
    """

    name: str
    seed: int
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

    `seconds_left` is None where nothing tells how long a job takes; `gpu` says whether its jobs
    run on one, None where no finished run has told yet.
    """

    title: str
    done: int
    total: int
    seconds_left: float | None = None
    gpu: bool | None = False
    unfinished: tuple[Training, ...] = ()

    @property
    def running(self) -> int:
        """How many of its training runs wrote to their logs lately."""
        return sum(run.running for run in self.unfinished)


def survey(config: Config, now: float | None = None) -> list[Stage]:
    """Look through the results folder of a config; `now` is the time of day in seconds."""
    now = time.time() if now is None else now
    root = resolve(config, config["results"])
    return [*_native(root, config, now), *_asr(root, config, now), *_products(root, config)]


def _native(root: Path, config: Config, now: float) -> list[Stage]:
    folder = root / "native"
    data = config["native"]["data"]["evaluate"]
    arms = selected_arms(config)
    seeds = config["seeds"]
    columns = [*data, "validation"]
    arrays = [folder / "arrays" / f"{name}.npy" for name in ("train", *columns)]
    benchmark = [name for name, arm in arms.items() if arm.in_benchmark]
    diagnosed = [name for name, arm in arms.items() if arm.diagnostic in ("log", "linear")]
    steps = config["native"]["training"]["steps"]
    gpu = _on_gpu(folder, config)
    times = root / "benchmarks"
    return [
        _stage("native: image arrays", [[path] for path in arrays], times / "standardize"),
        _training("native: training", root, "native", "train", list(arms), seeds, steps, gpu, now),
        _stage(
            "native: evaluation",
            [
                [folder / "metrics" / arm / f"seed{seed}" / f"{c}.csv" for c in columns]
                for arm in arms
                for seed in seeds
            ],
            times / "evaluate",
            gpu,
        ),
        _stage(
            "native: bandwidth fields",
            [[folder / "fields" / arm / f"seed{s}.npz"] for arm in diagnosed for s in seeds],
            times / "fields",
            gpu,
        ),
        _stage(
            "native: timing",
            [[folder / "latency" / arm / f"seed{seed}.csv"] for arm in benchmark for seed in seeds],
            times / "latency",
            gpu,
        ),
    ]


def _asr(root: Path, config: Config, now: float) -> list[Stage]:
    folder = root / "asr"
    section = config["asr"]
    methods = list(selected_methods(config))
    seeds = config["seeds"]
    cells = [f"{c}_x{scale:g}.csv" for c in section["evaluate"] for scale in section["scales"]]
    steps = section["training"]["steps"]
    gpu = _on_gpu(folder, config)
    times = root / "benchmarks"
    return [
        _stage("asr: bicubic", [[folder / "metrics" / "bicubic" / c] for c in cells],
               times / "asr_bicubic"),
        _training("asr: training", root, "asr", "asr_train", methods, seeds, steps, gpu, now),
        _stage(
            "asr: evaluation",
            [
                [folder / "metrics" / method / f"seed{seed}" / cell for cell in cells]
                for method in methods
                for seed in seeds
            ],
            times / "asr_evaluate",
            gpu,
        ),
        _stage(
            "asr: timing",
            [[folder / "latency" / m / f"seed{seed}.csv"] for m in methods for seed in seeds],
            times / "asr_latency",
            gpu,
        ),
    ]  # fmt: skip


def _products(root: Path, config: Config) -> list[Stage]:
    known = selected_items(config)
    tables = [[root / "tables" / f"{n}.tex"] for n, i in known.items() if i.kind == "table"]
    figures = [[root / "figures" / f"{n}.pdf"] for n, i in known.items() if i.kind == "figure"]
    pages = [[root / "claims.csv"], [root / "report.html"]]
    times = root / "benchmarks"
    return [
        _stage("tables", tables, times / "table"),
        _stage("figures", figures, times / "figure"),
        _stage("claims and report", pages, times / "none"),
    ]


def _stage(
    title: str, jobs: Sequence[Sequence[Path]], times: Path, gpu: bool | None = False
) -> Stage:
    """Count the jobs whose files are all there; the others take the mean time of finished ones."""
    done = sum(all(path.is_file() for path in paths) for paths in jobs)
    left = len(jobs) - done
    seconds = _mean_seconds(times) if left else None
    return Stage(title, done, len(jobs), None if seconds is None else left * seconds, gpu)


def _mean_seconds(folder: Path) -> float | None:
    """Return the mean run time in the benchmark files of a rule, None without any."""
    seconds = []
    for path in folder.glob("**/*.tsv"):
        with path.open(newline="", encoding="utf-8") as stream:
            seconds += [float(row["s"]) for row in csv.DictReader(stream, delimiter="\t")]
    return fmean(seconds) if seconds else None


def _training(
    title: str,
    root: Path,
    half: str,
    rule: str,
    names: Iterable[str],
    seeds: Sequence[int],
    steps: int,
    gpu: bool | None,
    now: float,
) -> Stage:
    rates: dict[str, list[float]] = {}
    unfinished = []
    done = 0
    for name in names:
        for seed in seeds:
            record = root / half / "runs" / name / f"seed{seed}" / "run.json"
            if record.is_file():
                done += 1
                rate = read_json(record).get("steps_per_second")
                rates.setdefault(name, []).extend([rate] if rate else [])
                continue
            state = root / half / "state" / name / f"seed{seed}.pt"
            log = root / "logs" / rule / f"{name}_seed{seed}.log"
            unfinished.append(_unfinished(name, seed, steps, state, log, now))
    for run in unfinished:
        rates.setdefault(run.name, []).extend([run.rate] if run.rate else [])
    every = [rate for known in rates.values() for rate in known]
    typical = {name: fmean(known) for name, known in rates.items() if known}
    fallback = fmean(every) if every else None
    seconds = [run.seconds_left(typical.get(run.name, fallback)) for run in unfinished]
    known = [second for second in seconds if second is not None]
    return Stage(
        title,
        done,
        done + len(unfinished),
        sum(known) if len(known) == len(seconds) and seconds else None,
        gpu,
        tuple(unfinished),
    )


def _unfinished(name: str, seed: int, steps: int, state: Path, log: Path, now: float) -> Training:
    """Tell how far a run is: from its log while it runs, else from its saved state."""
    step, rate = _from_state(state)
    if not log.is_file() or abs(now - log.stat().st_mtime) > QUIET_SECONDS:
        return Training(name, seed, step, steps, rate, running=False)
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        found = PROGRESS.search(line)
        if found and int(found[2]) == steps:
            step, rate = int(found[1]), float(found[3])
        found = STARTED.search(line)
        if found and int(found[1]) == steps:
            step = int(found[2] or 0)
    return Training(name, seed, step, steps, rate, running=True)


def _on_gpu(folder: Path, config: Config) -> bool | None:
    """Say whether jobs run on a GPU: as the config asks, else as the newest finished run did."""
    if config["device"] != "auto":
        return config["device"] == "cuda"
    records = sorted(folder.glob("runs/*/*/run.json"), key=lambda path: path.stat().st_mtime)
    if not records:
        return None
    return (read_json(records[-1]).get("device") or {}).get("type") == "cuda"


# --- saved states ----------------------------------------------------------------------------


def _from_state(path: Path) -> tuple[int | None, float | None]:
    """Return the step of a saved state and its last logged rate, from the state's second line.

    A state that is not whole tells nothing: training itself decides what to do with it.
    """
    for candidate in (path, path.with_suffix(f".previous{path.suffix}")):
        try:
            with candidate.open("rb") as stream:
                stream.readline(LONGEST_LINE)
                header = json.loads(stream.readline(LONGEST_LINE))
                if stream.tell() + header["bytes"] == candidate.stat().st_size:
                    return int(header["step"]), header["steps_per_second"]
        except (OSError, ValueError, LookupError, TypeError):
            continue
    return None, None


# --- text ------------------------------------------------------------------------------------


def text(stages: Sequence[Stage]) -> str:
    """Return the survey as a table for a terminal, with a line for every started run."""
    lines = [f"{'stage':<26}{'done':>11}{'running':>9}{'left':>7}  time left"]
    for stage in stages:
        left = stage.total - stage.done
        time_left = "" if not left else _time(stage.seconds_left)
        count = f"{stage.done}/{stage.total}"
        running = str(stage.running) if stage.running else "-"
        lines.append(f"{stage.title:<26}{count:>11}{running:>9}{left or '-':>7}  {time_left}")
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
    return f"  {run.name} seed {run.seed}: {step}{rate} ({state})"


def _total(stages: Sequence[Stage]) -> list[str]:
    left = [stage for stage in stages if stage.done < stage.total]
    known = [stage for stage in left if stage.seconds_left is not None]
    if not left:
        return ["Everything is done."]
    if not known:
        return ["The time left is not known yet: no job of these stages has finished."]
    seconds = sum(stage.seconds_left or 0 for stage in known)
    hours = sum(stage.seconds_left or 0 for stage in known if stage.gpu) / 3600
    gpu = f"{hours:.1f} GPU-hours of it"
    if any(stage.gpu is None for stage in known):
        gpu = "how many GPU-hours of it shows when the first run has finished"
    running = sum(stage.running for stage in stages)
    line = f"Left: {duration(seconds)} of jobs, {gpu}"
    if running > 1:
        line += f"; with {running} at a time {duration(seconds / running)}"
    unknown = [stage.title for stage in left if stage.seconds_left is None]
    more = [f"Not counted, for want of a finished job: {', '.join(unknown)}."] if unknown else []
    return [f"{line}.", *more]
