"""A run whose numbers leave the finite ones ends with one sentence and leaves no weights."""

import pytest
from faulty import unfinished

from gblsr_repro import cli, config


@pytest.mark.parametrize("decay", [1e11, 1e12])
def test_a_training_that_blows_up(small_config, job, tmp_path, capsys, decay):
    _, arm, seed, array, run, state = job(tmp_path)
    training = {"learning_rate": 10.0, "weight_decay": decay}  # as large as settings may be
    alone = {"arms": [arm.arm], "training": training}
    settings = config.merge(small_config, {"native": alone})
    config.write_resolved(settings, tmp_path / "config.yaml")
    command = [
        "native", "train", "--config", tmp_path / "config.yaml", "--arm", arm.arm, "--seed", seed,
        "--array", array, "--output", run, "--state", state,
    ]  # fmt: skip
    assert cli.main([str(word) for word in command]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"gblsr-repro: {arm.arm} seed {seed}: the ")
    assert "is not finite at step" in said
    assert "lower the learning rate" in said
    assert not run.exists()
    assert unfinished(tmp_path) == []
