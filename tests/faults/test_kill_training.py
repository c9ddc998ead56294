"""SIGKILL of training at random moments: nothing is lost but the steps since the last state."""

import json
import time

import pytest
from faulty import outcome, unfinished

from gblsr_repro.config import merge
from gblsr_repro.errors import UserError
from gblsr_repro.training.native import train_run

KILLS = 4


def test_killed_at_random_moments(processes, job, undisturbed, repeats, chance, tmp_path):
    """Every kill is followed by the same command, as a user's or a scheduler's retry would be."""
    seconds = []
    for name in ("first", "timed"):  # the first also waits for the imports
        started = time.monotonic()
        process = processes.Process(target=train_run, args=job(tmp_path / name))
        process.start()
        process.join(60)
        assert process.exitcode == 0
        seconds.append(time.monotonic() - started)

    for number in range(repeats):
        folder = tmp_path / str(number)
        for _ in range(KILLS):
            process = processes.Process(target=train_run, args=job(folder))
            process.start()
            process.join(chance.uniform(0, seconds[1]))
            process.kill()
            process.join(60)
        train_run(*job(folder))
        assert outcome(folder / "run") == outcome(undisturbed)
        assert unfinished(folder) == []
        assert list((folder / "state").iterdir()) == []


def test_one_run_is_trained_by_one_process(processes, job, tmp_path):
    """A job that outlived its workflow is noticed; once it is killed, its run is gone on with."""
    settings, *others = job(tmp_path)
    longer = merge(settings, {"native": {"training": {"steps": 200, "checkpoint_every": 10}}})
    arguments = (longer, *others)
    state = others[-1]
    process = processes.Process(target=train_run, args=arguments)
    process.start()
    while not state.exists():
        assert process.is_alive()
        time.sleep(0.001)
    with pytest.raises(UserError, match=f"is being trained by process {process.pid} of .*SIGTERM"):
        train_run(*arguments)
    process.kill()
    process.join(60)
    train_run(*arguments)
    run = tmp_path / "run"
    assert json.loads((run / "run.json").read_text())["resumed"] == 1
    assert unfinished(tmp_path) == []
    train_run(longer, *job(tmp_path / "again")[1:])
    assert outcome(run) == outcome(tmp_path / "again" / "run")
