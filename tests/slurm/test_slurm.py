"""`snakemake --profile slurm` on a real Slurm gives what a local run gives."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from gblsr_repro.files import sha256

pytestmark = pytest.mark.slow

SNAKEMAKE = [sys.executable, "-m", "snakemake"]
CONFIG = ["--configfile", "config/demo.yaml", "reduced.yaml"]


def run(checkout: Path, environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [*SNAKEMAKE, *arguments],
        cwd=checkout,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=420,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


def measured(results: Path) -> pd.DataFrame:
    """The aggregated numbers but the timed ones, which no two runs share."""
    rows = pd.read_csv(results / "aggregates" / "native.csv")
    return rows[rows.metric != "inference_ms"].reset_index(drop=True)


def weights(results: Path) -> dict[str, str]:
    return {str(p.relative_to(results)): sha256(p) for p in results.rglob("weights.safetensors")}


def test_same_results_as_locally(reduced, slurm):
    checkout = reduced
    said = run(checkout, slurm, "--profile", "slurm", "--retries", "1", *CONFIG, "--", "main_kodak")
    submitted = re.findall(r"has been submitted with SLURM jobid (\d+)", said)
    assert len(submitted) >= 6, said[-3000:]
    assert "localrule fetch" in said
    assert "localrule table" in said

    (checkout / "results" / "demo").rename(checkout / "slurm_results")
    run(checkout, dict(os.environ), "--cores", "2", *CONFIG, "--", "main_kodak")
    local = checkout / "results" / "demo"
    assert weights(checkout / "slurm_results") == weights(local) != {}
    pd.testing.assert_frame_equal(measured(checkout / "slurm_results"), measured(local))


def test_a_run_longer_than_the_time_limit_is_finished_by_its_retries(reduced, slurm):
    """With a limit of one minute the job is warned, saves, ends; retries do the remaining steps."""
    checkout = reduced
    overlay = yaml.safe_load((checkout / "reduced.yaml").read_text())
    overlay["native"]["arms"] = ["gblsr_scalar"]
    overlay["native"]["training"] = {"steps": 900, "checkpoint_every": 900}
    (checkout / "reduced.yaml").write_text(yaml.safe_dump(overlay))
    target = "results/demo/native/runs/gblsr_scalar/seed0/run.json"
    said = run(
        checkout,
        slurm,
        "--profile",
        "slurm",
        *CONFIG,
        "--set-resources",
        "train:runtime=1",
        "--",
        target,
    )
    record = json.loads((checkout / target).read_text())
    assert record["steps"] == 900
    assert record["resumed"] >= 1, said[-3000:]
    assert "Trying to restart job" in said

    expected = record["weights_sha256"]
    (checkout / "results" / "demo").rename(checkout / "slurm_results")
    run(checkout, dict(os.environ), "--cores", "2", *CONFIG, "--", target)
    again = json.loads((checkout / target).read_text())
    assert again["resumed"] == 0
    assert again["weights_sha256"] == expected
