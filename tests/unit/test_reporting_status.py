"""What the survey sees in a results folder, and how it counts the time left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from gblsr_repro.cli import main
from gblsr_repro.config import load, merge, selected_items, write_resolved
from gblsr_repro.files import write_json, write_text
from gblsr_repro.operations import status
from gblsr_repro.training.checkpoint import random_state, save_state

NOW = 1_000_000.0


@pytest.fixture
def config(tmp_path: Path) -> dict[str, Any]:
    return merge(
        load(),
        {
            "results": str(tmp_path),
            "seeds": [0, 1],
            "native": {"arms": ["gblsr_scalar", "liif"], "training": {"steps": 2000}},
            "asr": {"methods": ["gblsr_asr"], "training": {"steps": 1000}},
        },
    )


def stage(config: dict[str, Any], title: str) -> status.Stage:
    return next(s for s in status.survey(config, NOW) if s.title == title)


def finish(root: Path, half: str, name: str, seed: int, rate: float, device: str) -> None:
    record = {"steps_per_second": rate, "device": {"type": device}}
    write_json(root / half / "runs" / name / f"seed{seed}" / "run.json", record)


def write_log(path: Path, lines: list[str], age: float) -> None:
    write_text(path, "\n".join(lines) + "\n")
    os.utime(path, (NOW - age, NOW - age))


def write_state(path: Path, step: int, rate: float) -> None:
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    state = {
        "identity": {"arm": "x", "seed": 0},
        "step": step,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "random": random_state(),
        "losses": [1.0],
        "rows": [{"step": 1, "steps_per_second": 1.0}, {"step": 2, "steps_per_second": rate}],
        "wall_seconds": 1.0,
        "resumed": 0,
    }
    save_state(path, state)


def test_an_empty_folder(config: dict[str, Any]) -> None:
    stages = status.survey(config, NOW)
    assert all(s.done == 0 and s.seconds_left is None for s in stages)
    assert stage(config, "native: training").total == 4
    assert stage(config, "native: timing").total == 4
    assert stage(config, "native: bandwidth fields").total == 0
    assert stage(config, "asr: bicubic").total == 25
    assert "not known yet" in status.text(stages)


def test_time_left_from_finished_runs(config: dict[str, Any], tmp_path: Path) -> None:
    finish(tmp_path, "native", "gblsr_scalar", 0, 20.0, "cuda")
    training = stage(config, "native: training")
    assert (training.done, training.total, training.running) == (1, 4, 0)
    assert training.seconds_left == pytest.approx(3 * 2000 / 20)
    finish(tmp_path, "native", "liif", 0, 5.0, "cuda")
    training = stage(config, "native: training")
    assert training.seconds_left == pytest.approx(2000 / 20 + 2000 / 5)
    assert training.gpu is True
    assert "8m20s of jobs, 0.1 GPU-hours of it" in status.text([training])


def test_a_running_job_is_followed_in_its_log(config: dict[str, Any], tmp_path: Path) -> None:
    lines = [
        "12:00:00 liif seed 1: 2000 steps, going on from 500",
        "12:00:15 liif seed 1: 620/2000, 8.00 steps/s, 2m52s left, loss 0.1",
        "12:00:16 validation: 3/7, 4.00 steps/s, 1s left",
        "12:00:17 validation: 7 steps",
    ]
    write_log(tmp_path / "logs" / "train" / "liif_seed1.log", lines, age=5)
    training = stage(config, "native: training")
    assert training.running == 1
    run = next(r for r in training.unfinished if r.running)
    assert (run.name, run.seed, run.step, run.rate) == ("liif", 1, 620, 8.0)
    assert training.seconds_left == pytest.approx((1380 + 3 * 2000) / 8)
    assert "liif seed 1: step 620 of 2,000, 8 steps/s, 2m52s left (running)" in status.text(
        [training]
    )
    assert "shows when the first run has finished" in status.text([training])


def test_a_quiet_log_is_no_running_job(config: dict[str, Any], tmp_path: Path) -> None:
    log = tmp_path / "logs" / "train" / "liif_seed1.log"
    write_log(log, ["12:00:00 liif: 900/2000, 8.00 steps/s, 2m left"], age=400)
    assert stage(config, "native: training").running == 0
    write_state(tmp_path / "native" / "state" / "liif" / "seed1.pt", 750, 4.0)
    training = stage(config, "native: training")
    run = next(r for r in training.unfinished if r.step)
    assert (run.step, run.rate, run.running) == (750, 4.0, False)
    assert "step 750 of 2,000" in status.text([training])
    assert "stopped; the same command goes on" in status.text([training])


def test_the_state_before_a_damaged_one_counts(config: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "asr" / "state" / "gblsr_asr" / "seed0.pt"
    write_state(path, 100, 2.0)
    write_state(path, 200, 2.0)
    path.write_bytes(path.read_bytes()[:300])
    training = stage(config, "asr: training")
    assert training.unfinished[0].step == 100
    path.with_suffix(".previous.pt").write_bytes(b"")
    assert stage(config, "asr: training").unfinished[0].step is None


def test_what_is_no_state_tells_nothing(tmp_path: Path) -> None:
    path = tmp_path / "seed0.pt"
    for content in (b"", b"x" * 5000, b"one line\n[1]\n", b"one line\n{}\n"):
        path.write_bytes(content)
        assert status._from_state(path) == (None, None)


def test_stages_take_the_time_of_finished_jobs(config: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "native" / "metrics" / "liif" / "seed0"
    for column in ("kodak", "set14", "urban100"):
        write_text(folder / f"{column}.csv", "image\n")
    write_text(tmp_path / "benchmarks" / "evaluate" / "a.tsv", "s\th:m:s\n30.0\t0:00:30\n")
    assert stage(config, "native: evaluation").done == 0  # validation.csv is not there yet
    write_text(folder / "validation.csv", "image\n")
    evaluation = stage(config, "native: evaluation")
    assert (evaluation.done, evaluation.seconds_left) == (1, 90.0)


def test_a_column_left_out_is_not_waited_for(config: dict[str, Any], tmp_path: Path) -> None:
    del config["native"]["data"]["evaluate"]["urban100"]
    for name, item in selected_items(config).items():
        folder, extension = ("tables", "tex") if item.kind == "table" else ("figures", "pdf")
        write_text(tmp_path / folder / f"{name}.{extension}", "x")
    tables = stage(config, "tables")
    assert tables.done == tables.total
    assert tables.total == sum(i.kind == "table" for i in selected_items(config).values()) > 10
    assert not (tmp_path / "tables" / "main_urban100.tex").exists()


def test_everything_done() -> None:
    assert status.text([status.Stage("tables", 3, 3)]).endswith("Everything is done.")


def test_two_running_jobs_share_the_time() -> None:
    runs = tuple(status.Training("liif", seed, 0, 100, 1.0, running=True) for seed in (0, 1))
    text = status.text([status.Stage("native: training", 0, 2, 200.0, True, runs)])
    assert "with 2 at a time 1m40s" in text


def test_the_verb(config: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    write_resolved(config, tmp_path / "config.yaml")
    assert main(["status", "--config", str(tmp_path / "config.yaml")]) == 0
    assert "native: training" in capsys.readouterr().out
