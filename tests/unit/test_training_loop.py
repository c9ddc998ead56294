"""The loop computes the plain loop's weights, stopped or not, and logs what it did."""

import math
import os
import re
import signal
from contextlib import nullcontext
from itertools import count
from unittest import mock

import pytest
import torch
from torch import nn

from gblsr_repro.errors import StopRequested, UserError
from gblsr_repro.training import checkpoint
from gblsr_repro.training.loop import LOG_COLUMNS, Training, train

IDENTITY = {"job": 1}
A, B = ({"git": {"commit": commit, "modified": False}} for commit in "ab")


class Linear(nn.Linear):
    """A model without a bandwidth."""

    def get_bandwidth(self):
        return None


class Job:
    """A linear model trained on batches that follow from the step, with noise that does not."""

    def __init__(self, path, steps=20, clip=0.5, **settings):
        torch.manual_seed(0)
        self.model = Linear(3, 2)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.01, fused=True)
        self.clip = clip
        self.settings = {"steps": steps, "log_every": 6, "checkpoint_every": 4} | settings
        self.path = path
        self.at = {}

    def batch(self, step):
        if step in self.at:
            self.at[step]()
        generator = torch.Generator().manual_seed(step)
        return torch.randn(5, 3, generator=generator)

    def loss(self, x):
        noisy = x + 0.1 * torch.randn(x.shape)
        return (self.model(noisy) - x[:, :2].flip(-1)).pow(2).mean()

    def run(self, identity=IDENTITY, trained_by=A, hook=None, keep_state=False, **described):
        sections = {"training": self.settings}
        described |= {"gradient_clip": self.clip}
        training = Training(
            self.model, self.optimizer, self.batch, self.loss, sections, {}, **described
        )
        return train("job", training, self.path, identity, trained_by, hook, keep_state)

    def weights(self):
        return torch.cat([p.detach().flatten() for p in self.model.parameters()])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.pt"


def rows_without_rate(record):
    return [{k: v for k, v in row.items() if k != "steps_per_second"} for row in record.rows]


def test_it_is_the_plain_loop(path):
    job, plain = Job(path), Job(path)
    record = job.run()
    torch.manual_seed(0)
    nn.Linear(3, 2)
    losses = []
    for step in range(20):
        plain.optimizer.zero_grad()
        value = plain.loss(plain.batch(step))
        value.backward()
        nn.utils.clip_grad_norm_(plain.model.parameters(), 0.5)
        plain.optimizer.step()
        losses.append(value.item())
    assert torch.equal(job.weights(), plain.weights())
    assert [row["step"] for row in record.rows] == [6, 12, 18, 20]
    assert all(tuple(row) == LOG_COLUMNS for row in record.rows)
    assert record.rows[1]["loss"] == pytest.approx(sum(losses[6:12]) / 6)
    assert record.rows[-1]["loss"] == pytest.approx(sum(losses[18:]) / 2)
    assert record.resumed == 0


def crash():
    raise RuntimeError("crash")


def stop():
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("stop_at", [1, 4, 7, 19, None])
def test_a_stopped_job_goes_on_to_the_same_end(path, stop_at):
    whole = Job(path)
    expected = whole.run()
    checkpoint.remove_state(path)
    stopped = Job(path)
    stopped.at = {stop_at - 1: stop} if stop_at else {10: crash}
    said = f"SIGTERM after step {stop_at} of 20" if stop_at else "crash"
    with pytest.raises(StopRequested if stop_at else RuntimeError, match=said):
        stopped.run()
    assert checkpoint.load_state(path, {"job": 1})["step"] == (stop_at or 8)
    again = Job(path)
    record = again.run()
    assert torch.equal(again.weights(), whole.weights())
    assert rows_without_rate(record) == rows_without_rate(expected)
    assert record.resumed == 1


def test_a_signal_at_any_moment_of_a_step_finds_the_state_saved(path):
    answers = iter([None])
    name = mock.PropertyMock(side_effect=lambda *set_: None if set_ else next(answers, "SIGTERM"))
    signaled = mock.patch.object(checkpoint.StopOnSignal, "name", name, create=True)
    with signaled, pytest.raises(StopRequested):
        Job(path).run()
    assert checkpoint.load_state(path, IDENTITY)["step"] == 2


