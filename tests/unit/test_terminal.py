"""The logger of the workflow: the progress of trainings, the remaining times, and its hints."""

import logging
import subprocess
import sys
import time

import pytest
from snakemake.settings.types import OutputSettings
from snakemake_interface_logger_plugins.common import LogEvent

from gblsr_repro.files import write_json
from snakemake_logger_plugin_gblsr import LogHandler, trainings


@pytest.fixture
def logger(monkeypatch):
    monkeypatch.setattr(trainings, "POLL_SECONDS", 0.02)
    handler = LogHandler(OutputSettings(), None)
    handler.console.width = 120
    yield handler
    handler.close()


def emit(handler, event, **fields):
    record = logging.LogRecord("snakemake", logging.INFO, "", 0, "", (), None)
    vars(record).update(event=event, **fields)
    handler.emit(record)


def start(handler, run):
    emit(handler, LogEvent.RUN_INFO, per_rule_job_counts={"train": 3}, total_job_count=3)
    job = {"jobid": 7, "rule_name": "train", "output": [str(run / "run.json")]}
    emit(handler, LogEvent.JOB_INFO, **job)


def report(results, step, running=True):
    """Write what a training writes beside its state."""
    path = results / "native" / "state" / "gblsr_scalar" / "seed0.json"
    content = {"run": "gblsr_scalar seed 0", "step": step, "saved": 0, "steps": 2000}
    write_json(path, {**content, "steps_per_second": 0.5, "running": running})


def wait_for(condition):
    limit = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)


def test_without_a_terminal_a_line_is_printed_for_each_tenth_of_a_training(
    logger, tmp_path, capsys
):
    start(logger, tmp_path / "native" / "runs" / "gblsr_scalar" / "seed0")
    printed = []

    def is_printed(text):
        printed.append(capsys.readouterr().err)
        return text in "".join(printed)

    for step, tenth in ((100, False), (230, True), (250, False), (399, False), (1000, True)):
        report(tmp_path, step)
        if tenth:
            wait_for(lambda: is_printed(f"{step:,} of"))  # noqa: B023 - called at once
        else:
            time.sleep(0.1)
    report(tmp_path, 2000, running=False)
    time.sleep(0.1)
    is_printed("")
    lines = [
        line.split(" ", 1)[1] for line in "".join(printed).splitlines() if "gblsr_scalar" in line
    ]
    assert lines == [
        "gblsr_scalar seed 0: 230 of 2,000 steps, 59m00s left",
        "gblsr_scalar seed 0: 1,000 of 2,000 steps, 33m20s left",
    ]


def test_progress_of_an_earlier_job_is_not_shown(logger, tmp_path, capsys):
    report(tmp_path, 500)
    time.sleep(0.1)
    start(logger, tmp_path / "native" / "runs" / "gblsr_scalar" / "seed0")
    time.sleep(0.3)
    assert "500" not in capsys.readouterr().err


def test_a_terminal_has_a_bar_for_a_running_training_and_times(monkeypatch, tmp_path):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes standard error for a terminal
    monkeypatch.setattr(trainings, "POLL_SECONDS", 0.02)
    logger = LogHandler(OutputSettings(), None)
    assert logger.console.is_terminal
    logger.console.width = 120
    try:
        start(logger, tmp_path / "native" / "runs" / "gblsr_scalar" / "seed0")
        report(tmp_path, 500)
        wait_for(lambda: "gblsr_scalar seed 0" in drawn(logger))
        assert "gblsr_scalar seed 0: 500 of 2,000 steps" in drawn(logger)
        assert "0:50:00 left" in drawn(logger)
        assert "at least 0:50:00 left" in drawn(logger)
        emit(logger, LogEvent.JOB_FINISHED, job_id=7)
        assert "gblsr_scalar" not in drawn(logger)
    finally:
        logger.close()


def drawn(logger):
    with logger.console.capture() as capture:
        logger.console.print(logger.progress.get_renderable())
    return capture.get()


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        (["--configfile", "config/demo.yaml", "all"], None),
        (["--configfile", "latin.yaml"], "title: café\n".encode("latin-1")),
    ],
)
def test_an_unreadable_config_file_is_explained(repository, tmp_path, arguments, content):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "demo.yaml").write_text("preset: demo\n")
    if content is not None:
        (tmp_path / "latin.yaml").write_bytes(content)
    profile = ["--workflow-profile", str(repository / "profiles" / "default")]
    snakefile = ["--snakefile", str(repository / "Snakefile")]
    command = [sys.executable, "-m", "snakemake", *snakefile, *profile, "--cores", "1", "-n"]
    done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "A file after --configfile cannot be read" in done.stderr
    assert "Put -- before the targets" in done.stderr
    assert "Traceback" not in done.stderr
