"""A run whose numbers leave the finite ones ends with one sentence and leaves no weights."""

import math

import pytest
from faulty import unfinished

from gblsr_repro import cli, config
from gblsr_repro.training import loop


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


def test_no_saved_state_holds_what_is_not_finite(small_config, job, tmp_path, monkeypatch):
    """Whatever step brings a NaN, every state saved before it is of finite numbers."""
    from gblsr_repro.errors import UserError
    from gblsr_repro.training import checkpoint, native

    saved = []
    save = checkpoint.save_state

    def watched(path, state):
        saved.append(all(value.isfinite().all() for value in state["model"].values()))
        save(path, state)

    loss = native.F.mse_loss
    calls = iter(range(100))
    monkeypatch.setattr(loop.checkpoint, "save_state", watched)
    monkeypatch.setattr(
        native.F, "mse_loss", lambda *a: loss(*a) * (math.nan if next(calls) == 7 else 1)
    )
    with pytest.raises(UserError, match="the loss is not finite at step 8"):
        native.train_run(*job(tmp_path))
    assert saved == [True] * 7
