"""States: damage, other runs, random generators, signals."""

import logging
import os
import random

import numpy as np
import pytest
import torch

from gblsr_repro.errors import UserError
from gblsr_repro.training import checkpoint

IDENTITY = {"arm": "a", "training": {"learning_rate": 0.1, "betas": [0.9, 0.95]}}


def state(step: int) -> dict:
    return {"identity": IDENTITY, "step": step, "model": {"w": torch.arange(4.0) + step}}


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
    assert sorted(p.name for p in path.parent.iterdir()) == ["seed0.previous.pt", "seed0.pt"]
    checkpoint.remove_state(path)
    assert list(path.parent.iterdir()) == []


def cut(path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_a_damaged_newest_state_gives_way_to_the_one_before(path, caplog):
    """Damage of every kind: tests/faults."""
    for step in (1, 2):
        checkpoint.save_state(path, state(step))
    cut(path)
    with caplog.at_level(logging.WARNING):
        assert checkpoint.load_state(path, IDENTITY)["step"] == 1
    assert "seed0.pt is damaged" in caplog.text
    path.unlink()  # as a kill between the two renames leaves it
    assert checkpoint.load_state(path, IDENTITY)["step"] == 1
    cut(checkpoint.previous(path))
    with pytest.raises(UserError, match="delete it and run again"):
        checkpoint.load_state(path, IDENTITY)


def test_states_of_other_settings_are_set_aside_until_their_run_is_asked_for_again(path, caplog):
    for step in (5, 10):
        checkpoint.save_state(path, state(step))
    others = [
        {"arm": "a", "training": {"learning_rate": rate, "betas": [0.9, 0.95]}}
        for rate in (0.2, 0.3)
    ]
    for other in others:
        assert checkpoint.load_state(path, other) is None
        assert not path.exists()
        checkpoint.save_state(path, state(1) | {"identity": other})
    assert "training.learning_rate was 0.1, is 0.2" in caplog.text
    assert checkpoint.load_state(path, IDENTITY)["step"] == 10
    cut(path)
    assert checkpoint.load_state(path, IDENTITY)["step"] == 5
    assert checkpoint.load_state(path, others[0])["step"] == 1


def test_a_state_can_hold_no_code(path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(path.parent / "sprung"),)

    checkpoint.save_state(path, {"identity": Trap()})
    with pytest.raises(UserError, match="damaged"):
        checkpoint.load_state(path, IDENTITY)
    assert not (path.parent / "sprung").exists()


def draw() -> list[float]:
    generators = (random.random, np.random.rand, np.random.randn, lambda: torch.rand(1).item())
    return [float(generator()) for generator in generators]


def test_all_generators_go_on_where_they_were(path):
    np.random.randn()  # leaves a second normal number waiting
    checkpoint.save_state(path, {"identity": IDENTITY, "random": checkpoint.random_state()})
    expected = [draw() for _ in range(3)]
    checkpoint.restore_random_state(checkpoint.load_state(path, IDENTITY)["random"])
    assert [draw() for _ in range(3)] == expected
