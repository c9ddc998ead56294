"""A run whose numbers leave the finite ones ends with one sentence and leaves no weights."""

import pytest
from faulty import unfinished

from gblsr_repro import cli, config


@pytest.mark.parametrize("rate", [1e30, 3e38])
def test_a_learning_rate_that_blows_up(small_config, job, tmp_path, capsys, rate):
    _, arm, seed, array, run, state = job(tmp_path)
    settings = config.merge(small_config, {"native": {"training": {"learning_rate": rate}}})
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
