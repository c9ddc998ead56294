"""A clock that is wrong changes no result, and no duration is measured by it."""

import datetime
import itertools
import time

import made
import pytest
import torch
from faulty import outcome

from gblsr_repro.evaluation import timing
from gblsr_repro.progress import Progress
from gblsr_repro.training import runs as training


@pytest.fixture
def backwards(monkeypatch):
    """Every look at the time of day is an hour before the last one."""
    now = itertools.count(2_000_000_000, -3600)
    monkeypatch.setattr(time, "time", lambda: float(next(now)))
    monkeypatch.setattr(time, "time_ns", lambda: next(now) * 10**9)

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(next(now), tz)

    monkeypatch.setattr(training, "datetime", Clock)


def test_training(backwards, job, undisturbed, tmp_path):
    training.train_arm(*job(tmp_path))
    assert outcome(tmp_path / "run") == outcome(undisturbed)
    record = made.record(tmp_path / "run" / "run.json")
    assert record["wall_seconds"] > 0
    assert record["steps_per_second"] > 0
    log = made.rows(tmp_path / "run" / "log.csv")
    assert all(float(row["steps_per_second"]) > 0 for row in log)


def test_timing_and_progress(backwards):
    model = torch.nn.Linear(100, 100).eval()
    inputs = torch.zeros(50, 100)
    measured = timing.time_call(lambda: model(inputs), torch.device("cpu"), 1, 5)
    assert measured["median_ms"] > 0
    with Progress("work", 3) as progress:
        progress.update()
        assert progress.rate > 0
