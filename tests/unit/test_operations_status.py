"""What the survey says of the jobs of a run, and how it counts the time left."""

from __future__ import annotations

import os

import pytest

from gblsr_repro.cli import main
from gblsr_repro.config import load, merge, write_resolved
from gblsr_repro.errors import UserError
from gblsr_repro.files import write_json, write_text
from gblsr_repro.operations import status

NOW = 1_000_000.0


@pytest.fixture
def config(tmp_path):
    return merge(
        load(),
        {
            "results": str(tmp_path),
            "seeds": [0, 1],
            "native": {"arms": ["gblsr_scalar", "liif"], "training": {"steps": 2000}},
            "asr": {"methods": ["gblsr_asr"], "training": {"steps": 1000}},
        },
    )


@pytest.fixture
def jobs(tmp_path):
    """The trainings and evaluations of two arms and seeds, none of them done."""
    return [
        status.Job(
            rule,
            {"arm": arm, "seed": str(seed)},
            (tmp_path / "native" / "runs" / arm / f"seed{seed}" / "run.json",),
            tmp_path / "benchmarks" / rule / f"{arm}_seed{seed}.tsv",
        )
        for rule in ("train", "evaluate")
        for arm in ("gblsr_scalar", "liif")
        for seed in (0, 1)
    ]


def stage(config, jobs, title):
    return next(s for s in status.survey(config, jobs, NOW) if s.title == title)


def finish(jobs, number, rate=1.0, device="cpu"):
    job = jobs[number]
    jobs[number] = status.Job(**vars(job) | {"done": True})
    if job.rule == "train":
        write_json(job.outputs[0], {"steps_per_second": rate, "device": {"type": device}})
    else:
        write_text(job.benchmark, "s\th:m:s\n30.0\t0:00:30\n")


def tell(root, age, **facts):
    path = root / "native" / "state" / "liif" / "seed1.json"
    told = {"run": "liif seed 1", "step": 620, "saved": 500, "steps": 2000}
    write_json(path, told | {"steps_per_second": 8.0, "running": True} | facts)
    os.utime(path, (NOW - age, NOW - age))


def test_time_left_from_finished_runs(config, jobs):
    assert stage(config, jobs, "native: training").seconds_left is None
    finish(jobs, 0, 20.0, "cuda")
    training = stage(config, jobs, "native: training")
    assert (training.done, training.total, training.running) == (1, 4, 0)
    assert training.seconds_left == pytest.approx(3 * 2000 / 20)
    finish(jobs, 2, 5.0, "cuda")
    training = stage(config, jobs, "native: training")
    assert training.seconds_left == pytest.approx(2000 / 20 + 2000 / 5)
    assert "8m20s of jobs." in status.text([training])


def test_a_running_job_tells_how_far_it_is(config, jobs, tmp_path):
    tell(tmp_path, age=5)
    training = stage(config, jobs, "native: training")
    assert training.running == 1
    run = next(r for r in training.unfinished if r.running)
    assert (run.name, run.step, run.rate) == ("liif seed 1", 620, 8.0)
    assert training.seconds_left == pytest.approx((1380 + 3 * 2000) / 8)
    text = status.text([training])
    tell(tmp_path, age=5, steps=100)  # of other settings
    assert stage(config, jobs, "native: training").running == 0
    assert "liif seed 1: step 620 of 2,000, 8 steps/s, 2m52s left (running)" in text


@pytest.mark.parametrize(("age", "running"), [(400, True), (-(2**31), True), (5, False)])
def test_a_stopped_job_goes_on_from_its_state(config, jobs, tmp_path, age, running):
    """Quiet for long, dated in the future, or stopped as it said."""
    tell(tmp_path, age, running=running)
    training = stage(config, jobs, "native: training")
    assert training.running == 0
    run = next(r for r in training.unfinished if r.step)
    assert (run.step, run.rate, run.running) == (500, 8.0, False)
    assert "step 500 of 2,000" in status.text([training])
    assert "stopped; the same command goes on" in status.text([training])


def test_stages_take_the_time_of_finished_jobs(config, jobs):
    assert stage(config, jobs, "native: evaluation").seconds_left is None
    finish(jobs, 5)
    evaluation = stage(config, jobs, "native: evaluation")
    assert (evaluation.done, evaluation.total, evaluation.seconds_left) == (1, 4, 90.0)


def test_the_end_and_two_jobs_at_a_time():
    assert status.text([status.Stage("tables", 3, 3)]).endswith("Everything is done.")
    runs = tuple(status.Training(f"liif seed {s}", 0, 100, 1.0, running=True) for s in (0, 1))
    text = status.text([status.Stage("native: training", 0, 2, 200.0, runs)])
    assert "with 2 at a time 1m40s" in text


def test_snakemake_tells_the_jobs(config):
    """Also those of a config that leaves out a column."""
    del config["native"]["data"]["evaluate"]["urban100"]
    stages = {s.title: s for s in status.survey(config)}
    assert {s.done for s in stages.values()} == {0}
    totals = {title: stages[title].total for title in ("native: training", "native: timing")}
    assert totals == {"native: training": 4, "native: timing": 4}
    assert stages["native: image arrays"].total == 4  # train, validation, two columns
    assert stages["asr: bicubic"].total == 5
    assert all(stages[title].total for title in ("tables", "figures", "claims and report"))
    assert "not known yet" in status.text(list(stages.values()))
    config["mirror"] = "/nowhere"
    with pytest.raises(UserError, match="The mirror folder /nowhere does not exist"):
        status.survey(config)


def test_the_verb(config, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(status, "planned_jobs", lambda config: [])
    write_resolved(config, tmp_path / "config.yaml")
    assert main(["status", "--config", str(tmp_path / "config.yaml")]) == 0
    assert "native: training" in capsys.readouterr().out
