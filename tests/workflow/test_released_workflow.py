"""The workflow on released weights: imported instead of trained, scored, judged, and said so."""

import os
import re

import made
import numpy as np
import published_weights as published
import pytest
import torch
import yaml
from planning import list_jobs

from gblsr_repro import config as configuration

pytestmark = pytest.mark.slow

SAID = "scores of released weights, not their training"
OVERLAY = {
    "preset": "released",
    "native": {"arms": ["gblsr_scalar"]},
    "asr": {
        "methods": ["liif_rdn"],
        "evaluate": dict.fromkeys(("set14", "b100", "urban100", "div2kval")),
        "shave_extra": {"div2kval": 0},
        "timing": {"datasets": ["set5"]},
        "scales": [2, 4],
    },
}


@pytest.fixture
def overlay(repository, tmp_path):
    """An overlay over the demo's sizes that names the folder with a file."""
    demo = configuration.merge(configuration.read_yaml(repository / "config/demo.yaml"), OVERLAY)
    settings = configuration.merge(configuration.load(), demo)
    settings = configuration.validate(settings)
    weights = published.weights("liif_rdn", settings).theirs
    file = published.write_checkpoint(tmp_path / "liif" / "rdn.pth", "liif_rdn", weights)
    path = tmp_path / "overlay.yaml"
    named = {"released": {"liif_rdn": str(file.parent)}}
    path.write_text(yaml.safe_dump(configuration.merge(demo, named)))
    return path


def test_what_is_named_is_imported_and_scored_without_training(snakemake, plan, overlay, tmp_path):
    done = snakemake("asr_eval", configfile=overlay)
    assert done.status == 0, done.said[-3000:]
    results, resources = tmp_path / "results", tmp_path / "resources"
    assert {path.stem for path in (results / "sources").iterdir()} == {"demo_set5"}
    assert not (results / "asr" / "arrays").exists()
    record = made.record(results / "asr/runs/liif_rdn/seed0/run.json")
    assert record["released"]["by"] == "the authors of LIIF"
    (row,) = made.rows(results / "asr/metrics/liif_rdn/seed0/demo_set5_x2.csv")
    assert float(row["psnr_y"]) > 0
    (run,) = made.rows(results / "aggregates/asr_runs.csv")
    assert (run["wall_seconds"], run["released_by"]) == ("", "the authors of LIIF")
    table = (results / "tables/asr_quality_x2_x3_x4_main_vs_paper.tex").read_text()
    assert "LIIF-RDN" in table
    assert "conditions" in table  # said once, on the page
    assert not (results / "tables/compute_asr.tex").exists()
    page = (results / "asr/report.html").read_text()
    assert page.count(SAID) == 1
    assert "Scores of released weights." in page
    assert "No training run is aggregated yet." in page
    claims = (results / "asr/claims.md").read_text()
    assert "different conditions" in claims  # a stand-in for Set5
    assert resources.is_dir()

    # All is made; a file that is another is imported again, and what it scored is measured again.
    assert "Nothing to be done" in plan("asr_eval", configfile=overlay)
    content = yaml.safe_load(overlay.read_text())
    other = published.weights("liif_rdn", select_class_settings(overlay), seed=1).theirs
    published.write_checkpoint(tmp_path / "liif" / "rdn.pth", "liif_rdn", other)
    jobs = list_jobs(plan("asr_eval", configfile=overlay))
    assert {subject for rule, subject in jobs if rule == "import_method"} == {"liif_rdn"}
    assert {"asr_evaluate", "asr_claims"} <= {rule for rule, _ in jobs}

    # Without the name it is trained: the imported run is no run of this training.
    del content["released"]["liif_rdn"]
    overlay.write_text(yaml.safe_dump(content))
    rules = {rule for rule, _ in list_jobs(plan("asr_eval", configfile=overlay))}
    assert {"asr_train_run", "asr_standardize", "fetch"} <= rules
    assert "import_method" not in rules


def select_class_settings(overlay):
    loaded = configuration.merge(configuration.load(), yaml.safe_load(overlay.read_text()))
    return configuration.validate(loaded)


