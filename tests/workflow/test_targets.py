"""Every target can be asked for, listed, and planned without running or touching anything."""

import re
import subprocess
import sys

import pytest
import yaml

from gblsr_repro import config

TARGETS = {"all", "claims", "claims_page", "report", "readings",
           "native", "native_report", "native_timing",
           "asr", "asr_train", "asr_eval", "asr_timing", "bicubic",
           *config.read_items()}  # fmt: skip
# Stages of one job, listed too: no wildcard stands in what they make.
SINGLE_STAGES = {"regions", "exemplars", "asr_standardize"}
# What a cluster's nodes are given to do, and what of it takes a GPU.
ON_DEVICE = {"train", "evaluate", "evaluate_validation", "exemplars", "latency", "fields",
             "asr_train_run", "asr_evaluate", "asr_latency"}  # fmt: skip
SCHEDULED = ON_DEVICE | {"standardize", "regions", "asr_standardize", "asr_bicubic"}


def test_every_target_is_listed_with_what_it_makes(repository):
    command = [sys.executable, "-m", "snakemake", "--list-target-rules"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True)
    listed = dict(line.partition(" ")[::2] for line in done.stdout.splitlines() if line.strip())
    assert set(listed) == TARGETS | SINGLE_STAGES
    assert all(text.startswith("(") and len(text) > 12 for text in listed.values()), listed


def test_no_target_means_all_whose_jobs_say_what_they_need(snakemake, tmp_path):
    done = snakemake("--dry-run", "--cores", "1", device="auto")
    assert done.returncode == 0, done.stderr
    assert not {"results", "resources"} & {path.name for path in tmp_path.iterdir()}
    blocks = dict(re.findall(r"^rule (\w+):\n((?: +.*\n)*)", done.stdout, re.M))
    for facts in (r"runtime=\d", r"mem_mb=\d"):
        assert {rule for rule, said in blocks.items() if re.search(facts, said)} == SCHEDULED
    assert {rule for rule, said in blocks.items() if "gpu=1" in said} == ON_DEVICE
    assert "rule report" in done.stdout


def test_jobs_write_to_their_logs_alone(snakemake):
    """Lines of theirs on a terminal would break the table of jobs that the logger draws there."""
    planned = snakemake("--dry-run", "--printshellcmds", "--cores", "1").stdout
    commands = re.findall(r"^Shell command: (python .*)$", planned, re.M)
    assert len(commands) > 100
    assert all(re.search(r" > \S+/logs/\S+ 2>&1$", command) for command in commands), commands


def test_a_single_table_needs_only_its_own_arms(snakemake):
    planned = snakemake("--dry-run", "--cores", "1", "main_kodak").stdout
    assert "arm=gblsr_scalar" in planned
    assert "gblsr_full_linear" not in planned
    assert "asr_train" not in planned


@pytest.mark.parametrize(
    ("target", "trained", "timed"),
    [
        ("asr_eval", "asr_train_run", None),
        ("asr_pareto_main", "asr_train_run", "asr_latency"),
        ("asr_timing", None, "asr_latency"),
        ("native_timing", None, "latency"),
    ],
)
def test_quality_needs_no_timing_and_timing_no_training(snakemake, target, trained, timed):
    planned = snakemake("--dry-run", "--cores", "1", target).stdout
    rules = set(re.findall(r"^rule (\w+):", planned, re.M))
    jobs = {"train", "asr_train_run", "latency", "asr_latency"}
    assert rules & jobs == {trained, timed} - {None}


def test_parameters_are_counted_without_training(snakemake):
    planned = snakemake("--dry-run", "--cores", "1", "fairness").stdout
    assert "rule compared_table:" in planned
    assert not set(re.findall(r"^rule (\w+):", planned, re.M)) & {"train", "fetch", "check"}


def test_readings_plan_a_run_of_every_reading(snakemake):
    overlay = "config/readings.yaml"
    done = snakemake("--dry-run", "--cores", "1", "readings", configfile=overlay)
    trained = set(re.findall(r"rule train:.*?arm=(\w+)", done.stdout, re.S))
    assert {"liif", "liif_near", "lte", "lte_summed", "wire", "wire_nearest"} <= trained
    assert "gblsr_full" not in trained


def test_a_single_figure_is_drawn_alone(snakemake):
    planned = snakemake("--dry-run", "--cores", "1", "frontier").stdout
    assert re.findall(r"^rule figure:\n(?: +.*\n)*? +wildcards: (.*)\n", planned, re.M) == [
        "item=frontier"
    ]
    assert not set(re.findall(r"^rule (\w+):", planned, re.M)) & {"exemplars", "table", "fields"}


def test_snakemakes_own_report_has_captions(snakemake, tmp_path):
    targets = ["licenses", "fairness"]
    made = snakemake("--cores", "1", *targets)
    assert made.returncode == 0, made.stderr
    page = tmp_path / "report.html"
    done = snakemake("--cores", "1", "--report", str(page), *targets)
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    for label in (
        "Native benchmark",
        "Table 18: Licences and terms of data and code",
        "Table 8: Parameter budget of every arm (F1)",
        "Table 8: Parameter budget of every arm (F1), beside the paper's values",
    ):
        assert f'"{label}"' in text


@pytest.mark.parametrize(
    ("overlay", "sentence"),
    [
        ({"native": {"training": {"stpes": 3}}}, "unknown setting 'stpes' at native.training; did"),
        ({"native": {"data": {"train": ["nothing_known"]}}}, "nothing_known"),
        ({"mirror": "/nowhere"}, "The mirror folder /nowhere does not exist; correct `mirror` in"),
        ("threads: 1\nthreads: 2\n", "overlay.yaml cannot be read at line 2, column 1: the key"),
    ],
)
def test_a_mistake_in_the_config_is_one_sentence_before_anything_runs(
    snakemake, tmp_path, overlay, sentence
):
    """All others: tests/unit/test_config.py."""
    path = tmp_path / "overlay.yaml"
    path.write_text(overlay if isinstance(overlay, str) else yaml.safe_dump(overlay))
    done = snakemake("--dry-run", "--cores", "1", "native", configfile=str(path))
    assert done.returncode != 0
    assert sentence in done.stderr, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()
