"""What a change costs: how many files are touched, tests aside, until it takes effect."""

import re
import shutil

import made
import numpy as np
import pages
import pytest
from planning import run

from gblsr_repro import config

pytestmark = pytest.mark.slow

PACKAGE = "src/gblsr_repro"


def test_a_metric_is_three_files_and_retrains_nothing(finished, tmp_path):
    """CONTRIBUTING.md's example, from the formula over scores and aggregate to table and page."""
    page = (finished.folder / "CONTRIBUTING.md").read_text()
    formula = next(b.text for b in pages.read_blocks(page) if b.language == "python")
    finished.edit(f"{PACKAGE}/evaluation/metrics.py", "", f"\n\n{formula}")
    row = re.search(r'`(Metric\("mae".*?\)\))`', page)[1]
    finished.edit(f"{PACKAGE}/analysis/metrics.py", ")\nSUPERRES", f"    {row},\n)\nSUPERRES")
    rule = '"evaluate": Rule(("native.metrics",), version='
    finished.edit(f"{PACKAGE}/dependencies/rules.py", f"{rule}1", f"{rule}2")
    assert len(finished.edited) == 3
    jobs = finished.planned()
    assert not {"train", "asr_train_run"} & {rule for rule, _ in jobs}
    steps = {("evaluate", "gblsr_scalar"), ("aggregate_native", ""), ("show_native", "")}
    assert {*steps, ("claims", ""), ("report", "")} <= jobs

    data = {"image_size": 64, "evaluate": {"set14": None, "urban100": None}}
    data["exemplars"] = {"kodak": "kodak_0"}
    settings = {"results": str(tmp_path), "native": {"arms": ["gblsr_scalar"], "data": data}}
    loaded = config.load([finished.folder / name for name in finished.overlay(**settings)])
    for name in ("kodak", "validation"):
        made.array(tmp_path / f"{name}.npy", made.noise(2, 64, 64, 3))
    run = made.run(tmp_path / "native/runs/gblsr_scalar/seed0", "gblsr_scalar", loaded)
    scores = tmp_path / "native/metrics/gblsr_scalar/seed0"
    claims = tmp_path / "claims.csv"
    words = ["--arm", "gblsr_scalar", "--seed", 0, "--run", run, "--arrays", tmp_path]
    for step in (
        ["native", "regions", "--array", tmp_path / "validation.npy", "--output",
         tmp_path / "validation_regions.json"],
        ["native", "evaluate", *words, "--output", scores, "--state", tmp_path / "state"],
        ["aggregate", "native"],
        ["items", "--only", "main_kodak", "per_dataset", "measured_vs_published"],
        ["claims"],
        ["report", "--claims", claims, "--output", tmp_path / "report.html"],
    ):  # fmt: skip
        finished.command(*step, **settings)
    mean = np.mean([float(row["mae"]) for row in made.rows(scores / "kodak.csv")])
    assert 0.2 < mean < 0.5  # of noise and what untrained weights show
    for name in ("tables/main_kodak.tex", "tables/main_kodak_vs_paper.tex", "report.html"):
        text = (tmp_path / name).read_text()
        assert "MAE" in text
        assert f"{mean:.4f}" in text
    assert not [row["id"] for row in made.rows(claims) if "mae" in row["id"]]  # the paper has none


def test_a_claim_is_two_lines(finished, tmp_path):
    """CONTRIBUTING.md's example: a row of the paper's claims, and what measures it."""
    page = (finished.folder / "CONTRIBUTING.md").read_text()
    row = re.search(r"```tsv\n(.*\n)```", page)[1]
    measure = re.search(r"```python\n(\"control_beaten.*\n)```", page)[1]
    finished.edit("config/paper/claims.tsv", "", row)
    start = "ARMS_COMPARED: Measures = {\n"
    finished.edit(f"{PACKAGE}/analysis/claims/native.py", start, f"{start}    {measure}")
    assert len(finished.edited) == 2
    aggregates = shutil.copytree(finished.folder / "config" / "paper", tmp_path / "aggregates")
    words = ["--aggregates", aggregates, "--output", tmp_path]
    run(finished.folder, "gblsr_repro", "claims", *words)
    judged = {claim["id"]: claim for claim in made.rows(tmp_path / "claims.csv")}
    assert judged["control_beaten"]["measured"] == "5.73"  # 18.793 - 13.059, the least of three
