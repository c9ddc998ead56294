"""Derived aggregates: the same numbers as the claims have, to the bit, and what follows by hand."""

import math
from pathlib import Path

import pytest
from published_run import published_run

from gblsr_repro.analysis.aggregate import derive
from gblsr_repro.analysis.budget import compare_with_anchor
from gblsr_repro.analysis.claims.measured import Measured
from gblsr_repro.analysis.claims.topics import CLAIMS
from gblsr_repro.analysis.reader import Aggregates
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


def test_the_method_that_gains_most_has_the_first_place():
    rows = [row for row in derive("psnr_gaps", RUN) if row["reference"] == "gblsr_asr"]
    cell = [row for row in rows if (row["dataset"], row["scale"]) == ("urban100", "4")]
    ranked = sorted(cell, key=lambda row: row["place"])
    assert [row["place"] for row in ranked] == [*range(1, len(cell) + 1)]
    assert [row["gap"] for row in ranked] == sorted((row["gap"] for row in cell), reverse=True)
    assert ranked[0]["method"] == "lte_swinir"


def test_means_over_data_sets_say_how_many_an_arm_has():
    full = find("native_means", arm="gblsr_full", metric="psnr")
    cells = [RUN.mean("native", column, "gblsr_full", "psnr") for column in RUN.evaluate]
    assert (full["datasets"], full["mean"]) == (3, pytest.approx(sum(cells) / 3))
    partial = Aggregates(Path("nowhere"), load())
    partial.tables["native"] = [row for row in RUN.table("native") if row["dataset"] != "kodak"]
    assert {row["datasets"] for row in derive("native_means", partial)} == {2}


def test_distances_are_medians_over_the_published_cells_that_were_measured():
    run = Aggregates(Path("nowhere"), load())
    published = {
        ("kodak", "liif"): 18.812,
        ("kodak", "lte"): 19.476,
        ("set14", "lte"): 17.188,
    }
    shifts = (0.5, -0.1, 0.3)
    run.tables["native"] = [
        {
            "dataset": key[0],
            "arm": key[1],
            "metric": "psnr",
            "mean": value + shift,
            "std": 0,
            "n": 3,
        }
        for (key, value), shift in zip(published.items(), shifts, strict=True)
    ]
    rows = {row["metric"]: row for row in derive("distances", run)}
    assert {row["aggregate"] for row in rows.values()} == {"native"}
    assert (rows["psnr"]["published"], rows["psnr"]["measured"]) == (21, 3)
    assert rows["psnr"]["median"] == pytest.approx(0.3, abs=1e-3)
    assert rows["ssim"]["measured"] == 0
    assert math.isnan(rows["ssim"]["median"])


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
