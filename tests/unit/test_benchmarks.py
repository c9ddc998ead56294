"""The benchmarks: every case runs at a tiny size with equal outputs; ratios, record and page."""

import csv

import pytest
import torch

from benchmarks import __main__ as command
from benchmarks import measure, memory, page, plans, record
from benchmarks.measure import Case, Comparison, Result, Scout, Target, Variant, verdict

CPU = torch.device("cpu")
LISTED = [
    (group, plan)
    for group, module in command.GROUPS.items()
    for plan in module.plans(plans.Bench.open(CPU, True, None))
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
    case = plan.make(plans.Bench.open(CPU, True, tmp_path))
    results = measure.run(case, CPU, seconds=600, rounds=1)
    assert [result.variant.name for result in results] == [v.name for v in case.variants]
    for result in results:
        assert result.note == ""
        assert min(result.all_times) > 0
    if case.same:
        assert all(result.difference <= measure.TOLERANCE for result in results[1:])
    assert measure.Busy().elsewhere() >= 0


def result(times, peak=None, targets=(), **values):
    own = Result(Variant("v", lambda: None, tuple(targets)), peak_mb=peak, **values)
    own.times = [[ms] for ms in times]
    return own


def test_a_speedup_is_the_ratio_of_medians_with_quartiles_of_the_rounds():
    slow, fast = result([100.0, 200.0, 900.0], peak=30.0), result([10.0, 10.0, 30.0], peak=2.0)
    found = Comparison.of(fast, slow)
    assert found.speedup == 20  # 200 / 10
    assert found.quartiles == (15, 25)  # of 10, 20, 30
    assert found.memory_saving == 15
    assert Comparison.of(fast, result([])) == Comparison()


@pytest.mark.parametrize(
    ("target", "met"),
    [
        (Target(measure.SPEEDUP, 20), True),
        (Target(measure.SPEEDUP, 21), False),
        (Target(measure.TIME_RATIO, 0.05), True),
        (Target(measure.TIME_RATIO, 0.04), False),
        (Target(measure.MEMORY_SAVING, 16), False),
        (Target(measure.MEMORY_RATIO, 0.1), True),
        (Target(measure.MILLISECONDS, 9), False),
        (Target(measure.OPERATIONS, 25), None),
    ],
)
def test_targets(target, met):
    slow, fast = result([200.0], peak=30.0), result([10.0], peak=2.0)
    comparison = Comparison.of(fast, slow)
    assert verdict(target, fast, comparison) is met
    wrong = result([10.0], peak=2.0, difference=0.1)
    assert verdict(target, wrong, comparison) is not True


def test_an_output_that_is_not_the_references_is_told():
    ones = torch.ones(3)
    case = Case("native", "c", tuple(Variant(n, lambda n=n: ones * n) for n in (1.0, 1.00001, 1.1)))
    same, close, wrong = measure.run(case, CPU, 10, rounds=1)
    assert (same.note, close.note) == ("", "")
    assert wrong.difference == pytest.approx(0.1)
    assert "differs" in wrong.note


def test_a_call_that_takes_too_much_is_left_out_with_its_reason():
    def call():
        pytest.fail("it was tried")

    def small():
        return torch.ones(250_000)

    variants = (
        Variant("slow", call, scout=Scout(small, 1e9)),
        Variant("fine", small, (Target(measure.SPEEDUP, 2),), Scout(small, 1.0)),
    )
    slow, fine = measure.run(Case("native", "c", variants), CPU, 10, rounds=1)
    assert "GB of memory" in slow.missing
    assert slow.times == []
    assert fine.times
    row = record.measured(Case("native", "c", variants), fine, slow)
    assert row["ratio_to_reference"] is None
    assert row["met"] == "-"


def test_peak_memory_is_what_lives_at_once():
    def call():
        first = torch.empty(1_000_000)
        del first
        second, third = torch.empty(500_000), torch.empty(750_000)
        return second, third

    memory.peak_mb(call, CPU)
    assert memory.peak_mb(call, CPU)[1] == pytest.approx(5.0, rel=0.01)  # second and third


def test_views_are_no_operations():
    x = torch.ones(2, 3)
    # A copy and a sum.
    assert memory.operations(lambda: x.T.reshape(-1)[1:].view(1, 5) + 1) == 2


def test_quick_variants_are_called_more_often():
    assert measure._turns([1000.0, 1.0, 20.0, 900.0]) == [1, measure.TURNS, 5, 1]


def test_the_command_writes_record_page_and_plot(tmp_path):
    assert command.main(["--quick", "--only", "data", "--output", str(tmp_path)]) == 0
    with (tmp_path / "results.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert tuple(rows[0]) == record.COLUMNS
    assert {row["group"] for row in rows} == {"data"}
    for row in rows:
        assert float(row["median_ms"]) > 0
        assert row["threads"] == "1"
        assert row["torch"] == torch.__version__
        assert row["device"]
        assert row["target"] == ""  # none is set for tiny sizes
    text = (tmp_path / "page.md").read_text()
    assert "## Data and evaluation" in text
    assert "(plot.png)" in text
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_when_the_time_is_up_the_rest_is_told_not_measured(tmp_path):
    options = ["--quick", "--only", "data", "--minutes", "0", "--output", str(tmp_path)]
    assert command.main(options) == 0
    rows = record.read(tmp_path / "results.csv")
    assert {row["note"] for row in rows} == {"the time was up"}
    assert "native evaluation: the time was up." in (tmp_path / "page.md").read_text()


def test_a_run_of_one_group_keeps_the_rows_of_the_others(tmp_path):
    path = tmp_path / "results.csv"
    record.Record(path, CPU, ["native", "data"]).miss("native", "a case", "no reason")
    record.Record(path, CPU, ["data"]).miss("data", "another", "no reason")
    record.Record(path, CPU, ["data"]).miss("data", "again", "no reason")
    assert [row["case"] for row in record.read(path)] == ["a case", "again"]


def test_the_page_tells_missed_targets_first(tmp_path):
    def call():
        return torch.ones(1)

    targets = Target(measure.SPEEDUP, 1e9), Target(measure.MILLISECONDS, 1e9)
    case = Case("training", "a case", (Variant("plain", call), Variant("fast", call, targets)))
    kept = record.Record(tmp_path / "results.csv", CPU, ["training"])
    kept.add(case, measure.run(case, CPU, 10, rounds=2), busy_elsewhere=1.5)
    text = page.render(record.read(kept.path), "plot.png")
    assert "Targets: 1 met, 1 missed, 0 not measured." in text
    assert text.index("speedup >= 1e+09") < text.index("ms <= 1e+09")
    assert "the machine was shared" in text
