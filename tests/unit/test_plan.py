"""The cost of a configuration is told before it is run."""

import json
from pathlib import Path

import made
import pytest
from job_files import leave_run

from gblsr_repro import config as configuration
from gblsr_repro import plan

HERE = "Some GPU"


@pytest.fixture
def config(tmp_path):
    found = configuration.load() | {"results": str(tmp_path), "device": "cpu"}
    found["native"]["arms"] = ["gblsr_scalar"]
    found["asr"]["methods"] = ["gblsr_asr_nf48", "liif_rdn"]
    return found


def finished(config, name, seed, steps_per_second, device):
    """Leave the record of a finished run."""
    facts = {"steps_per_second": steps_per_second, "device": {"name": device}}
    return leave_run(Path(config["results"]), name, seed, config, **facts)


def estimate(config, name):
    return next(cost for cost in plan.estimate_runs(config, HERE) if cost.name == name)


def test_without_records_the_papers_times_are_used_which_hold_for_its_settings_alone(config):
    found = estimate(config, "gblsr_scalar")
    assert (found.runs, found.left, found.steps) == (3, 3, 2000)
    assert found.hours == pytest.approx(3 * 1074 / 12 / 3600)  # 12 runs took 17m54s
    assert "NVIDIA H200" in found.basis
    hours = 3 * (540 + 32 / 60) / 15  # 15 runs took 540h32m
    assert estimate(config, "gblsr_asr_nf48").hours == pytest.approx(hours)
    config["asr"]["training"]["steps"] = 5000
    assert estimate(config, "gblsr_asr_nf48").hours == pytest.approx(hours * 0.005)
    config["asr"]["model"] |= made.ASR
    assert estimate(config, "gblsr_asr_nf48").hours is None


def test_recorded_runs_of_this_device_go_first(config):
    finished(config, "liif_rdn", 0, 40.0, HERE)
    finished(config, "liif_rdn", 1, 60.0, HERE)
    finished(config, "gblsr_asr_nf48", 0, 40.0, "Another GPU")
    found = estimate(config, "liif_rdn")
    assert (found.runs, found.left) == (3, 1)
    assert found.hours == pytest.approx(1_000_000 / 50 / 3600)
    assert found.basis == f"2 runs recorded on {HERE}"
    assert "the paper" in estimate(config, "gblsr_asr_nf48").basis
    config["asr"]["training"]["queries"] = 1000  # another step, so the records do not hold
    assert estimate(config, "liif_rdn").hours is None
    assert estimate(config, "liif_rdn").left == 3


@pytest.mark.parametrize("facts", [{"identity": None}, {"device": None}, {"steps_per_second": 0}])
def test_a_run_that_is_not_whole_is_still_to_be_trained(config, facts):
    path = finished(config, "gblsr_scalar", 0, 40.0, "Another GPU")
    assert estimate(config, "gblsr_scalar").left == 2
    path.write_text(json.dumps(made.record(path) | facts))
    assert estimate(config, "gblsr_scalar").left == 3


def test_the_text_tells_the_days_and_what_is_unknown(config):
    text = plan.describe_plan(config)
    assert "3 of 3  1,000,000" in text
    assert "Days: at least 9.0 with 1 run at a time" in text
    config["asr"]["model"] |= made.ASR
    config["released"] = {"liif_rdn": "rdn-liif.pth"}
    text = plan.describe_plan(config)
    assert "without 3 runs of unknown cost" in text
    assert "Days: at least 0.0 with" in text
    assert plan.DASH in text
    assert "Imported and not trained: liif_rdn" in text
    config["native"]["model"] |= made.NATIVE
    assert "Days" not in plan.describe_plan(config)


@pytest.mark.parametrize(("gpus", "expected"), [(1, 10.0), (2, 5.0), (8, 3.0)])
def test_days_are_those_of_a_run_to_each_gpu(gpus, expected):
    def runs(count, days):
        seconds = None if days is None else days * 86400
        return plan.TrainingCost("asr", "a", count + 1, count, 10, seconds, "")

    costs = [runs(1, 3.0), runs(1, 2.0), runs(5, 1.0), runs(0, 9.0), runs(2, None)]
    assert plan.estimate_days(costs, gpus) == pytest.approx(expected)
