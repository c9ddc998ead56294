"""The benchmarks: every case runs at a tiny size with equal outputs; ratios, record and page."""

import math

import made
import pytest
import torch
from torch import nn

from benchmarks import __main__ as command
from benchmarks import (
    measure,
    memory,
    native,
    page,
    plans,
    record,
    training,
    upscalers,
)
from benchmarks.measure import Case, Comparison, Result, Scout, Target, Variant, judge_target
from benchmarks.plot import write_plot
from gblsr_repro import config
from gblsr_repro.data.superres import Sampler
from gblsr_repro.training.loop import train

CPU = torch.device("cpu")
LISTED = [
    (group, plan)
    for group, module in command.GROUPS.items()
    for plan in module.list_plans(plans.Bench.open(CPU, True, None))
]


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(
            plan,
            id=f"{group} {plan.label}",
            marks=[pytest.mark.slow] if plan.label == "allocator" else [],
        )
        for group, plan in LISTED
    ],
)
def test_every_case_runs_and_its_variants_agree(plan, tmp_path):
    case = plan.build(plans.Bench.open(CPU, True, tmp_path))
    results = measure.measure_case(case, CPU, seconds=600, rounds=1)
    assert [result.variant.name for result in results] == [v.name for v in case.variants]
    for result in results:
        assert result.note == ""
        assert min(result.all_times) > 0
    if case.same:
        assert all(result.difference <= measure.TOLERANCE for result in results[1:])
    assert measure.CoreMeter().count_busy() >= 0


def result(times, peak=None, **values):
    own = Result(Variant("v", lambda: None), peak_mib=peak, **values)
    own.times = [[ms] for ms in times]
    return own


def test_a_speedup_is_the_median_of_the_rounds_ratios_between_their_quartiles():
    slow, fast = result([100.0, 200.0, 900.0], peak=30.0), result([4.0, 10.0, 30.0], peak=2.0)
    found = Comparison.compare(fast, slow)
    assert found.speedup == 25  # of 25, 20, 30; the ratio of the medians is 20
    assert found.quartiles == (22.5, 27.5)
    assert found.memory_saving == 15
    assert Comparison.compare(fast, result([])) == Comparison()


@pytest.mark.parametrize(
    ("quantity", "bound", "met"),
    [
        (measure.SPEEDUP, 20, measure.MET),
        (measure.SPEEDUP, 21, measure.MISSED),
        (measure.TIME_RATIO, 0.04, measure.MISSED),
        (measure.MEMORY_SAVING, 16, measure.MISSED),
        (measure.MEMORY_RATIO, 0.1, measure.MET),
        (measure.MILLISECONDS, 9, measure.MISSED),
    ],
)
def test_targets(quantity, bound, met):
    few = measure.TOO_FEW if quantity in measure.TIMED else met
    for rounds, expected in ((3, met), (2, few)):
        slow, fast = result([200.0] * rounds, peak=30.0), result([10.0] * rounds, peak=2.0)
        target, found = Target(quantity, bound), Comparison.compare(fast, slow)
        assert judge_target(target, fast, found) == expected
    wrong = result([10.0] * 3, peak=2.0, difference=0.1)
    assert judge_target(target, wrong, found) != measure.MET


def test_tf32_is_for_convolutions_alone_as_in_training():
    seen = []

    def call():
        seen.append((torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32))
        return torch.ones(1)

    before = torch.backends.cudnn.allow_tf32
    for tf32 in (True, False):
        measure.measure_case(
            Case("training", "c", (Variant("v", call),), tf32=tf32), CPU, 10, rounds=1
        )
        assert set(seen) == {(tf32, False)}
        seen.clear()
    assert torch.backends.cudnn.allow_tf32 == before


def test_a_super_resolution_step_is_the_trainers(tmp_path, monkeypatch):
    limits, sampled = [], []
    clip, draw = nn.utils.clip_grad_norm_, Sampler.draw_batch
    monkeypatch.setattr(nn.utils, "clip_grad_norm_", lambda *a: limits.append(a[1]) or clip(*a))
    monkeypatch.setattr(Sampler, "draw_batch", lambda *a: sampled.append(a[1]) or draw(*a))
    case = training.build_asr_step_case(plans.Bench.open(CPU, True, tmp_path))
    for variant in case.variants:
        variant.call()
    assert limits == [math.inf] * 3
    assert sampled[:3] == [0, 1, 2]  # and what is drawn ahead


