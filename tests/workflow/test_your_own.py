"""The recipes of docs/your-own.md, carried out as they stand there, at demo size with few steps."""

import csv
import re

import pytest
import yaml
import your_own
from planning import run

pytestmark = pytest.mark.slow

STEPS = {"steps": 4, "checkpoint_every": 2}
FEW = {
    "results": "results/mine",
    "native": {"training": STEPS | {"batch_size": 1}},
    "asr": {"scales": [2], "trained_scales": [2], "training": STEPS | {"validate_every": 4}},
}


def test_an_arm_a_method_and_data_sets(checkout):
    """That they are trained again after an edit: test_reruns.py."""
    your_own.follow(checkout)
    (checkout / "few.yaml").write_text(yaml.safe_dump(FEW))
    checked = run(checkout, "gblsr_repro", "check", "--config", "flat.yaml")
    printed = re.search(r"```text\n(.*?)```", your_own.PAGE, re.DOTALL)[1]
    assert checked == printed
    for dataset in your_own.IMAGES:
        run(checkout, "gblsr_repro", "fetch", dataset)
    overlays = ["flat.yaml", "blend.yaml", "photos_alone.yaml", "textures.yaml", "few.yaml"]
    files = ["--cores", 2, "--configfile", "config/demo.yaml", *overlays]
    targets = ["main_mine", "fairness", "per_dataset", "qualitative", "asr_quality_x2_x3_x4_main"]
    run(checkout, "snakemake", *files, "--", *targets)

    results = checkout / "results" / "mine"
    tables, figures = results / "tables", results / "figures"
    main = (tables / "main_mine.tex").read_text()
    assert "My photos" in main
    assert re.search(r"Flat & (\\textbf\{)?\d+\.\d{3}", main), main
    assert "GB-LSR-Scalar" in main
    assert r"28{,}931" in (tables / "fairness.tex").read_text()
    quality = (tables / "asr_quality_x2_x3_x4_main.tex").read_text()
    assert re.search(r"Blend-RDN & (\\textbf\{)?\d+\.\d\d", quality), quality
    assert (figures / "per_dataset.png").is_file()
    assert (figures / "qualitative.png").is_file()
    with (results / "native/arrays/train.csv").open() as index:
        trained = {row["dataset"] for row in csv.DictReader(index)}
    assert trained == {"my_textures"}
