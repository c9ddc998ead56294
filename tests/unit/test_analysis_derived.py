"""Derived aggregates: the same numbers as the claims have, to the bit, and what follows by hand."""

import math

import pytest
from published_run import published_run

from gblsr_repro.analysis.aggregate import derive
from gblsr_repro.analysis.budget import compare_with_anchor
from gblsr_repro.analysis.claims.paper import CLAIMS
from gblsr_repro.analysis.measured import Measured
from gblsr_repro.analysis.training_time import list_published_times
from gblsr_repro.config import load

RUN = published_run()
PAIR = {"method": "gblsr_asr_nole", "reference": "gblsr_asr"}
FASTER = {"method": "gblsr_asr", "reference": "liif_rdn", "clock": "paper"}


def find(name, **keys):
    (row,) = (row for row in derive(name, RUN) if keys.items() <= row.items())
    return row


@pytest.mark.parametrize(
    ("claim", "name", "keys", "column"),
    [
        ("psnr_gap_kodak", "best_arms",
         {"dataset": "kodak", "metric": "psnr", "among": "baseline"}, "gap"),
        ("lpips_gap_set14", "best_arms",
         {"dataset": "set14", "metric": "lpips", "among": "baseline"}, "gap"),
        ("speed_liif", "speed", FASTER, "geometric_mean"),
        ("speedup_gblsr_asr_nole", "speed", PAIR | {"clock": "paper"}, "mean"),
        ("memory_gblsr_asr_nole", "speed", PAIR | {"clock": "paper"}, "memory_saved"),
        ("delta_id_gblsr_asr_nole", "mean_psnr_gaps", PAIR | {"scales": "trained"}, "mean"),
        ("delta_ood_gblsr_asr_nole", "mean_psnr_gaps", PAIR | {"scales": "untrained"}, "mean"),
        ("delta_worst_gblsr_asr_nole", "mean_psnr_gaps", PAIR | {"scales": "all"}, "lowest"),
        ("nf48_cost_urban100_x4", "psnr_gaps",
         PAIR | {"method": "gblsr_asr_nf48_nole", "dataset": "urban100", "scale": "4"}, "gap"),
    ],
)  # fmt: skip
def test_a_derived_number_is_the_one_that_is_judged(claim, name, keys, column):
    (value,) = CLAIMS[claim].measure(Measured(RUN)).values
    assert find(name, **keys)[column] == value


def test_ties_stand_below_the_best_arm():
    rows = [row for row in derive("best_arms", RUN) if row["dataset"] == "kodak"]
    best = [row["arm"] for row in rows if (row["metric"], row["among"]) == ("psnr", "any")]
    assert best == ["gblsr_full", "gblsr_scalar"]
    assert [row["better"] for row in rows if row["among"] == "baseline"] == [1, 1]


def test_a_ratio_to_an_absent_anchor_is_unknown():
    known = {arm: (ratio, within) for arm, _, ratio, within in compare_with_anchor(
        {"gblsr_scalar": 100, "liif": 130, "wire": 80}, load())}  # fmt: skip
    assert known == {"gblsr_scalar": (1, 1), "liif": (1.3, 0), "wire": (0.8, 1)}
    ((_, _, ratio, within),) = compare_with_anchor({"liif": 130}, load())
    assert math.isnan(ratio)
    assert math.isnan(within)


def test_the_papers_training_time_is_summed_over_the_groups_shown():
    rows = {
        row["group"]: row
        for row in list_published_times("native", ["baselines", "linear"])
        if row["arm"] == "all"
    }
    assert [*rows] == ["baselines", "linear", "tabled"]
    assert (rows["tabled"]["runs"], rows["tabled"]["total_seconds"]) == (15, 1528 + 468)
    assert list_published_times("native", []) == []
