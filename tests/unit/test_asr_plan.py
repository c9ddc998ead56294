"""The cost of a configuration is told before it is run."""

import json
import re
from pathlib import Path

import made
import pytest

from gblsr_repro import config as configuration
from gblsr_repro import plan
from results import leave_run


@pytest.fixture
def config(tmp_path):
    folders = {name: str(tmp_path / name) for name in ("results", "resources")}
    found = configuration.load() | folders | {"device": "cpu"}
    found["native"]["arms"] = ["gblsr_scalar"]
    found["asr"]["methods"] = ["gblsr_asr_nf48", "liif_rdn"]
    return found


def finished(config, name, seed, steps_per_second, device):
    """Leave the record of a finished run."""
    facts = {"steps_per_second": steps_per_second, "device": {"name": device}}
    path = leave_run(Path(config["results"]), name, seed, config, **facts)
    path.with_name("weights.safetensors").touch()
    return path


def estimate(config, name):
    return next(e for e in plan.estimate_plan(config).costs if e.name == name)


def test_without_records_the_papers_times_are_used_which_hold_for_its_settings_alone(config):
    found = estimate(config, "gblsr_scalar")
    assert (found.runs, found.done, found.steps) == (3, 0, 2000)
    assert found.hours == pytest.approx(3 * 1074 / 12 / 3600)  # 12 runs took 17m54s
    assert "NVIDIA H200" in found.basis
    hours = 3 * (540 + 32 / 60) / 15  # 15 runs took 540h32m
    assert estimate(config, "gblsr_asr_nf48").hours == pytest.approx(hours)
    config["asr"]["training"]["steps"] = 5000
    assert estimate(config, "gblsr_asr_nf48").hours == pytest.approx(hours * 0.005)
    config["asr"]["model"] |= made.ASR
    assert estimate(config, "gblsr_asr_nf48").hours is None


def test_the_papers_super_resolution_adds_up():
    every = plan.estimate_plan(configuration.load() | {"device": "cpu"}).costs
    hours = sum(e.hours for e in every if e.benchmark == "asr")
    assert hours == pytest.approx(1232.05, abs=0.01)
    assert sum(e.runs for e in every if e.benchmark == "asr") == 27


def test_recorded_runs_of_this_device_go_first(config):
    device = plan.estimate_plan(config).device
    finished(config, "liif_rdn", 0, 40.0, device)
    finished(config, "liif_rdn", 1, 60.0, device)
    finished(config, "gblsr_asr_nf48", 0, 40.0, "Another GPU")
    found = estimate(config, "liif_rdn")
    assert (found.runs, found.done) == (3, 2)
    assert found.hours == pytest.approx(1_000_000 / 50 / 3600)
    assert found.basis == f"2 runs recorded on {device}"
    assert "the paper" in estimate(config, "gblsr_asr_nf48").basis
    config["asr"]["training"]["queries"] = 1000  # another step, so the records do not hold
    assert estimate(config, "liif_rdn").hours is None
    assert estimate(config, "liif_rdn").done == 0


def test_imported_weights_are_nothing_to_train(config):
    config["released"] = {"liif_rdn": "rdn-liif.pth"}
    survey = plan.estimate_plan(config)
    assert {e.name for e in survey.costs} == {"gblsr_scalar", "gblsr_asr_nf48"}
    assert "Imported and not trained: liif_rdn\n" in plan.format_plan(survey)


@pytest.mark.parametrize(
    "facts",
    [{"identity": None}, {"identity": {}}, {"device": None}, {"steps_per_second": 0}, None],
)
def test_a_run_that_is_not_whole_is_still_to_be_trained(config, facts):
    path = finished(config, "gblsr_scalar", 0, 40.0, "Another GPU")
    assert estimate(config, "gblsr_scalar").done == 1
    if facts:
        path.write_text(json.dumps(made.record(path) | facts))
    else:
        path.with_name("weights.safetensors").unlink()
    found = estimate(config, "gblsr_scalar")
    assert (found.runs, found.done) == (3, 0)
    assert "the paper" in found.basis


def test_the_text_tells_the_days_and_what_is_unknown(config):
    text = plan.format_plan(plan.estimate_plan(config))
    assert "3 of 3  1,000,000" in text
    assert "GPU-hours" in text
    assert re.search(r"Days of training: \d+\.\d on one GPU, \d+\.\d on 8", text)
    config["asr"]["model"] |= made.ASR
    text = plan.format_plan(plan.estimate_plan(config))
    assert "without 2 of unknown cost" in text
    assert plan.DASH in text


@pytest.mark.parametrize(("gpus", "expected"), [(1, 10.0), (2, 5.0), (3, 4.0), (8, 3.0)])
def test_days_are_those_of_a_run_to_each_gpu(gpus, expected):
    def runs(count, days):
        seconds = None if days is None else days * 86400
        return plan.TrainingCost("asr", "a", count + 1, 1, 10, seconds, "")

    costs = [runs(1, 3.0), runs(1, 2.0), runs(5, 1.0), runs(2, None)]
    assert plan.estimate_days(costs, gpus) == pytest.approx(expected)
