"""Every target can be asked for, listed, and planned without running or touching anything."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gblsr_repro import config

ITEMS = config.items()
TARGETS = ["all", "native", "asr", "asr_train", "asr_eval", "asr_timing", *ITEMS]


def listed_targets(repository: Path) -> dict[str, str]:
    shown = subprocess.run(
        [sys.executable, "-m", "snakemake", "--list-target-rules"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return dict(line.partition(" ")[::2] for line in shown.splitlines() if line.strip())


def test_every_target_is_listed_with_what_it_makes(repository):
    listed = listed_targets(repository)
    assert set(TARGETS) <= set(listed)
    assert all(text.startswith("(") and len(text) > 12 for text in listed.values()), listed


def test_the_listing_names_the_paper_item(repository):
    assert "Table 1:" in listed_targets(repository)["main_kodak"]


@pytest.mark.parametrize("target", ["all", "main_kodak", "cov_hist", "asr_latency_main"])
def test_dry_run_from_nothing(snakemake, tmp_path, target):
    done = snakemake("--dry-run", "--cores", "1", target)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "results").exists()
    assert not (tmp_path / "resources").exists()


def test_no_target_means_all(snakemake):
    done = snakemake("--dry-run", "--cores", "1")
    assert done.returncode == 0, done.stderr
    assert "Nothing to be done" not in done.stdout + done.stderr
    assert "rule report" in done.stdout


def test_all_targets_dry_run_together(snakemake):
    files = [
        f"{{results}}/{item.kind}s/{name}.{'tex' if item.kind == 'table' else 'png'}"
        for name, item in ITEMS.items()
    ]
    assert files
    done = snakemake("--dry-run", "--cores", "1", *TARGETS)
    assert done.returncode == 0, done.stderr


def test_dry_run_from_a_subfolder(snakemake, repository):
    done = snakemake("--dry-run", "--cores", "1", "main_kodak", cwd=repository / "src")
    assert done.returncode == 0, done.stderr


def test_a_single_table_needs_only_its_own_arms(snakemake):
    planned = snakemake("--dry-run", "--cores", "1", "main_kodak").stdout
    assert "arm=gblsr_scalar" in planned
    assert "gblsr_full_linear" not in planned
    assert "asr_train" not in planned


def test_parameters_are_counted_without_training(snakemake):
    planned = snakemake("--dry-run", "--cores", "1", "fairness", "fairness_vs_paper").stdout
    assert "rule tables_of_budget:" in planned
    assert not set(re.findall(r"^rule (\w+):", planned, re.M)) & {"train", "fetch", "check"}


def test_readings_plan_a_run_of_every_reading(snakemake):
    overlay = "config/readings.yaml"
    done = snakemake("--dry-run", "--cores", "1", "readings", configfile=overlay)
    trained = set(re.findall(r"rule train:.*?arm=(\w+)", done.stdout, re.S))
    assert {"liif", "liif_near", "lte", "lte_summed", "wire", "wire_nearest"} <= trained
    assert "gblsr_full" not in trained


def test_snakemakes_own_report_has_captions(snakemake, tmp_path):
    made = snakemake("--cores", "1", "licenses")
    assert made.returncode == 0, made.stderr
    page = tmp_path / "report.html"
    done = snakemake("--cores", "1", "--report", str(page), "licenses")
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    assert "Table 18: Licences and terms of data and code" in text
    assert "Native benchmark" in text
