"""Follow running trainings by their progress files: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.progress import Progress, TaskID

from gblsr_repro.errors import UserError
from gblsr_repro.operations.trainings import Training, locate_progress_file, read_training
from gblsr_repro.progress import format_duration

from .run import Run, stamp

POLL_SECONDS = 5.0
LINES = 10  # printed for a whole training where there is no terminal
LAST_SECONDS = 60  # of a training, in which no line is printed: that of the job follows


@dataclass
class Watched:
    """A running training: its progress file, when its job began, its bar, its lines printed."""

    path: Path
    began: float
    bar: TaskID | None = None
    lines: int = 0


class Trainings:
    """Shows the progress of the running trainings, which it reads every `POLL_SECONDS`."""

    def __init__(
        self, run: Run, progress: Progress, print_line: Callable[[str], None], has_bars: bool
    ) -> None:
        self.run = run
        self.progress = progress
        self.print_line = print_line
        self.has_bars = has_bars
        self.watched: dict[int, Watched] = {}
        self.lock = threading.Lock()
        self.closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def add(self, job: int, run: Path) -> None:
        """Follow the training that makes a run's folder."""
        with self.lock:
            self.watched[job] = Watched(locate_progress_file(run), time.time())

    def remove(self, job: int) -> None:
        """Take the bar of a job away, if it is a training."""
        with self.lock:
            training = self.watched.pop(job, None)
            if training is not None and training.bar is not None:
                self.progress.remove_task(training.bar)

    def close(self) -> None:
        """End the thread that reads the files."""
        self.closed.set()

    def _watch(self) -> None:
        """Show the progress of all trainings until closed."""
        while not self.closed.wait(POLL_SECONDS):
            with self.lock:
                for job, training in self.watched.items():
                    self._update(job, training)

    def _update(self, job: int, watched: Watched) -> None:
        """Show what a progress file says, once the job wrote it and until its last step."""
        try:
            training = read_training(watched.path)
        except (OSError, UserError):  # not written yet, or removed at the end
            return
        if training.written_at < watched.began or not training.running:
            return
        self.run.expect(job, training.seconds_left)
        if self.has_bars:
            self._draw(watched, training)
        else:
            self._print(watched, training)

    def _draw(self, watched: Watched, training: Training) -> None:
        """Draw or renew the bar of a training."""
        if watched.bar is None:
            watched.bar = self.progress.add_task(training.run, total=training.steps, active="")
        self.progress.update(
            watched.bar,
            completed=training.step,
            description=f"{training.run}: {training.step:,} of {training.steps:,} steps",
            left=_describe_time_left(training),
        )

    def _print(self, watched: Watched, training: Training) -> None:
        """Print a line for each new tenth of a training."""
        tenths = training.step * LINES // training.steps
        if tenths <= watched.lines or (training.seconds_left or 0) < LAST_SECONDS:
            return
        watched.lines = tenths
        self.print_line(
            stamp(
                f"{training.run}: {training.step:,} of {training.steps:,} steps, "
                f"{_describe_time_left(training)}"
            )
        )


def _describe_time_left(training: Training) -> str:
    """Describe the time that the remaining steps take; empty where it is unknown."""
    left = training.seconds_left
    return "" if left is None else f"{format_duration(left)} left"
