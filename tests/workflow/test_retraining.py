"""When a finished super-resolution run is trained again, and when it is not."""

import pytest
import yaml

RUN = "asr/runs/gblsr_asr_nole/seed0/weights.safetensors"
KEPT = [
    {"training": {"log_every": 7, "checkpoint_every": 9, "validate_every": 11}},
    {"training": {"recipes": {"swinir": {"learning_rate": 0.5}}}},
    {"model": {"swinir_drop_path": 0.5}},
]
TRAINED = [
    {"training": {"steps": 50}},
    {"training": {"recipes": {"rdn": {"learning_rate": 0.5}}}},
    {"model": {"rdn_features": 8}},
]


@pytest.mark.slow
def test_a_finished_run_is_trained_again_only_for_what_it_follows_from(snakemake, tmp_path):
    target = str(tmp_path / "results" / RUN)
    overlay = tmp_path / "overlay.yaml"

    def run(changed, *arguments):
        overlay.write_text(yaml.safe_dump({"asr": changed}))
        files = ["--configfile", "config/demo.yaml", str(overlay)]
        done = snakemake(*files, "--cores", "2", *arguments, target)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "GPU-hours" in run({})
    for changed in ({}, *KEPT):
        assert "rule asr_train_run" not in run(changed, "--dry-run"), changed
    for changed in TRAINED:
        assert "rule asr_train_run" in run(changed, "--dry-run"), changed
