"""Show the progress of a workflow and of its trainings in the terminal (`logger: gblsr`).

The display is that of snakemake-logger-plugin-rich: a bar for each rule with the jobs done. Added
are a bar for each running training, the remaining times, and a hint where Snakemake cannot read a
`--configfile`. Without a terminal there are no bars; a line is printed for each tenth of a training
instead.
"""

from __future__ import annotations

import logging
import math
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import Progress, ProgressColumn, Task
from rich.text import Text
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_logger_plugin_rich import LogHandler as RichLogHandler

if TYPE_CHECKING:
    from .trainings import TrainingBars

TOTAL = "Total Progress"  # the description of the bar of all jobs
UNREADABLE = {"FileNotFoundError", "IsADirectoryError", "PermissionError", "UnicodeDecodeError"}
CONFIG_FILE_HINT = """\
A file after --configfile cannot be read: {error}
All words after --configfile are names of YAML files in UTF-8. Put -- before the targets:
snakemake --cores 1 --configfile config/demo.yaml -- all"""


class LogHandler(RichLogHandler):
    """Shows what the rich logger shows, the remaining times, and the progress of trainings."""

    def __post_init__(self) -> None:
        """Add the remaining times to the bars."""
        super().__post_init__()
        self.progress.columns = (*self.progress.columns, TimeLeftColumn(self.progress))
        self.progress.speed_estimate_period = math.inf  # a job may take hours
        self.trainings: TrainingBars | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Show a log record and follow the trainings that it starts or ends."""
        event = getattr(record, "event", None)
        if event == LogEvent.ERROR and _is_unreadable_config_file(record):
            error = record.getMessage().strip().splitlines()[-1]
            record.msg, record.args = CONFIG_FILE_HINT.format(error=error), ()
        super().emit(record)
        if event == LogEvent.JOB_INFO and not self.common_settings.dryrun:
            for path in map(Path, record.output):  # type: ignore[attr-defined]
                if path.name == "run.json":
                    self._watch_trainings().add(record.jobid, path.parent)  # type: ignore[attr-defined]
        elif self.trainings and event == LogEvent.JOB_FINISHED:
            self.trainings.remove(record.job_id)  # type: ignore[attr-defined]
        elif self.trainings and event == LogEvent.JOB_ERROR:
            self.trainings.remove(record.jobid)  # type: ignore[attr-defined]

    def _watch_trainings(self) -> TrainingBars:
        """Return the bars of trainings, built when the first starts.

        Their module is imported here and not above: by now the Snakefile has put the package of its
        own checkout first, where another one is installed.
        """
        if self.trainings is None:
            from .trainings import TrainingBars

            self.trainings = TrainingBars(self.progress, self.console)
        return self.trainings

    def close(self) -> None:
        """Stop to watch trainings and end the display."""
        if self.trainings:
            self.trainings.close()
        super().close()


def _is_unreadable_config_file(record: logging.LogRecord) -> bool:
    """Tell whether a record reports that Snakemake failed to read a `--configfile`."""
    exception = getattr(record, "exception", None)
    return exception in UNREADABLE and "load_configfile" in record.getMessage()


class TimeLeftColumn(ProgressColumn):
    """Shows how long the jobs of a rule or the steps of a training still take.

    A rule's time is estimated from its jobs done. Jobs of different rules differ too much for an
    estimate of all jobs in this way: their bar shows the longest time of the others as a lower
    bound.
    """

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        super().__init__()

    def render(self, task: Task) -> Text:
        """Render the remaining time of one bar; nothing where it is finished or unknown."""
        if task.description != TOTAL:
            seconds = _estimate_seconds(task)
            return Text(_format_left(seconds))
        longest = max(map(_estimate_seconds, self.progress.tasks))
        return Text(f"at least {_format_left(longest)}" if longest else "")


def _estimate_seconds(task: Task) -> float:
    """Estimate the remaining seconds of a bar; 0 if unknown or if it is the bar of all jobs."""
    if task.finished or task.description == TOTAL:
        return 0.0
    return task.fields.get("seconds_left") or task.time_remaining or 0.0


def _format_left(seconds: float) -> str:
    """Format remaining seconds: 2:05:00 left; empty for 0."""
    return f"{timedelta(seconds=round(seconds))} left" if seconds else ""
