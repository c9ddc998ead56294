"""Keep count of the jobs of a run: which are done, how long the others take, why one failed."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import mean

from gblsr_repro.progress import format_count, format_duration

PAGE = "report.html"
EXIT_STATUS = re.compile(r"(exit status \d+|SIG\w+)[:.][^\n]*$")


@dataclass
class Job:
    """A running job: its name, when it began, and when its logs had been written before.

    `began` is on the monotonic clock, `started_at` in seconds since the epoch.
    """

    rule: str
    name: str
    pages: list[str]
    began: float
    started_at: float
    logs: Mapping[str, float]
    expected: float | None = None  # seconds from beginning to end, as a training estimates them


class Run:
    """The jobs of one call of Snakemake, from the records that it logs.

    Its methods return what there is to print.
    """

    def __init__(self, record: logging.LogRecord) -> None:
        """Begin with a record of the event `RUN_INFO`."""
        self.left: dict[str, int] = dict(record.stats)  # type: ignore[attr-defined]
        self.total = self.left.pop("total")
        self.done = 0
        self.began: float | None = None  # when the first job began
        self.running: dict[int, Job] = {}
        self.names: dict[int, str] = {}
        self.seconds: dict[str, list[float]] = {}  # of each rule's finished jobs
        self.pages: list[str] = []
        self.message = ""  # Snakemake's words on the command that failed last

    def describe_jobs(self) -> str:
        """List how many jobs of each rule are to be run."""
        counts = ", ".join(f"{count} {rule}" for rule, count in self.left.items())
        return stamp(f"{format_count(self.total, 'job')} to run: {counts}")

    def start(self, record: logging.LogRecord) -> str:
        """Count a job as running; return its name, as in `train arm=gblsr_scalar seed=0`."""
        fields, now = vars(record), time.monotonic()
        self.began = self.began or now
        wildcards = [f"{key}={value}" for key, value in (fields.get("wildcards") or {}).items()]
        name = " ".join([fields["rule_name"], *wildcards])
        logs = {path: _read_time(path) for path in fields.get("log") or ()}
        pages = [path for path in fields["output"] if Path(path).name == PAGE]
        self.names[fields["jobid"]] = name
        self.running[fields["jobid"]] = Job(
            fields["rule_name"], name, pages, now, record.created, logs
        )
        return name

    def finish(self, number: int) -> str:
        """Count a job as done; return its line."""
        job = self.running.pop(number)
        seconds = time.monotonic() - job.began
        self.seconds.setdefault(job.rule, []).append(seconds)
        self.left[job.rule] = self.left.get(job.rule, 1) - 1
        self.pages += job.pages
        self.done += 1
        done = f"{self.done:{len(str(self.total))}} of {self.total} done"
        left = self.describe_time_left()
        return stamp(f"{done}: {job.name} in {format_duration(seconds)}{left and '; '}{left}")

    def describe_end(self) -> str:
        """Say how long all jobs took and where the pages are that they made."""
        seconds = time.monotonic() - (self.began or time.monotonic())
        end = stamp(f"All jobs are done in {format_duration(seconds)}.")
        return "\n".join([end, *(f"Page: {page}" for page in self.pages)])

    def fail(self, record: logging.LogRecord, whole_logs: bool) -> str:
        """Say which job failed, why by the last line of its log or all of them, and where it is.

        A log that the job did not write is an earlier job's; Snakemake's words stand in its place.
        """
        fields = vars(record)
        job = self.running.pop(fields["jobid"])
        written = {
            path: _read_lines(path)
            for path in fields.get("log") or ()
            if _read_time(path) > min(job.started_at, job.logs.get(path, 0.0))
        }
        after = format_duration(time.monotonic() - job.began)
        status = EXIT_STATUS.search(self.message)
        lines = [f"Failed: {job.name} after {after}{f', {status[1]}' if status else ''}"]
        lines += [f"  why: {line}" for line in (fields.get("rule_msg") or "").splitlines()[:1]]
        for path, content in written.items():
            lines += [f"  why: {line}" for line in content[-1:]]
            lines += [f"  log: {path}", *(content if whole_logs else [])]
        self.message = ""
        return stamp("\n".join(lines))

    def restart(self, number: int) -> str:
        """Say that a failed job is tried again."""
        return stamp(f"Tried again: {self.names[number]}")

    def expect(self, number: int, seconds_left: float | None) -> None:
        """Note how long a running job will take yet."""
        job = self.running.get(number)
        if job is not None and seconds_left is not None:
            job.expected = time.monotonic() - job.began + seconds_left

    def describe_time_left(self) -> str:
        """Describe the time left, estimated from the jobs so far; empty before the first.

        A job takes as long as the mean of its rule, or of all jobs while none of its rule is known.
        As many run at once, and as much time passes between them, as in the time so far.
        """
        now = time.monotonic()
        running = tuple(self.running.values())
        known = {rule: [*seconds] for rule, seconds in self.seconds.items()}
        for job in running:
            if job.expected:
                known.setdefault(job.rule, []).append(job.expected)
        if not known or self.began is None:
            return ""
        typical = mean(chain(*known.values()))
        means = {rule: mean(known.get(rule, [typical])) for rule in self.left}
        work = sum(count * means[rule] for rule, count in self.left.items())
        work -= sum(min(now - job.began, means.get(job.rule, 0.0)) for job in running)
        spent = sum(map(sum, self.seconds.values())) + sum(now - job.began for job in running)
        seconds = work * (now - self.began) / spent if spent else 0.0
        return f"about {format_duration(seconds)} left" if seconds >= 1 else ""


def stamp(text: str) -> str:
    """Put date and time before a text."""
    return f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}"


def _read_time(path: str) -> float:
    """Read when a file was written last, in seconds since the epoch; 0 if there is none."""
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return 0.0


def _read_lines(path: str) -> list[str]:
    """Read the lines of a log that are not empty."""
    lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    return [line.rstrip() for line in lines if line.strip()]
