"""Show the progress of a workflow and of its trainings (`logger: gblsr`).

On a terminal the display is that of snakemake-logger-plugin-rich, a bar for each rule, with a bar
for each running training and the remaining time. Elsewhere a line is printed for each finished job
and for each tenth of a training. Both say why a job failed and where the page is, and explain a
`--configfile` that Snakemake cannot read.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import ProgressColumn, Task
from rich.text import Text
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_logger_plugin_rich import LogHandler as RichLogHandler

from .changes import describe_changes

if TYPE_CHECKING:
    from .run import Run
    from .trainings import Trainings

TOTAL = "Total Progress"  # the description of the bar of all jobs
UNREADABLE = {"FileNotFoundError", "IsADirectoryError", "PermissionError", "UnicodeDecodeError"}
FAILED_COMMAND = re.compile(r"^CalledProcessError in file", re.MULTILINE)
RESTART = re.compile(r"Trying to restart job (\d+)\.")
TRACEBACK = "\nTraceback (most recent call last):"
# Of a dry-run's reasons, which it tells for each rule: jobs are listed without.
JOBS_ABOVE = "\n    (check individual jobs above for details)"
CONFIG_FILE_HINT = """\
A file after --configfile cannot be read: {error}
All words after --configfile are names of YAML files in UTF-8. Put -- before the targets:
snakemake --cores 1 --configfile config/demo.yaml -- all"""

CACHE_HINT = """\
Snakemake cannot make its cache in your home: {error}
Name another folder for it, before the command: XDG_CACHE_HOME=/tmp/cache snakemake ..."""


class LogHandler(RichLogHandler):
    """Shows bars on a terminal, as the rich logger does, and lines elsewhere."""

    def __post_init__(self) -> None:
        """Find out whether there is a terminal."""
        super().__post_init__()
        self.is_terminal = self.console.file.isatty()
        self.run: Run | None = None
        self.trainings: Trainings | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Show what a record of Snakemake says."""
        event = getattr(record, "event", None)
        try:
            if event == LogEvent.RUN_INFO and self.run is None:
                self._begin(record)
            if event == LogEvent.ERROR:
                self._show_error(record)
            elif event == LogEvent.JOB_ERROR and self.run:
                self._fail(record, self.run)
            elif event is None:
                self._show_message(record)
            elif self.is_terminal:
                super().emit(record)
            if self.run and event == LogEvent.JOB_INFO:
                self._start(record, self.run)
            elif self.run and event == LogEvent.JOB_FINISHED:
                self._finish(record, self.run)
        except Exception:
            self.handleError(record)

    def _begin(self, record: logging.LogRecord) -> None:
        """Begin to count jobs.

        Imports of this package are here and not above: by now the Snakefile has put the package of
        its own checkout first, where another one is installed.
        """
        from .run import Run
        from .trainings import Trainings

        self.run = Run(record)
        self.progress.columns = (*self.progress.columns, TimeLeftColumn(self.run))
        self.trainings = Trainings(self.run, self.progress, self._print, self.is_terminal)
        if not self.is_terminal:
            self._print(self.run.describe_jobs())

    def _start(self, record: logging.LogRecord, run: Run) -> None:
        """Count a job that starts, and watch it if it is a training.

        A dry-run prints its name and what has changed since it was run.
        """
        name = run.start(record)
        if self.common_settings.dryrun:
            changes = describe_changes(getattr(record, "reason", ""))
            changed = f" (changed: {', '.join(changes)})" if changes else ""
            self._print(f"Would run: {name}{changed}")
            return
        for path in map(Path, record.output):  # type: ignore[attr-defined]
            if path.name == "run.json" and self.trainings:
                self.trainings.add(record.jobid, path.parent)  # type: ignore[attr-defined]

    def _finish(self, record: logging.LogRecord, run: Run) -> None:
        """Print the line of a finished job, and after the last one where the page is."""
        job: int = record.job_id  # type: ignore[attr-defined]
        if self.trainings:
            self.trainings.remove(job)
        line = run.finish(job)
        if not self.is_terminal:
            self._print(line)
        if run.done == run.total:
            self._print(run.describe_end())

    def _fail(self, record: logging.LogRecord, run: Run) -> None:
        """Print which job failed and why, and its whole log after `--show-failed-logs`."""
        if self.trainings:
            self.trainings.remove(record.jobid)  # type: ignore[attr-defined]
        self._print(run.fail(record, self.common_settings.show_failed_logs))

    def _show_error(self, record: logging.LogRecord) -> None:
        """Print an error; that a job's command failed is said once, with the reason (`_fail`)."""
        message = record.getMessage().strip()
        if self.run and FAILED_COMMAND.search(message):
            self.run.message = message
            return
        if getattr(record, "exception", None) in UNREADABLE and "load_configfile" in message:
            record.msg = CONFIG_FILE_HINT.format(error=message.splitlines()[-1])
            record.args = ()
        elif "sourcecache.py" in message:
            record.msg, record.args = CACHE_HINT.format(error=message.splitlines()[-1]), ()
        self._show(record)

    def _show_message(self, record: logging.LogRecord) -> None:
        """Print a message of Snakemake; a job tried again is named.

        The traceback of an executor's error stands in Snakemake's log alone: the job's own error,
        which follows, says what the reason is.
        """
        record.msg = record.getMessage().partition(TRACEBACK)[0]
        record.args = ()
        restarted = RESTART.fullmatch(record.msg)
        if restarted and self.run:
            self._print(self.run.restart(int(restarted[1])))
        else:
            self._show(record)

    def _show(self, record: logging.LogRecord) -> None:
        """Print the text of a record as the rich logger does, and without ornaments elsewhere."""
        message = record.getMessage()
        if self.is_terminal:
            super().emit(record)
        elif self.event_handler.should_log_message(record, message):
            self._print(message.replace(JOBS_ABOVE, ""))

    def _print(self, text: str) -> None:
        """Print a text as it is."""
        self.console.print(Text(text), soft_wrap=True)

    def close(self) -> None:
        """Stop to watch trainings and end the display."""
        if self.trainings:
            self.trainings.close()
        super().close()


class TimeLeftColumn(ProgressColumn):
    """Shows how long all jobs or the steps of a training still take."""

    def __init__(self, run: Run) -> None:
        self.run = run
        super().__init__()

    def render(self, task: Task) -> Text:
        """Render the remaining time of one bar; nothing where it is finished or unknown."""
        if task.description == TOTAL:
            return Text(self.run.describe_time_left())
        return Text(task.fields.get("left", ""))