RUN = ("run.json", "log.csv", "weights.safetensors")


def write_page(path, settings):
    path.write_text("<!DOCTYPE html><html>Sign in to download</html>")


def write_other_row(path, settings):
    published.write_checkpoint(path, "gblsr_full", published.weights("gblsr_full", settings).theirs)


def write_other_seed(path, settings):
    torch.save(
        {"state_dict": published.weights("gblsr_scalar", settings).theirs, "seed": np.int64(7)},
        path,
    )


WRONG = {
    "no file": (lambda path, settings: None, "does not exist; name a file of weights"),
    "a page": (write_page, "is a page of HTML, not the weights"),
    "another row": (write_other_row, "it fits gblsr_full."),
    "another seed": (write_other_seed, "says seed = 7, not 0; import it with --seed 7"),
}


@pytest.fixture
def trained(overlay, tmp_path):
    """The overlay without imports, its settings, and a trained run of each benchmark."""
    content = yaml.safe_load(overlay.read_text()) | {"released": {}}
    settings = configuration.validate(configuration.merge(configuration.load(), content))
    runs = {}
    for name, part in (("gblsr_scalar", "native"), ("gblsr_asr", "asr")):
        run = made.run(tmp_path / "results" / part / "runs" / name / "seed0", name, settings)
        (run / "log.csv").touch()
        runs[name] = {run / file: (run / file).read_bytes() for file in RUN}
        for file in runs[name]:
            os.utime(file, (1, 1))  # older than the weights to import, so that these are taken
    return content, settings, runs


@pytest.mark.parametrize("kind", WRONG)
def test_what_cannot_be_imported_is_refused_while_planning(
    kind, trained, snakemake, overlay, tmp_path
):
    """So nothing of a finished run is removed for it."""
    content, settings, runs = trained
    write, words = WRONG[kind]
    write(tmp_path / "wrong.pt", settings)
    content["released"] = {"gblsr_scalar": str(tmp_path / "wrong.pt")}
    overlay.write_text(yaml.safe_dump(content))
    files = runs["gblsr_scalar"]
    done = snakemake(next(iter(files)), configfile=overlay)
    assert done.status != 0
    assert [words in line for line in done.said.splitlines()].count(True) == 1, done.said
    assert "Traceback" not in done.said
    assert "rule import_arm" not in done.said
    assert {file: file.read_bytes() for file in files} == files


def test_an_import_takes_no_place_of_a_trained_run(trained, snakemake, overlay, tmp_path):
    content, settings, runs = trained
    path = tmp_path / "right.pt"
    published.write_checkpoint(
        path, "gblsr_scalar", published.weights("gblsr_scalar", settings).theirs
    )
    content["released"] = {"gblsr_scalar": str(path)}
    overlay.write_text(yaml.safe_dump(content))
    files = runs["gblsr_scalar"]
    done = snakemake(next(iter(files)), configfile=overlay)
    assert done.status != 0
    assert "holds a trained run, which an import would replace; name another folder" in done.said
    assert {file: file.read_bytes() for file in files} == files


def test_a_file_that_is_not_there_is_one_sentence_before_anything_runs(snakemake, overlay):
    content = yaml.safe_load(overlay.read_text())
    content["released"]["liif_rdn"] = "elsewhere/rdn-liif.pth"
    overlay.write_text(yaml.safe_dump(content))
    done = snakemake("asr_eval", configfile=overlay)
    assert done.status != 0
    assert "elsewhere/rdn-liif.pth does not exist; name a file of weights" in done.said
    assert "Traceback" not in done.said


def test_the_shipped_overlay_plans_imports_and_fetches_no_training_set(plan):
    said = plan("asr_eval", configfile="config/released.yaml")
    rules = {rule for rule, _ in list_jobs(said)}
    assert {"import_method", "asr_evaluate", "asr_claims", "asr_report"} <= rules
    assert not {"asr_train_run", "asr_standardize", "asr_latency", "train"} & rules
    fetched = set(re.findall(r"sources/(\w+)\.csv\n +log", said))
    assert fetched == {"set5", "set14", "b100", "urban100", "div2k_valid"}
