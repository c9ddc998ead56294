"""Scoring that is killed goes on at the same command, and ends in the same bytes."""

import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress

import pytest
from faulty import TIMEOUT_SECONDS, kill_session

pytestmark = pytest.mark.slow

METHOD = "gblsr_asr_nf48_nole"
SETTINGS = {
    "seeds": [0],
    "asr": {
        "methods": [METHOD],
        "base_method": METHOD,
        "evaluate": {"set14": "demo_set14"}
        | dict.fromkeys(("set5", "b100", "urban100", "div2kval")),
        "scales": [2, 4],
        "trained_scales": [2, 4],
        "timing": {"datasets": ["set14"]},
        "training": {"steps": 2},
    },
}
SCORES = f"asr/metrics/{METHOD}/seed0"
TARGET = f"results/tiny/{SCORES}/demo_set14_x4.csv"


def read_scores(workflow):
    """Read the bytes of all scores."""
    return {p.name: p.read_bytes() for p in (workflow.results / SCORES).iterdir()}


def count_rows(workflow):
    """Count the rows that are kept in the state."""
    files = (workflow.results / "asr" / "state" / "metrics" / METHOD / "seed0").glob("*.jsonl")
    return sum(file.read_bytes().count(b"\n") for file in files)


@pytest.fixture(scope="module")
def scored(workflow):
    """Score without a disturbance once; return the bytes of the scores."""
    workflow.overlay(**SETTINGS)
    workflow.run("--", TARGET)
    return read_scores(workflow)


def forget_scores(workflow):
    shutil.rmtree(workflow.results / SCORES, ignore_errors=True)
    shutil.rmtree(workflow.results / "asr" / "state" / "metrics", ignore_errors=True)


@pytest.mark.parametrize(
    ("alone", "number"),
    [
        (False, signal.SIGINT),  # as Ctrl+C
        (False, signal.SIGKILL),  # as a power cut
        (True, signal.SIGKILL),  # Snakemake, whose job outlives it
    ],
)
def test_a_killed_scoring_goes_on(workflow, scored, alone, number):
    forget_scores(workflow)
    process = workflow.start("--", TARGET)
    while count_rows(workflow) < 2:
        assert process.poll() is None, workflow.said[-3000:]
        time.sleep(0.005)
    if alone:
        process.send_signal(number)
    else:
        os.killpg(process.pid, number)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=TIMEOUT_SECONDS)
    if not alone:
        kill_session(process)
    assert "Cannot restore" not in workflow.said
    kept = count_rows(workflow)
    assert kept >= 2
    workflow.unlock()

    said = workflow.run("--", TARGET)
    assert read_scores(workflow) == scored
    if "Nothing to be done" in said:
        return  # Snakemake let the job finish
    log = (workflow.results / "logs" / "asr_evaluate" / f"{METHOD}_seed0.log").read_text()
    read = [int(number) for number in re.findall(r"resumed at (\d+)", log)]
    for scale in re.findall(r"set14 (x\d): measured before", log):
        read.append(len(scored[f"demo_set14_{scale}.csv"].splitlines()) - 1)
    assert sum(read) >= kept