def test_it_says_who_went_on_and_adds_up_what_all_of_them_took(path, monkeypatch):
    """On a clock by which every step takes a second."""
    steps, peaks = [], []
    monkeypatch.setattr("gblsr_repro.training.loop.time.monotonic", lambda: float(len(steps)))
    monkeypatch.setattr("gblsr_repro.runtime.measure_peak_memory_mib", lambda device: peaks[-1])
    for last, by, peak in ((3, A, 5.0), (6, A, 9.0), (9, B, 7.0), (12, A, 2.0), (None, B, 4.0)):
        peaks.append(peak)
        job = Job(path)
        job.at = dict.fromkeys(range(20), lambda: steps.append(1))
        job.at[last] = lambda: (steps.append(1), stop())
        with pytest.raises(StopRequested) if last else nullcontext():
            record = job.run(trained_by=by)
    assert (record.resumed, record.trained_by) == (4, [A, B])
    assert (record.wall_seconds, record.peak_memory_mib) == (20.0, 9.0)
    assert [row["steps_per_second"] for row in record.rows] == [1.0] * 4


def test_a_stop_at_the_last_step_finishes(path):
    job, before = Job(path, steps=3), signal.getsignal(signal.SIGUSR1)
    job.at[2] = lambda: os.kill(os.getpid(), signal.SIGUSR1)
    assert job.run().rows[-1]["step"] == 3
    assert signal.getsignal(signal.SIGUSR1) is before


def test_what_is_not_finite_stops_with_its_step_and_no_state_after_it(path):
    job = Job(path)
    clean = job.batch
    job.batch = lambda step: clean(step) * (float("nan") if step == 5 else 1.0)
    with pytest.raises(UserError, match=r"job: the loss is not finite at step 6; .* learning rate"):
        job.run()
    assert checkpoint.load_state(path, {"job": 1})["step"] == 4
    job = Job(path.with_name("other.pt"))
    job.loss = lambda x: (job.model(x).sum() * 0).sqrt()
    with pytest.raises(UserError, match="the gradient is not finite at step 1"):
        job.run()


def test_learning_rate_bandwidth_and_hook_are_asked_at_every_step(path):
    job, rates, seen = Job(path, steps=7), [], []

    def schedule(step):
        rates.append(step)
        return 0.0 if step < 6 else 0.01

    job.model.get_bandwidth = lambda: 0.7
    before = job.weights()

    def hook(done):
        seen.append((done, torch.equal(job.weights(), before)))

    record = job.run(schedule=schedule, hook=hook)
    assert rates == list(range(7))
    assert seen == [(done, done < 7) for done in range(1, 8)]
    assert [row["bandwidth"] for row in record.rows] == [0.7, 0.7]


def test_progress_has_the_newest_loss_and_small_rates(path, monkeypatch, caplog):
    clock = count(step=300)  # seconds between two looks at it
    monkeypatch.setattr("gblsr_repro.progress.time.monotonic", lambda: next(clock))
    caplog.set_level("INFO", "gblsr_repro")
    rows = Job(path, steps=10, log_every=4).run().rows
    told = {m.partition(":")[2].split(",")[0]: m for m in caplog.messages if "left" in m}
    assert "loss" not in told[" 3/10"]
    assert all(f"loss {rows[0]['loss']:.4g}" in told[f" {step}/10"] for step in (4, 5, 7))
    assert re.search(r" 0\.00[1-9]\d* steps/s", told[" 7/10"])


def test_a_batch_in_parts_gives_the_gradient_of_the_whole(tmp_path):
    def run(name, **options):
        job = Job(tmp_path / name, clip=math.inf)
        job.batch = lambda step: torch.randn(6, 3, generator=torch.Generator().manual_seed(step))
        job.loss = lambda x: (job.model(x) - x[:, :2].flip(-1)).pow(2).mean()
        record = job.run(**options)
        return job.weights(), [row["loss"] for row in record.rows]

    whole, losses = run("whole.pt")
    parts, part_losses = run("parts.pt", split=lambda batch: batch.chunk(3))
    assert torch.allclose(whole, parts, rtol=1e-4, atol=1e-6)
    assert not torch.equal(whole, torch.zeros_like(whole))
    assert part_losses == pytest.approx(losses, rel=1e-4)
