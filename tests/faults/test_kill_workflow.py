"""The workflow killed, stopped and started twice: what it makes in the end is the same."""

import os
import time

import pytest
from faulty import outcome, unfinished

from gblsr_repro import cli
from gblsr_repro.config import load
from gblsr_repro.data.standardize import make_array
from gblsr_repro.files import sha256

pytestmark = pytest.mark.slow

RUN = "results/tiny/native/runs/gblsr_scalar/seed0/run.json"
MINUTES = 5


def unlock(workflow):
    """What Snakemake asks for after a kill: the same command with --unlock."""
    status, said = workflow.run("--unlock")
    assert status == 0, said


def jobs_of(workflow):
    """The processes that work in the checkout, but for Snakemake itself."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                words = open(f"/proc/{entry.name}/cmdline").read().split("\0")
                if "gblsr_repro" in words and os.readlink(f"{entry.path}/cwd") == str(
                    workflow.folder
                ):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def test_killed_at_random_moments(workflow, repeats, chance, tmp_path):
    """By turns everything at once, as in a power cut, and Snakemake alone, its jobs living on."""
    lived_on = 0
    for number in range(repeats):
        process = workflow.start("--", RUN)
        try:
            process.wait(timeout=chance.uniform(2, 14))
        except Exception:  # still running
            pass
        if number % 2:
            process.kill()
            process.wait()
            lived_on += len(jobs_of(workflow))
            for job in jobs_of(workflow):
                os.kill(job, 15)  # as the sentence about a second process says
            while jobs_of(workflow):
                time.sleep(0.1)
        else:
            workflow.kill_session(process)
        process.stdout.close()
        if (workflow.folder / ".snakemake" / "locks").is_dir():
            unlock(workflow)
    status, said = workflow.run("--", RUN, timeout=60 * MINUTES)
    assert status == 0, said[-3000:]
    made = workflow.folder / RUN
    assert unfinished(workflow.results) == []

    config = workflow.results / "config.yaml"
    settings = load([config])
    settings["resources"] = str(workflow.folder / "resources")
    make_array("train", settings, tmp_path / "train.npy")
    assert sha256(tmp_path / "train.npy") == sha256(workflow.results / "native/arrays/train.npy")
    command = [
        "train", "--config", config, "--arm", "gblsr_scalar", "--seed", 0, "--array",
        tmp_path / "train.npy", "--output", tmp_path / "run", "--state", tmp_path / "state.pt",
    ]  # fmt: skip
    assert cli.main([str(word) for word in command]) == 0
    assert outcome(made.parent) == outcome(tmp_path / "run")
    status, said = workflow.run("--dry-run", "--", RUN)
    assert "Nothing to be done" in said
