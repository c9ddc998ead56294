"""Training of super-resolution follows its recipe, and a run that was stopped goes on."""

import os
import signal

import made
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from gblsr_repro import config as configuration
from gblsr_repro import runtime
from gblsr_repro.config import find_method
from gblsr_repro.data.fetch import fetch_dataset
from gblsr_repro.data.superres import PackedImages, Sampler
from gblsr_repro.errors import StopRequested
from gblsr_repro.models.asr.model import ASRModel
from gblsr_repro.training import asr as training
from gblsr_repro.training.asr import build_schedule, compute_absolute_error
from gblsr_repro.training.runs import train_method

RECIPE = {"batch_size": 2, "learning_rate": 1e-3, "halve_at": [0.5]}
TINY = {
    "preset": "demo",
    "asr": {
        "evaluate": {"set5": "demo_set5"},
        "training": {
            "steps": 12,
            "lr_patch": 8,
            "queries": 64,
            "checkpoint_every": 2,
            "log_every": 3,
            "validate_every": 6,
            "validation_images": 1,
            "recipes": {"rdn": RECIPE, "swinir": RECIPE},
        },
    },
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with packed images and the fetched validation set."""
    folder = tmp_path_factory.mktemp("asr")
    coarse = [made.noise(6, 6, 3, seed=i) for i in range(3)]
    blocks = np.ones((8, 8, 1), np.uint8)
    made.packed(folder / "train.npy", [np.kron(image, blocks) for image in coarse])
    fetch_dataset("demo_set5", load(folder))
    return folder


def load(folder):
    overlay = configuration.merge(made.SMALL, TINY) | {"resources": str(folder / "resources")}
    return configuration.merge(configuration.load(), overlay)


def weights_of(folder):
    return load_file(folder / "weights.safetensors")


@pytest.mark.parametrize("method", ["gblsr_asr", "lte_swinir"])
def test_a_run_leaves_weights_log_curve_and_record(place, tmp_path, method):
    config = load(place)
    state = tmp_path / "state.pt"
    (tmp_path / "validation.csv").write_text("step,psnr_y\n2,30\n")  # of another run
    train_method(config, find_method(method), 0, place / "train.npy", tmp_path, state)
    record = made.record(tmp_path / "run.json")
    assert (record["method"], record["seed"], record["steps"]) == (method, 0, 12)
    assert record["precision"] == "default"
    assert record["recipe"]["batch_size"] == 2
    assert record["data"]["train"] == PackedImages.open(place / "train.npy").sha256
    assert record["device"]["type"] == "cpu"
    assert record["git"] == runtime.describe_commit()
    assert record["resumed_by"] == []
    rows = made.rows(tmp_path / "log.csv")
    assert [int(row["step"]) for row in rows] == [3, 6, 9, 12]
    assert (rows[0]["bandwidth"] == "") == (method == "lte_swinir")
    curve = made.rows(tmp_path / "validation.csv")
    assert [int(row["step"]) for row in curve] == [6, 12]
    assert all(float(row["psnr_y"]) > 0 for row in curve)
    assert state.exists()


def test_a_finished_run_is_written_again_without_a_step_as_it_was(place, tmp_path, monkeypatch):
    config, state = load(place), tmp_path / "state.pt"
    first, again = tmp_path / "first", tmp_path / "again"
    train_method(config, find_method("gblsr_asr"), 0, place / "train.npy", first, state)

    def never(*_args):
        raise AssertionError("a step was trained")

    monkeypatch.setattr("gblsr_repro.training.asr.compute_absolute_error", never)
    monkeypatch.setattr(runtime, "describe_commit", lambda: {"commit": "of now"})
    config["asr"]["training"] |= {"log_every": 5, "checkpoint_every": 7}
    train_method(config, find_method("gblsr_asr"), 0, place / "train.npy", again, state)
    told = [made.record(folder / "run.json") for folder in (first, again)]
    for name in ("git", "identity", "weights_sha256", "resumed", "resumed_by"):
        assert told[1][name] == told[0][name]  # of the process that trained it
    assert (again / "log.csv").read_bytes() == (first / "log.csv").read_bytes()
    one, other = weights_of(first), weights_of(again)
    assert one.keys() == other.keys()
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())

    config["asr"]["training"]["recipes"]["rdn"]["learning_rate"] = 1.0
    with pytest.raises(AssertionError, match="a step was trained"):
        train_method(config, find_method("gblsr_asr"), 0, place / "train.npy", again, state)


def test_the_learning_rate_is_halved_at_fractions_of_the_run():
    rate = build_schedule(1_000_000, {"learning_rate": 1e-4, "halve_at": [0.2, 0.4, 0.6, 0.8]})
    steps = [0, 199_999, 200_000, 400_000, 600_000, 799_999, 800_000, 999_999]
    expected = [1, 1, 1 / 2, 1 / 4, 1 / 8, 1 / 8, 1 / 16, 1 / 16]
    assert [rate(step) for step in steps] == pytest.approx([1e-4 * e for e in expected])


def test_the_loss_is_the_mean_absolute_error_of_normalized_colors(place):
    config = load(place)
    sampler = Sampler(PackedImages.open(place / "train.npy"), config["asr"]["training"], 2, 0)
    model = ASRModel.build(find_method("gblsr_asr_nole"), config, 0)
    batch = sampler.build_batch(0)
    with torch.no_grad():
        colors = model(batch.low, batch.sides[:, None].expand(-1, 2), batch.pixels)
        expected = 2 * (colors - batch.colors).abs().mean()  # normalized, they are in [-1, 1]
        torch.testing.assert_close(compute_absolute_error(model, batch), expected)


def test_bf16_runs_the_encoder_in_bfloat16(place):
    config = load(place)
    sampler = Sampler(PackedImages.open(place / "train.npy"), config["asr"]["training"], 2, 0)
    model = ASRModel.build(find_method("gblsr_asr"), config, 0)
    seen = []
    model.encoder.register_forward_hook(lambda _, __, out: seen.append(out.dtype))
    with torch.no_grad():
        values = [
            float(compute_absolute_error(model, sampler.build_batch(0), p))
            for p in ("default", "bf16")
        ]
    assert seen == [torch.float32, torch.bfloat16]
    assert values[0] != values[1]
    assert values[1] == pytest.approx(values[0], rel=0.02)


def test_a_stopped_run_goes_on_to_the_same_weights(place, tmp_path, monkeypatch):
    """SwinIR draws its stochastic depth from torch, so this covers random states as well."""
    arguments = load(place), find_method("lte_swinir"), 1, place / "train.npy"
    whole, broken, state = tmp_path / "whole", tmp_path / "broken", tmp_path / "state.pt"
    train_method(*arguments, whole, tmp_path / "w.pt")
    left = iter(range(4, -1, -1))

    def stopping(*given):
        if not next(left):
            os.kill(os.getpid(), signal.SIGTERM)
        return compute_absolute_error(*given)

    with monkeypatch.context() as patch:
        patch.setattr(training, "compute_absolute_error", stopping)
        with pytest.raises(StopRequested, match="SIGTERM after step 5 of 12"):
            train_method(*arguments, broken, state)
    assert not (broken / "run.json").exists()
    train_method(*arguments, broken, state)
    one, other = weights_of(whole), weights_of(broken)
    assert one.keys() == other.keys()
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())
    assert [made.record(f / "run.json")["resumed"] for f in (whole, broken)] == [0, 1]
    curves = [(f / "validation.csv").read_text() for f in (whole, broken)]
    assert curves[0] == curves[1]
