"""Every benchmark runs at a tiny size with equal outputs; its ratios and its record."""

import made
import pandas as pd
import pytest
import torch

from benchmarks import __main__ as command
from benchmarks import bench, measure, memory, record
from benchmarks.measure import Result

CPU = torch.device("cpu")


@pytest.mark.parametrize("group", command.GROUPS)
def test_every_case_runs_and_its_variants_agree(group):
    for case in command.GROUPS[group].build_cases(bench.Bench.open(CPU, True)):
        results = measure.measure_case(case, CPU, seconds=0, least=1)
        for result in results:
            assert min(result.all_times) > 0
        if case.same:
            assert all(result.difference <= measure.TOLERANCE for result in results[1:])


def test_a_speedup_is_the_median_of_the_rounds_ratios_between_their_quartiles():
    slow = Result([[100.0], [200.0], [900.0]], peak_mib=30.0)
    fast = Result([[4.0], [10.0], [30.0]], peak_mib=2.0, difference=0.1)
    found = record.compare(fast, slow, items=2)
    assert found["ratio_to_reference"] == 25  # of 25, 20, 30; the ratio of the medians is 20
    assert (found["ratio_p25"], found["ratio_p75"]) == (22.5, 27.5)
    assert found["memory_ratio"] == 15
    assert found["items_per_s"] == 200
    assert found["note"] == "output differs from the reference's"


def test_peak_memory_is_what_lives_at_once():
    def call():
        first = torch.empty(2**20)
        del first
        second, third = torch.empty(2**19), torch.empty(3 * 2**18)
        return second, third

    memory.measure_memory(call, CPU)
    _, peak = memory.measure_memory(call, CPU)
    assert peak == pytest.approx(5.0, rel=0.01)  # second and third


def test_the_command_writes_a_record_and_keeps_other_groups(tmp_path):
    other = {"group": "training", "case": "kept", "date": "2026-01-01", "device": "cpu"}
    path = tmp_path / "results.csv"
    pd.DataFrame([other, {"group": "data", "case": "renewed"}]).to_csv(path)
    assert command.main(["--quick", "--only", "data", "--output", str(tmp_path)]) == 0
    kept, *rows = made.rows(path)
    assert kept["case"] == "kept"
    assert {row["group"] for row in rows} == {"data"}
    for row in rows:
        assert float(row["median_ms"]) > 0
        assert (row["threads"], row["torch"]) == ("1", torch.__version__)
