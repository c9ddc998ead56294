"""Follow running trainings by their progress files: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, TaskID

from gblsr_repro.errors import UserError
from gblsr_repro.operations.trainings import Training, locate_progress_file, read_training
from gblsr_repro.progress import format_duration

POLL_SECONDS = 5.0
LINES = 10  # printed for a whole training where there is no terminal


@dataclass
class Watched:
    """A running training: its progress file, when its job began, its bar, its lines printed."""

    path: Path
    began: float
    bar: TaskID | None = None
    lines: int = 0


class TrainingBars:
    """Shows the progress of the running trainings, which it reads every `POLL_SECONDS`."""

    def __init__(self, progress: Progress, console: Console) -> None:
        self.progress = progress
        self.console = console
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
                for training in self.watched.values():
                    self._update(training)

    def _update(self, watched: Watched) -> None:
        """Show what a progress file says, once the job wrote it and until its last step."""
        try:
            training = read_training(watched.path)
        except (OSError, UserError):  # not written yet, or removed at the end
            return
        if training.written_at < watched.began or not training.running:
            return
        if self.console.is_terminal:
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
            seconds_left=training.seconds_left,
        )

    def _print(self, watched: Watched, training: Training) -> None:
        """Print a line for each new tenth of a training."""
        lines = training.step * LINES // training.steps
        if lines <= watched.lines or training.seconds_left is None:
            return
        watched.lines = lines
        self.console.print(
            f"{time.strftime('%H:%M:%S')} {training.run}: {training.step:,} of "
            f"{training.steps:,} steps, {format_duration(training.seconds_left)} left",
            soft_wrap=True,
            highlight=False,
        )
