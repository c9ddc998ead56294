"""`snakemake --profile slurm` on a real Slurm gives what a local run gives."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from gblsr_repro.files import compute_sha256

from .conftest import reduce

pytestmark = pytest.mark.slow

SNAKEMAKE = [sys.executable, "-m", "snakemake"]
# As users submit, but for asking sooner whether a job has ended: these take seconds.
SLURM = ["--profile", "slurm", "--slurm-init-seconds-before-status-checks", "1"]
CONFIG = ["--configfile", "config/demo.yaml", "reduced.yaml"]
SUBMITTED = re.compile(r"has been submitted with SLURM jobid (\d+)")
RUN = "results/demo/native/runs/gblsr_scalar/seed0/run.json"


def start(checkout: Path, environment: Mapping[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*SNAKEMAKE, *arguments],
        cwd=checkout,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(workflow: subprocess.Popen[str]) -> str:
    try:
        said, _ = workflow.communicate(timeout=600)
    finally:
        workflow.kill()
    assert workflow.returncode == 0, said[-6000:]
    return said


def submit(checkout: Path, slurm: Mapping[str, str], *arguments: str) -> str:
    return finish(start(checkout, slurm, *SLURM, *arguments))


@contextmanager
def locally(checkout: Path, *targets: str) -> Iterator[Path]:
    """Run the targets in a copy of the checkout beside the block; yield the copy's results."""
    copy = checkout.with_name("local")
    shutil.copytree(checkout, copy)
    workflow = start(copy, os.environ, "--cores", "1", *CONFIG, "--", *targets)
    try:
        yield copy / "results" / "demo"
        finish(workflow)
    finally:
        workflow.kill()


def measured(results: Path) -> pd.DataFrame:
    """The aggregated numbers but the milliseconds, which no two runs share."""
    rows = pd.read_csv(results / "aggregates" / "native.csv")
    return rows[~rows.metric.str.endswith("_ms")].reset_index(drop=True)


def weights(results: Path) -> dict[str, str]:
    return {
        str(p.relative_to(results)): compute_sha256(p) for p in results.rglob("weights.safetensors")
    }


@pytest.fixture(scope="module")
def steps_per_second(
    clone: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory
) -> float:
    """Training steps of the one arm that this machine does in a second, from a short local run."""
    checkout = reduce(clone(tmp_path_factory.mktemp("timed") / "checkout"))
    one_run(checkout, steps=200)
    with locally(checkout, RUN) as local:
        pass
    record = record_of(local)
    return record["steps"] / record["wall_seconds"]


def test_same_results_as_locally(reduced, slurm):
    with locally(reduced, "main_kodak", "frontier") as local:
        said = submit(reduced, slurm, "--retries", "1", *CONFIG, "--", "main_kodak", "frontier")
    assert len(SUBMITTED.findall(said)) >= 6, said[-3000:]
    for rule in ("fetch", "aggregate_native", "show_native"):
        assert f"localrule {rule}" in said
    results = reduced / "results" / "demo"
    assert (results / "figures" / "frontier.png").is_file()
    assert weights(results) == weights(local) != {}
    pd.testing.assert_frame_equal(measured(results), measured(local))


def test_a_run_longer_than_the_time_limit_is_finished_by_its_retries(
    reduced, slurm, steps_per_second
):
    """With a limit of two minutes the job is warned, saves, ends; a retry does the remaining steps.

    Slurm warns up to half a minute earlier than it is told to, so the profile's two minutes would
    leave no time at all, and a limit of one minute none on a machine where Python starts slowly.
    The run lasts so long that a machine which becomes faster after its steps were timed meets the
    limit too.
    """
    steps = round(110 * steps_per_second)
    one_run(reduced, steps)
    with locally(reduced, RUN) as local:
        limits = ["train:runtime=2", "train:slurm_extra='--signal=TERM@20'"]
        said = submit(reduced, slurm, *CONFIG, "--set-resources", *limits, "--", RUN)
    record, expected = record_of(reduced / "results" / "demo"), record_of(local)
    assert record["steps"] == steps
    assert record["resumed"] >= 1, said[-3000:]
    assert "Trying to restart job" in said
    assert expected["resumed"] == 0
    assert record["weights_sha256"] == expected["weights_sha256"]


def test_a_killed_submitter_loses_nothing(reduced, slurm, steps_per_second):
    """Its jobs go on without it; the same command, after --unlock, ends with the same weights."""
    steps = round(20 * steps_per_second)
    one_run(reduced, steps)
    with locally(reduced, RUN) as local:
        first = start(reduced, slurm, *SLURM, *CONFIG, "--", RUN)
        state = reduced / "results" / "demo" / "native" / "state" / "gblsr_scalar" / "seed0.pt"
        wait_for(state, first)
        first.kill()
        first.communicate()
        finish(start(reduced, slurm, *SLURM, *CONFIG, "--unlock", "--", RUN))
        submit(reduced, slurm, *CONFIG, "--", RUN)
    record = record_of(reduced / "results" / "demo")
    assert record["steps"] == steps
    assert record["weights_sha256"] == record_of(local)["weights_sha256"]


def one_run(checkout: Path, steps: int) -> None:
    """Reduce the overlay further: one arm, so many steps."""
    overlay = yaml.safe_load((checkout / "reduced.yaml").read_text())
    overlay["native"]["arms"] = ["gblsr_scalar"]
    overlay["native"]["training"] = {"steps": steps, "checkpoint_every": max(1, steps // 10)}
    (checkout / "reduced.yaml").write_text(yaml.safe_dump(overlay))


def record_of(results: Path) -> dict[str, Any]:
    return json.loads(
        (results / "native" / "runs" / "gblsr_scalar" / "seed0" / "run.json").read_text()
    )


def wait_for(path: Path, workflow: subprocess.Popen[str]) -> None:
    for _ in range(1200):
        if path.is_file():
            return
        assert workflow.poll() is None, workflow.communicate()[0][-3000:]
        time.sleep(0.1)
    raise AssertionError(f"{path} did not come")
