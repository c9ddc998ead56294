"""Every benchmark runs at a tiny size with equal outputs; its ratios, record and page."""

import math

import pytest
import torch
from torch import nn

from benchmarks import __main__ as command
from benchmarks import bench, measure, memory, record, training
from benchmarks.measure import Case, Comparison, Result, Variant
from gblsr_repro.data.superres import Sampler
from gblsr_repro.training.loop import train

CPU = torch.device("cpu")


@pytest.mark.parametrize("group", command.GROUPS)
def test_every_case_runs_and_its_variants_agree(group, tmp_path):
    for case in command.GROUPS[group].build_cases(bench.Bench.open(CPU, True, tmp_path)):
        results = measure.measure_case(case, CPU, seconds=0, least=1)
        assert [result.variant.name for result in results] == [v.name for v in case.variants]
        for result in results:
            assert min(result.all_times) > 0
        if case.same:
            assert all(result.difference <= measure.TOLERANCE for result in results[1:])
    assert measure.CoreMeter().count_busy() >= 0


def result(times, peak=None):
    return Result(Variant("v", lambda: None), [[ms] for ms in times], peak)


def test_a_speedup_is_the_median_of_the_rounds_ratios_between_their_quartiles():
    slow, fast = result([100.0, 200.0, 900.0], peak=30.0), result([4.0, 10.0, 30.0], peak=2.0)
    found = Comparison.compare(fast, slow)
    assert found.speedup == 25  # of 25, 20, 30; the ratio of the medians is 20
    assert found.quartiles == (22.5, 27.5)
    assert found.memory_saving == 15


def test_a_super_resolution_step_is_the_trainers(tmp_path, monkeypatch):
    limits, sampled = [], []
    clip, draw = nn.utils.clip_grad_norm_, Sampler.draw_batch
    monkeypatch.setattr(nn.utils, "clip_grad_norm_", lambda *a: limits.append(a[1]) or clip(*a))
    monkeypatch.setattr(Sampler, "draw_batch", lambda *a: sampled.append(a[1]) or draw(*a))
    case = training.build_asr_step_case(bench.Bench.open(CPU, True, tmp_path))
    for variant in case.variants:
        variant.call()
    assert limits == [math.inf] * 3
    assert sampled[:3] == [0, 1, 2]  # and what is drawn ahead


def test_the_native_loop_is_the_trainers(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(training, "train", lambda *a, **k: done.append(train(*a, **k)))
    case = training.build_native_loop_case(bench.Bench.open(CPU, True, tmp_path))
    for _ in range(2):  # a call goes on from no earlier one
        case.variants[0].call()
    assert [[row["step"] for row in run.rows] for run in done] == [[case.items]] * 2


def test_an_output_that_is_not_the_references_is_told():
    ones = torch.ones(3)
    case = Case("c", tuple(Variant(n, lambda n=n: ones * n) for n in (1.0, 1.00001, 1.1)))
    same, close, wrong = measure.measure_case(case, CPU, seconds=0, least=1)
    assert not same.is_wrong
    assert not close.is_wrong
    assert wrong.difference == pytest.approx(0.1)
    assert "differs" in record.build_columns(case, wrong, same)["note"]


def test_peak_memory_is_what_lives_at_once():
    def call():
        first = torch.empty(2**20)
        del first
        second, third = torch.empty(2**19), torch.empty(3 * 2**18)
        return second, third

    memory.measure_memory(call, CPU)
    _, peak = memory.measure_memory(call, CPU)
    assert peak == pytest.approx(5.0, rel=0.01)  # second and third


def test_the_command_writes_record_and_page_and_keeps_other_groups(tmp_path):
    other = {"group": "training", "case": "kept", "date": "2026-01-01", "device": "cpu"}
    record.write_rows(tmp_path / "results.csv", [other, {"group": "data", "case": "renewed"}])
    assert command.main(["--quick", "--only", "data", "--output", str(tmp_path)]) == 0
    kept, *rows = record.read_rows(tmp_path / "results.csv")
    assert kept["case"] == "kept"
    assert {row["group"] for row in rows} == {"data"}
    for row in rows:
        assert float(row["median_ms"]) > 0
        assert (row["threads"], row["torch"]) == ("1", torch.__version__)
    assert "native evaluation" in (tmp_path / "page.md").read_text()
