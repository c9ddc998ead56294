"""The logger of the workflow: the progress of trainings, the remaining times, and its hints."""

import logging
import os
import re
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


def emit(handler, event, message="", **fields):
    record = logging.LogRecord("snakemake", logging.INFO, "", 0, message, (), None)
    vars(record).update(event=event, **fields)
    handler.emit(record)


def start(handler, run):
    emit(handler, LogEvent.RUN_INFO, stats={"train": 3, "total": 3})
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
        line.split(" ", 2)[2] for line in "".join(printed).splitlines() if "gblsr_scalar" in line
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
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(trainings, "POLL_SECONDS", 0.02)
    logger = LogHandler(OutputSettings(), None)
    logger.console.width = 120
    try:
        start(logger, tmp_path / "native" / "runs" / "gblsr_scalar" / "seed0")
        report(tmp_path, 500)
        wait_for(lambda: "gblsr_scalar seed 0" in drawn(logger))
        assert "gblsr_scalar seed 0: 500 of 2,000 steps" in drawn(logger)
        assert "50m00s left" in drawn(logger)
        assert "about 2h30m left" in drawn(logger)  # three such trainings
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


def test_a_home_that_cannot_be_written_is_explained(repository, tmp_path):
    home = {"HOME": "/proc/home"}  # where nobody can make a folder, root neither
    others = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    profile = ["--workflow-profile", str(repository / "profiles" / "default")]
    (tmp_path / "Snakefile").write_text("rule all:\n    output: 'a'\n    shell: 'touch a'\n")
    command = [sys.executable, "-m", "snakemake", *profile, "--cores", "1", "-n"]
    for more in ({}, {"XDG_CACHE_HOME": str(tmp_path / "cache")}):
        env = others | home | more
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env)
        assert done.returncode == (0 if more else 1)
        assert ("XDG_CACHE_HOME=/tmp/cache snakemake" in done.stderr) is not bool(more)
        assert "Traceback" not in done.stderr


SMALL = """\
rule all:
    default_target: True
    input: "results/report.html"
rule measure:
    output: "results/{arm}.csv"
    log: "logs/{arm}.log"
    retries: 1
    shell: "[ -e tried ] && touch {output} || "
        "{{ touch tried; echo gblsr-repro: {wildcards.arm} is damaged. > {log}; exit 2; }}"
rule draw:
    input: expand("results/{arm}.csv", arm=["scalar", "full"])
    output: "results/report.html"
    params: depends_on=[f"{name}: {value}" for name, value in config.items()]
    shell: "touch {output}"
"""
STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d "


@pytest.fixture
def run_small(tmp_path):
    """Run a small workflow as `snakemake > log.txt 2>&1`; return the status and the log's lines."""
    (tmp_path / "Snakefile").write_text(SMALL)

    def run(*arguments):
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--logger", "gblsr"]
        environment = {**os.environ, "FORCE_COLOR": "1"}  # as where CI shows logs in color
        with (tmp_path / "log.txt").open("wb") as log:
            done = subprocess.run(
                [*command, *arguments], cwd=tmp_path, stdout=log, stderr=log, env=environment
            )
        return done.returncode, (tmp_path / "log.txt").read_text().splitlines()

    return run


def test_a_log_names_every_job_and_the_page(run_small):
    status, lines = run_small()
    assert status == 0
    said = [re.sub(STAMP, "", line) for line in lines if re.match(STAMP, line)]
    assert said[0].startswith("4 jobs to run: ")
    assert "2 measure" in said[0]
    done = [line for line in said if " of 4 done: " in line]
    assert [line.split(" of ")[0] for line in done] == ["1", "2", "3", "4"]
    jobs = [re.split(" done: | in ", line)[1] for line in done]
    assert sorted(jobs[:2]) == ["measure arm=full", "measure arm=scalar"]
    assert jobs[2:] == ["draw", "all"]
    (failed,) = (i for i, line in enumerate(lines) if "Failed: measure arm=" in line)
    arm = lines[failed].split("arm=")[1].split()[0]
    assert lines[failed].endswith(", exit status 2")
    assert lines[failed + 1 : failed + 3] == [
        f"  why: gblsr-repro: {arm} is damaged.",
        f"  log: logs/{arm}.log",
    ]
    assert lines[failed + 3].endswith(f"Tried again: measure arm={arm}")
    end = lines.index("Page: results/report.html")
    assert "All jobs are done in " in lines[end - 1]


def test_a_dry_run_names_the_jobs_and_what_has_changed(run_small):
    lines = run_small("--dry-run")[1]
    planned = {line.partition(": ")[2] for line in lines if line.startswith("Would run: ")}
    assert planned == {"measure arm=scalar", "measure arm=full", "draw", "all"}
    assert not any("done" in line or "Page" in line for line in lines)
    assert run_small("--config", "sigma=1.5", "floor=0.1", "scales=[2, 4]")[0] == 0
    changed = ["--config", "sigma=2.0", "floor=0.1", "scales=[2]", "code_sha256=0f"]
    lines = run_small("--dry-run", *changed)[1]
    scales = "scales: ['2', '4'] -> ['2']"
    assert f"Would run: draw (changed: {scales}, sigma: 1.5 -> 2.0, the code)" in lines
    assert "Would run: all" in lines


def test_the_log_of_an_earlier_job_is_not_shown(logger, tmp_path, capsys):
    """As where Slurm's commands are missing: the job never began, and wrote nothing."""
    log = tmp_path / "train.log"
    log.write_text("gblsr-repro: of an earlier job.\n")
    job = {"jobid": 7, "rule_name": "train", "log": [str(log)]}
    emit(logger, LogEvent.RUN_INFO, stats={"train": 1, "total": 1})
    emit(logger, LogEvent.JOB_INFO, **job, output=[])
    emit(logger, LogEvent.JOB_ERROR, **job, rule_msg="sbatch failed. It is not found.\n  call")
    said = capsys.readouterr().err
    assert "Failed: train" in said
    assert "why: sbatch failed. It is not found.\n" in said
    assert "train.log" not in said
    assert "earlier" not in said
