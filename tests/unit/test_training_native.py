"""A native run leaves its weights, log and record, which follow from seed and settings."""

import made
import pytest

from gblsr_repro import config
from gblsr_repro.cli import main
from gblsr_repro.errors import StopRequested, UserError
from gblsr_repro.files import compute_sha256
from gblsr_repro.models import native
from gblsr_repro.models.base import count_parameters
from gblsr_repro.runs import load_run
from gblsr_repro.training.runs import train_arm

STEPS = {"steps": 30, "batch_size": 2, "log_every": 4, "checkpoint_every": 3}
SMALL = config.merge(made.SMALL, {"native": {"training": STEPS}})


@pytest.fixture
def array(tmp_path):
    return made.array(tmp_path / "train.npy", made.noise(7, 16, 16, 3))


@pytest.fixture
def settings():
    return config.merge(config.load(), SMALL)


def run(settings, array, folder, arm="gblsr_scalar", seed=0):
    output, state = folder / "run", folder / "state" / "seed.pt"
    train_arm(settings, config.read_arms()[arm], seed, array, output, state)
    return output


def test_a_run_leaves_weights_log_and_record(settings, array, tmp_path):
    without = run(settings, array, tmp_path / "other", arm="lte")  # no one bandwidth to be logged
    assert {row["bandwidth"] for row in made.rows(without / "log.csv")} == {""}
    output = run(settings, array, tmp_path)
    record = made.record(output / "run.json")
    assert sorted(p.name for p in output.iterdir()) == [
        "log.csv",
        "run.json",
        "weights.safetensors",
    ]
    assert list((tmp_path / "state").glob("*.pt")) == []
    assert record["weights_sha256"] == compute_sha256(output / "weights.safetensors")
    assert record["data"] == {"train": compute_sha256(array)}
    assert record["config"]["training"] == settings["native"]["training"]
    assert (record["arm"], record["seed"], record["steps"]) == ("gblsr_scalar", 0, 30)
    assert record["steps_per_second"] == pytest.approx(30 / record["wall_seconds"])
    rows = made.rows(output / "log.csv")
    assert [int(row["step"]) for row in rows] == [4, 8, 12, 16, 20, 24, 28, 30]
    assert float(rows[-1]["loss"]) < float(rows[0]["loss"])
    model = load_run(output, native.NativeModel, settings)
    assert model.get_bandwidth() == pytest.approx(float(rows[-1]["bandwidth"]))
    assert record["parameters"] == count_parameters(model)


def test_only_the_named_arm_takes_a_part_of_the_pixels(settings, array, tmp_path):
    def weights(arm, name):
        return compute_sha256(
            run(settings, array, tmp_path / name, arm=arm) / "weights.safetensors"
        )

    settings["native"]["training"]["steps"] = 3
    before = weights("liif", "a"), weights("gblsr_fixed", "b")
    settings["native"]["training"]["pixels"] = {"liif": 40}
    assert before[0] != weights("liif", "c")
    assert before[1] == weights("gblsr_fixed", "d")
    settings["native"]["training"]["pixels"] = {"liif": 257}
    with pytest.raises(UserError, match=r"pixels\.liif is 257, but an image has 256"):
        run(settings, array, tmp_path / "e", arm="liif")


def test_too_few_images_is_one_sentence(settings, array, tmp_path):
    large = config.merge(settings, {"native": {"training": {"batch_size": 8}}})
    with pytest.raises(UserError, match="holds 7 images, fewer than one batch of 8"):
        run(large, array, tmp_path)


def test_a_signal_ends_the_command_with_status_75(monkeypatch, capsys):
    """As a scheduler asks, which starts the same command again (signals: test_training_loop.py)."""

    def stop(*_):
        raise StopRequested("was stopped by SIGTERM after step 3 of 30")

    monkeypatch.setattr("gblsr_repro.training.runs.train_arm", stop)
    words = ["--arm", "liif", "--seed", "0", "--array", "a.npy", "--output", "b", "--state", "c"]
    assert main(["native", "train", *words]) == 75
    assert capsys.readouterr().err == "gblsr-repro: was stopped by SIGTERM after step 3 of 30\n"
