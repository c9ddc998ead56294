"""Read the progress of unfinished trainings from the files beside their states."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from ..config import Config
from ..progress import format_columns, format_duration
from ..records import TrainingProgress, read_record

HEADINGS = ["run", "step", "of", "steps/s", "left", "last update"]


@dataclass(frozen=True)
class Training:
    """The progress of one training: `step` of `steps` are done.

    `rate` is in steps per second, None before the first step. Of a stopped training `step` is that
    of its saved state, from which it resumes; `finished` is true when the last state is saved.
    `written_at` is the time of the report in seconds since the epoch.
    """

    run: str
    step: int
    steps: int
    rate: float | None
    running: bool
    finished: bool
    written_at: float

    @property
    def seconds_left(self) -> float | None:
        """The seconds that the remaining steps take at the mean rate; None if it is unknown."""
        return (self.steps - self.step) / self.rate if self.rate else None


def read_training(path: Path) -> Training:
    """Read the progress file of one training."""
    content = read_record(path, TrainingProgress)
    return Training(
        run=content["run"],
        step=content["step"] if content["running"] else content["saved"],
        steps=content["steps"],
        rate=content["steps_per_second"],
        running=content["running"],
        finished=content["saved"] >= content["steps"],
        written_at=path.stat().st_mtime,
    )


def locate_progress_file(run: Path) -> Path:
    """Return the progress file of the training that makes a run's folder."""
    return run.parents[2] / "state" / run.parent.name / f"{run.name}.json"


def list_trainings(config: Config) -> str:
    """List the unfinished trainings in the results folder as a table, one line a training.

    A killed training is still listed as running; the time since its last sign of life shows that
    it is not (a running training writes every 15 seconds).
    """
    results = Path(config["results"])
    trainings = [read_training(path) for path in sorted(results.glob("*/state/*/*.json"))]
    rows = [_format_row(training) for training in trainings if not training.finished]
    if not rows:
        return f"No training in {results} is unfinished."
    return "\n".join(format_columns([HEADINGS, *rows], right=True))


def _format_row(training: Training) -> list[str]:
    """Format the cells of one training."""
    left, silence = training.seconds_left, max(time.time() - training.written_at, 0.0)
    return [
        training.run,
        f"{training.step:,}",
        f"{training.steps:,}",
        f"{training.rate:.3g}" if training.rate else "unknown",
        "unknown" if left is None else format_duration(left),
        f"{format_duration(silence)} ago" if training.running else "stopped",
    ]
