"""Scoring that is interrupted goes on at the same command, and ends in the same bytes."""

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


def test_a_scoring_goes_on_after_an_interrupt(workflow):
    """Snakemake deletes the outputs of the job that it interrupts; the rows lie beside them.

    That a kill at any row loses none: tests/unit/test_kept_rows.py.
    """
    workflow.overlay(**SETTINGS)
    status, said = workflow.run("--", TARGET)
    assert status == 0, said[-3000:]
    scored = read_scores(workflow)
    shutil.rmtree(workflow.results / SCORES)
    shutil.rmtree(workflow.results / "asr" / "state" / "metrics")

    process = workflow.start("--", TARGET)
    while count_rows(workflow) < 2:
        assert process.poll() is None, (workflow.folder / "said.txt").read_text()[-3000:]
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=TIMEOUT_SECONDS)
    kill_session(process)
    kept = count_rows(workflow)
    assert kept >= 2

    status, said = workflow.run("--", TARGET)
    assert status == 0, said[-3000:]
    assert read_scores(workflow) == scored
    log = (workflow.results / "logs" / "asr_evaluate" / f"{METHOD}_seed0.log").read_text()
    read = [int(number) for number in re.findall(r"resumed at (\d+)", log)]
    for scale in re.findall(r"set14 (x\d): measured before", log):
        read.append(len(scored[f"demo_set14_{scale}.csv"].splitlines()) - 1)
    assert sum(read) >= kept
