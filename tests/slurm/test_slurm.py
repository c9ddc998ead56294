"""`snakemake --profile slurm` on a real Slurm gives what a local run gives."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from gblsr_repro.files import compute_sha256

pytestmark = pytest.mark.slow

# As users submit, but for asking sooner whether a job has ended: these take seconds.
SLURM = ["--profile", "slurm", "--slurm-init-seconds-before-status-checks", "1"]
FILES = ["--configfile", "config/demo.yaml", "reduced.yaml"]
SNAKEMAKE = [sys.executable, "-m", "snakemake", *FILES]
SUBMITTED = re.compile(r"has been submitted with SLURM jobid (\d+)")
RUN = "native/runs/gblsr_scalar/seed0/run.json"


def reduce(checkout: Path, steps: int, *arms: str) -> None:
    """Write a reduced demo config beside the checkout's own."""
    training = {"steps": steps, "checkpoint_every": max(1, steps // 10)}
    reduced = {"seeds": [0], "native": {"arms": [*arms], "training": training}}
    (checkout / "reduced.yaml").write_text(yaml.safe_dump(reduced))


def snakemake(checkout: Path, environment: Mapping[str, str], *words: str) -> str:
    done = subprocess.run(
        [*SNAKEMAKE, *words],
        cwd=checkout,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


def test_same_results_as_locally(checkout, slurm):
    reduce(checkout, 12, "gblsr_scalar", "liif")
    locally = ["--cores", "1", "--config", "results=results/local"]
    snakemake(checkout, os.environ, *locally, "--", "main_kodak")
    said = snakemake(checkout, slurm, *SLURM, "--retries", "1", "--", "main_kodak", "frontier")
    assert len(SUBMITTED.findall(said)) >= 6, said[-3000:]
    for rule in ("fetch", "aggregate_native", "show_native"):
        assert f"localrule {rule}" in said
    local, results = checkout / "results" / "local", checkout / "results" / "demo"
    assert (results / "figures" / "frontier.png").is_file()
    for arm in ("gblsr_scalar", "liif"):
        weights = Path("native", "runs", arm, "seed0", "weights.safetensors")
        assert compute_sha256(results / weights) == compute_sha256(local / weights)


def test_a_run_longer_than_the_time_limit_is_finished_by_its_retries(checkout, slurm):
    """With a limit of two minutes the job is warned, saves, ends; a retry does the remaining steps.

    Slurm warns up to half a minute earlier than it is told to, so the profile's two minutes would
    leave no time at all, and a limit of one minute none on a machine where Python starts slowly.
    The run lasts so long that a machine which becomes faster after its steps were timed meets the
    limit too.
    """
    reduce(checkout, 200, "gblsr_scalar")
    locally = ["--cores", "1", "--config", "results=results/local"]
    snakemake(checkout, os.environ, *locally, "--", f"results/local/{RUN}")
    seconds = json.loads((checkout / "results/local" / RUN).read_text())["wall_seconds"]
    steps = round(110 * 200 / seconds)
    reduce(checkout, steps, "gblsr_scalar")
    limits = ["train:runtime=2", "train:slurm_extra='--signal=TERM@20'"]
    target = f"results/demo/{RUN}"
    said = snakemake(checkout, slurm, *SLURM, "--set-resources", *limits, "--", target)
    record = json.loads((checkout / target).read_text())
    assert record["steps"] == steps
    assert record["resumed"] >= 1, said[-3000:]
    assert "Trying to restart job" in said


def test_a_killed_submitter_loses_nothing(checkout, slurm):
    """Its jobs go on without it; the same command, after --unlock, takes what they made."""
    reduce(checkout, 400, "gblsr_scalar")
    target = f"results/demo/{RUN}"
    submitter = subprocess.Popen([*SNAKEMAKE, *SLURM, "--", target], cwd=checkout, env=slurm)
    state = checkout / "results/demo/native/state/gblsr_scalar/seed0.pt"
    while not state.is_file():
        assert submitter.poll() is None
        time.sleep(0.1)
    submitter.kill()
    submitter.wait()
    snakemake(checkout, slurm, *SLURM, "--unlock", "--", target)
    snakemake(checkout, slurm, *SLURM, "--", target)
    assert json.loads((checkout / target).read_text())["steps"] == 400
