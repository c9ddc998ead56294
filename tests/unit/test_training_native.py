"""Native runs: their files, and a kill at any moment."""

import csv
import json
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from gblsr_repro import config
from gblsr_repro.errors import UserError
from gblsr_repro.files import sha256, write_csv, write_json
from gblsr_repro.models import native
from gblsr_repro.models.base import count_parameters
from gblsr_repro.runs import load_run
from gblsr_repro.training.native import train_run

SMALL = {
    "device": "cpu",
    "threads": 1,
    "native": {
        "model": {"patch": 4, "features": 8, "norm_groups": 2, "modes": 4, "hidden": 8},
        "training": {"steps": 30, "batch_size": 2, "log_every": 4, "checkpoint_every": 3},
    },
}


def make_array(path, images=7, size=16):
    """Write a standardised array of seeded noise with its index and record."""
    rng = np.random.default_rng(0)
    np.save(path, rng.integers(0, 256, (images, size, size, 3), dtype=np.uint8))
    columns = ("position", "dataset", "name", "width", "height", "sha256")
    index = path.with_suffix(".csv")
    write_csv(index, columns, [(i, "noise", f"n{i}", size, size, "0" * 64) for i in range(images)])
    sums = {"sha256": sha256(path), "index_sha256": sha256(index)}
    write_json(path.with_suffix(".json"), {"datasets": [], "images": images} | sums)
    return path


@pytest.fixture
def array(tmp_path):
    return make_array(tmp_path / "train.npy")


@pytest.fixture
def settings():
    return config.merge(config.load(), SMALL)


def run(settings, array, folder, arm="gblsr_scalar", seed=0):
    output, state = folder / "run", folder / "state" / "seed.pt"
    train_run(settings, config.arms()[arm], seed, array, output, state)
    return output


def test_a_run_leaves_weights_log_and_record(settings, array, tmp_path):
    output = run(settings, array, tmp_path)
    record = json.loads((output / "run.json").read_text())
    assert sorted(p.name for p in output.iterdir()) == [
        ".log.csv.sha256",
        "log.csv",
        "run.json",
        "weights.safetensors",
    ]
    assert list((tmp_path / "state").iterdir()) == []
    assert record["weights_sha256"] == sha256(output / "weights.safetensors")
    assert record["data"] == {"train": sha256(array)}
    assert record["config"]["training"] == settings["native"]["training"]
    assert (record["arm"], record["seed"], record["steps"]) == ("gblsr_scalar", 0, 30)
    assert record["steps_per_second"] == pytest.approx(30 / record["wall_seconds"])
    with (output / "log.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["step"]) for row in rows] == [4, 8, 12, 16, 20, 24, 28, 30]
    assert float(rows[-1]["loss"]) < float(rows[0]["loss"])
    model = load_run(output, native.NativeModel, settings)
    assert model.bandwidth() == pytest.approx(float(rows[-1]["bandwidth"]))
    assert record["parameters"] == count_parameters(model)


def test_only_a_global_bandwidth_is_logged(settings, array, tmp_path):
    output = run(settings, array, tmp_path, arm="lte")
    with (output / "log.csv").open(newline="") as stream:
        assert {row["bandwidth"] for row in csv.DictReader(stream)} == {""}


def test_seed_decides_the_weights(settings, array, tmp_path):
    weights = [
        (run(settings, array, tmp_path / name, seed=seed) / "weights.safetensors").read_bytes()
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    ]
    assert weights[0] == weights[1] != weights[2]


def test_too_few_images_is_one_sentence(settings, array, tmp_path):
    large = config.merge(settings, {"native": {"training": {"batch_size": 8}}})
    with pytest.raises(UserError, match="holds 7 images, fewer than one batch of 8"):
        run(large, array, tmp_path)


def command(tmp_path, array, repository):
    overlay = tmp_path / "small.yaml"
    overlay.write_text(json.dumps(SMALL))
    base = repository / "config" / "config.yaml"
    return [
        sys.executable, "-m", "gblsr_repro", "native", "train", "--config", base,
        "--config", overlay,
        "--arm", "gblsr_full", "--seed", "1", "--array", array,
        "--output", tmp_path / "run", "--state", tmp_path / "state" / "seed1.pt",
    ]  # fmt: skip


@pytest.mark.slow
def test_killed_at_random_it_ends_with_the_same_weights(settings, array, tmp_path, repository):
    """SIGKILL as soon as a step chosen at random is saved, again and again, until it finishes."""
    expected = run(settings, array, tmp_path / "whole", arm="gblsr_full", seed=1)
    state = tmp_path / "state" / "seed1.pt"
    rng, kills = random.Random(0), 0
    for _ in range(2):
        process = subprocess.Popen(
            command(tmp_path, array, repository), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        before = state.stat().st_mtime_ns if state.exists() else None
        while process.poll() is None and (not state.exists() or state.stat().st_mtime_ns == before):
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.03))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.communicate()
        if process.returncode == 0:
            break
    finished = subprocess.run(command(tmp_path, array, repository), capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    killed = tmp_path / "run"
    assert json.loads((killed / "run.json").read_text())["resumed"] == kills > 0
    weights = [load_file(folder / "weights.safetensors") for folder in (expected, killed)]
    for name, value in weights[0].items():
        assert torch.equal(value, weights[1][name])
    logs = [(folder / "log.csv").read_text().splitlines() for folder in (expected, killed)]
    without_rate = [[line.rpartition(",")[0] for line in log] for log in logs]
    assert without_rate[0] == without_rate[1]


@pytest.mark.slow
def test_a_scheduler_s_signal_ends_with_status_75(array, tmp_path, repository):
    state = tmp_path / "state" / "seed1.pt"
    process = subprocess.Popen(
        command(tmp_path, array, repository), stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and not state.exists():
        time.sleep(0.001)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate()
    assert process.returncode == 75, errors
    assert "was stopped by SIGTERM after step" in errors.splitlines()[-1]
    assert "Traceback" not in errors


def test_a_compiled_model_trains_to_the_same_weights(settings, array, tmp_path, monkeypatch):
    """By a backend that needs no compiler: that it computes the same is torch's own promise."""
    plain = run(settings, array, tmp_path / "plain")
    compiled = []

    def eager(model):
        compiled.append(model)
        return real(model, backend="eager")

    real = torch.compile
    monkeypatch.setattr(torch, "compile", eager)
    settings["native"]["training"]["compile"] = True
    output = run(settings, array, tmp_path / "compiled")
    assert len(compiled) == 1
    one, other = (load_file(folder / "weights.safetensors") for folder in (plain, output))
    for name, tensor in one.items():
        torch.testing.assert_close(other[name], tensor)