def test_the_native_loop_is_the_trainers(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(training, "train", lambda *a, **k: done.append(train(*a, **k)))
    case = training.build_native_loop_case(plans.Bench.open(CPU, True, tmp_path))
    for _ in range(2):  # a call goes on from no earlier one
        case.variants[0].call()
    assert [[row["step"] for row in run.rows] for run in done] == [[case.items]] * 2


def test_cases_with_targets_are_measured_first_and_whenever_the_time_is_up(tmp_path, monkeypatch):
    def plan(label, *targets):
        variants = (Variant("v", lambda: torch.ones(1), targets),)
        case = Case("native", "c", variants, same=False)
        return plans.Plan(label, 1, lambda bench: case, bool(targets))

    listed = [plan("without"), plan("with", Target(measure.MILLISECONDS, 1e9))]
    monkeypatch.setattr(native, "list_plans", lambda bench: listed)
    assert command.main(["--only", "native", "--minutes", "0", "--output", str(tmp_path)]) == 0
    first, second = record.read_rows(tmp_path / "results.csv")
    assert (first["met"], first["repeats"]) == ("yes", str(measure.QUARTILE_ROUNDS))
    assert (second["case"], second["note"]) == ("without", "the time was up")


def test_an_output_that_is_not_the_references_is_told():
    ones = torch.ones(3)
    case = Case("native", "c", tuple(Variant(n, lambda n=n: ones * n) for n in (1.0, 1.00001, 1.1)))
    same, close, wrong = measure.measure_case(case, CPU, 10, rounds=1)
    assert (same.note, close.note) == ("", "")
    assert wrong.difference == pytest.approx(0.1)
    assert "differs" in wrong.note


def test_a_call_that_takes_too_much_is_left_out_with_its_reason():
    for factor, said in ((1e9, "GiB of memory"), (1e6, "are allowed")):
        call, scout = pytest.fail, Scout(lambda: torch.ones(250_000), factor)
        (left,) = measure.measure_case(
            Case("native", "c", (Variant("v", call, scout=scout),)), CPU, 0, 1
        )
        assert said in left.missing
        assert left.times == []


def test_peak_memory_is_what_lives_at_once():
    def call():
        first = torch.empty(2**20)
        del first
        second, third = torch.empty(2**19), torch.empty(3 * 2**18)
        return second, third

    memory.measure_call(call, CPU)
    assert memory.measure_call(call, CPU).peak_mib == pytest.approx(
        5.0, rel=0.01
    )  # second and third


def test_the_command_writes_record_and_page_and_a_plot_where_it_has_one(tmp_path, repository):
    assert command.main(["--quick", "--only", "data", "--output", str(tmp_path)]) == 0
    rows = record.read_rows(tmp_path / "results.csv")
    assert tuple(rows[0]) == record.COLUMNS
    assert {row["group"] for row in rows} == {"data"}
    for row in rows:
        assert float(row["median_ms"]) > 0
        assert (row["threads"], row["torch"]) == ("1", torch.__version__)
        assert row["target"] == ""  # none is set for tiny sizes
    assert "plot.png" not in (tmp_path / "page.md").read_text()
    assert not (tmp_path / "plot.png").exists()
    kept = repository / "benchmarks" / "records" / "2026-11-21-amd-epyc" / "results.csv"
    assert write_plot(kept, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_an_upscaler_is_set_beside_the_known_ones(shared, tmp_path):
    made.run(tmp_path / "run", "gblsr_asr", config.merge(config.load(), plans.QUICK))
    weights = tmp_path / "run" / "weights.safetensors"
    (beside,) = upscalers.list_plans(
        plans.Bench.open(CPU, True, tmp_path, weights)
    )  # without a mirror
    results = measure.measure_case(
        beside.build(plans.Bench.open(CPU, True, tmp_path, weights)), CPU, 600, 1
    )
    assert [r.variant.name for r in results] == ["gblsr_asr", "LIIF decoder", "LTE decoder"]
    bench = plans.Bench.open(CPU, True, tmp_path, weights, shared / "data")
    case = next(p for p in upscalers.list_plans(bench) if p.label == "set5 x3").build(bench)
    kept = record.Record(tmp_path / "results.csv", CPU, ["upscalers"])
    kept.add(case, measure.measure_case(case, CPU, 600, rounds=5), busy_elsewhere=0)
    rows = {row["variant"]: row for row in record.read_rows(kept.path)}
    assert float(rows["bicubic"]["psnr_y"]) == pytest.approx(30.39, abs=0.03)  # as all publish it
    assert float(rows["gblsr_asr"]["median_ms"]) > 0
    assert [rows["FSRCNN, published"][c] for c in ("psnr_y", "median_ms")] == ["33.16", ""]
    assert "as published, not run here." in page.render_page(
        record.read_rows(kept.path), "plot.png"
    )
