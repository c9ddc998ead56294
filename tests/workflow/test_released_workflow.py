"""The workflow on released weights: imported instead of trained, scored, judged, and said so."""

import re

import made
import published_weights as published
import pytest
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
    snakemake("asr_eval", configfile=overlay)
    results = tmp_path / "results"
    assert {path.stem for path in (results / "sources").iterdir()} == {"demo_set5"}
    assert not (results / "asr" / "arrays").exists()
    record = made.record(results / "asr/runs/liif_rdn/seed0/run.json")
    assert record["released"]["by"] == "others"
    (row,) = made.rows(results / "asr/metrics/liif_rdn/seed0/demo_set5_x2.csv")
    assert float(row["psnr_y"]) > 0
    (run,) = made.rows(results / "aggregates/asr_runs.csv")
    assert (run["wall_seconds"], run["released_by"]) == ("", "others")
    assert "LIIF-RDN" in (results / "tables/asr_quality_x2_x3_x4_main_vs_paper.tex").read_text()
    assert not (results / "tables/compute_asr.tex").exists()
    assert SAID in (results / "asr/report.html").read_text()
    assert "different conditions" in (results / "asr/claims.csv").read_text()  # stand-in for Set5

    # All is made; a file that is another is imported again, and what it scored is measured again.
    assert "Nothing to be done" in plan("asr_eval", configfile=overlay)
    content = yaml.safe_load(overlay.read_text())
    settings = configuration.validate(configuration.merge(configuration.load(), content))
    other = published.weights("liif_rdn", settings, seed=1).theirs
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


@pytest.fixture
def name_weights(overlay, tmp_path):
    """Name weights of a row as those of GB-LSR-Scalar; return their file and the settings."""

    def name(row):
        content = yaml.safe_load(overlay.read_text())
        settings = configuration.validate(configuration.merge(configuration.load(), content))
        weights = published.weights(row, settings).theirs
        path = published.write_checkpoint(tmp_path / "weights.pt", row, weights)
        content["released"] = {"gblsr_scalar": str(path)}
        overlay.write_text(yaml.safe_dump(content))
        return path, settings

    return name


def test_an_earlier_run_stays_where_the_import_of_a_wrong_file_fails(
    snakemake, overlay, name_weights, tmp_path
):
    name_weights("gblsr_scalar")
    run = tmp_path / "results/native/runs/gblsr_scalar/seed0"
    snakemake(run / "run.json", configfile=overlay)
    files = {file: file.read_bytes() for file in run.iterdir()}
    name_weights("gblsr_full")
    snakemake(run / "run.json", configfile=overlay, fails=True)
    (log,) = (tmp_path / "results/logs/import").glob("gblsr_scalar_seed0.log")
    assert "does not hold the weights of gblsr_scalar" in log.read_text()
    assert {file: file.read_bytes() for file in run.iterdir()} == files


@pytest.mark.parametrize("missing", [False, True])
def test_a_trained_run_and_a_missing_file_are_refused_while_planning(
    missing, snakemake, overlay, name_weights, tmp_path
):
    path, settings = name_weights("gblsr_scalar")
    run = tmp_path / "results/native/runs/gblsr_scalar/seed0"
    words = "holds a trained run, which an import would replace; name another folder"
    if missing:
        path.unlink()
        words = "weights.pt is no file of weights and no folder with one"
    else:
        made.run(run, "gblsr_scalar", settings)
    files = {file: file.read_bytes() for file in run.glob("*")}
    said = snakemake(run / "run.json", configfile=overlay, fails=True)
    assert [words in line for line in said.splitlines()].count(True) == 1, said
    assert "Traceback" not in said
    assert {file: file.read_bytes() for file in run.glob("*")} == files


def test_the_shipped_overlay_plans_imports_and_fetches_no_training_set(plan):
    said = plan("asr_eval", configfile="config/released.yaml")
    rules = {rule for rule, _ in list_jobs(said)}
    assert {"import_method", "asr_evaluate", "asr_claims", "asr_report"} <= rules
    assert not {"asr_train_run", "asr_standardize", "asr_latency", "train"} & rules
    fetched = set(re.findall(r"sources/(\w+)\.csv\n +log", said))
    assert fetched == {"set5", "set14", "b100", "urban100", "div2k_valid"}
