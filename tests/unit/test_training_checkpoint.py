"""A state comes back whole, that of another run or a damaged one is not taken for it."""

import logging

import pytest
import torch

from gblsr_repro.errors import UserError
from gblsr_repro.training import checkpoint

IDENTITY = {
    "arm": "a",
    "native.training.learning_rate": 0.1,
    "native.training.betas": [0.9, 0.95],
    "train_sha256": "1a",
    "version": 1,
}


def state(step: int, commit: str | None = "c0ffee", **other: object) -> dict:
    return {
        "identity": IDENTITY | other,
        "step": step,
        "model": {"w": torch.arange(4.0) + step},
        "trained_by": [{"git": {"commit": commit, "modified": False}}],
    }


def in_folder(path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs" / "seed0.pt"


def test_the_newest_state_comes_back(path):
    assert checkpoint.load_state(path, IDENTITY) is None
    for step in (1, 2, 3):
        checkpoint.save_state(path, state(step))
    loaded = checkpoint.load_state(path, IDENTITY)
    assert loaded["step"] == 3
    assert torch.equal(loaded["model"]["w"], torch.arange(4.0) + 3)
    assert in_folder(path) == ["seed0.previous.pt", "seed0.pt"]
    checkpoint.remove_state(path)
    assert in_folder(path) == []


def cut(path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_a_damaged_newest_state_gives_way_to_the_one_before(path, caplog):
    """Damage of every kind: tests/faults."""
    for step in (1, 2):
        checkpoint.save_state(path, state(step))
    cut(path)
    with caplog.at_level(logging.WARNING):
        assert checkpoint.load_state(path, IDENTITY)["step"] == 1
    assert "seed0.pt cannot be read: it is damaged" in caplog.text
    path.unlink()  # as a kill between the two renames leaves it
    assert checkpoint.load_state(path, IDENTITY)["step"] == 1
    cut(checkpoint.get_previous_path(path))
    with pytest.raises(UserError, match="delete it and run again"):
        checkpoint.load_state(path, IDENTITY)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("native.training.learning_rate", 0.2, "native.training.learning_rate was 0.1, is 0.2"),
        ("train_sha256", "1c", "the training images differ"),
        ("version", 2, "version was 1, is 2"),
    ],
)
def test_a_state_of_another_run_gives_way_with_a_warning(path, caplog, name, value, said):
    """And can be named back, to go on from it."""
    for step in (5, 10):
        checkpoint.save_state(path, state(step))
    other = {name: value}
    assert checkpoint.load_state(path, IDENTITY | other) is None
    assert f"seed0.pt is a state of another run, trained at commit c0ffee ({said})" in caplog.text
    assert "step 10" in caplog.text
    assert in_folder(path) == ["seed0.old.pt"]
    checkpoint.save_state(path, state(1, **other))
    assert checkpoint.load_state(path, IDENTITY | other)["step"] == 1
    checkpoint.get_superseded_path(path).replace(path)
    assert checkpoint.load_state(path, IDENTITY)["step"] == 10


def test_of_a_damaged_state_the_one_before_is_what_is_kept(path):
    for step in (5, 10):
        checkpoint.save_state(path, state(step))
    cut(path)
    assert checkpoint.load_state(path, IDENTITY | {"version": 2}) is None
    assert in_folder(path) == ["seed0.old.pt"]
    checkpoint.get_superseded_path(path).replace(path)
    assert checkpoint.load_state(path, IDENTITY)["step"] == 5


def test_back_at_the_run_before_nothing_is_lost(path):
    """Who goes back to the old code but forgets to name the state back is told so."""
    checkpoint.save_state(path, state(30_000))
    other = {"version": 2}
    assert checkpoint.load_state(path, IDENTITY | other) is None
    checkpoint.save_state(path, state(5, commit="decade", **other))
    before = in_folder(path)
    with pytest.raises(UserError, match=r"after step 30000; rename it to seed0\.pt") as raised:
        checkpoint.load_state(path, IDENTITY)
    assert "commit decade (version was 2, is 1)" in str(raised.value)
    assert in_folder(path) == before
    assert checkpoint.load_state(path, IDENTITY | other)["step"] == 5
    cut(checkpoint.get_superseded_path(path))  # then there is nothing to lose
    assert checkpoint.load_state(path, IDENTITY) is None


def test_a_state_of_another_version_is_not_touched(path, caplog):
    checkpoint.save_state(path, state(5))
    content = path.read_bytes()
    path.write_bytes(content.replace(checkpoint.MAGIC, b"gblsr-repro state 3\n"))
    with pytest.raises(UserError, match="delete it and run again"):
        checkpoint.load_state(path, IDENTITY)
    assert "it is not a state of this version of the package" in caplog.text
    assert in_folder(path) == ["seed0.pt"]
