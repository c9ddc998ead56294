"""A derived number is absent where one it follows from is; bold numbers, distances, time."""

import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from made_up_runs import build_paper_run

from gblsr_repro.analysis import derived
from gblsr_repro.analysis.criteria import compare_with_anchor, judge_criteria
from gblsr_repro.analysis.estimates import Estimate
from gblsr_repro.analysis.metrics import PSNR
from gblsr_repro.analysis.reader import Aggregates, read_paper_aggregates
from gblsr_repro.analysis.statistics import Summary, mark_bold
from gblsr_repro.analysis.training_time import add_up, list_published_trainings
from gblsr_repro.config import load

RUN = build_paper_run().hold()
NAN = math.nan


@pytest.mark.parametrize(
    ("cells", "strong"),
    [
        # Without a spread only what prints alike ties.
        ([(20.0004, NAN, 1), (20.0001, NAN, 1), (19.9, NAN, 1), ()], [1, 1, 0, 0]),
        ([(20.0, NAN, 1), (19.99, 5.0, 3)], [1, 0]),
        ([(2.0, 0.0, 3), (2.0, 0.0, 3), (1.0, 0.0, 3)], [1, 1, 0]),  # identical seeds
        ([(), (2.0, 0.1, 3)], [0, 0]),  # the best of one
    ],
)
def test_bold(cells, strong):
    column = [Summary(*cell) for cell in cells]
    assert mark_bold(column, PSNR, 0.05) == list(map(bool, strong))


def test_a_number_that_follows_from_an_absent_one_is_absent():
    rows = [row for row in RUN.table("native") if (row["dataset"], row["arm"]) != ("kodak", "liif")]
    run = Aggregates(Path("nowhere"), load(), tables={"native": rows})
    read = derived.read_value
    assert read(RUN, derived.mean_over_sets, "liif", "psnr") > 0
    assert math.isnan(read(run, derived.mean_over_sets, "liif", "psnr"))
    assert read(run, derived.mean_over_sets, "liif", "psnr", ["set14"]) > 0
    assert math.isnan(read(RUN, derived.psnr_gaps, "liif_rdn", "gblsr_asr", []))
    # The best of the baselines is not known where one of them is not; the gap to the control is.
    outcomes = judge_criteria(run, run.config)
    assert outcomes["psnr_below_best_baseline"].met_on["kodak"] is None
    assert outcomes["psnr_below_best_baseline"].met  # on the other two, which are enough
    assert outcomes["psnr_above_control"].met_on["kodak"]
    assert outcomes["latency_ratio"].met is None


def test_the_slowest_arm_is_held_against_the_shortest_training():
    run = SimpleNamespace(seconds=lambda _: Estimate.exact([60.0, 40.0]))
    sets = Estimate.exact([100.0, 300.0]), Estimate.exact([50.0, 500.0])  # ms of two arms
    assert derived.share_of_training(run, ["a", "b"], sets).values.tolist() == [0.8 / 40]


def test_distances_are_medians_over_the_published_cells_that_were_measured():
    run = Aggregates(Path("nowhere"), load())
    published = {("kodak", "liif"): 18.812, ("kodak", "lte"): 19.476, ("set14", "lte"): 17.188}
    run.tables["native"] = [
        {"dataset": dataset, "arm": arm, "metric": "psnr", "mean": mean + shift, "std": 0, "n": 3}
        for ((dataset, arm), mean), shift in zip(published.items(), (0.5, -0.2, 0.1), strict=True)
    ]
    paper = read_paper_aggregates(load())
    psnr, ssim = (derived.pair_with_published(run, paper, "native", m) for m in ("psnr", "ssim"))
    assert (len(psnr), psnr["measured"].count()) == (21, 3)
    assert derived.median_distance(psnr) == pytest.approx(0.2, abs=1e-3)
    assert math.isnan(derived.median_distance(ssim))


def test_a_ratio_to_an_absent_anchor_is_unknown():
    known = compare_with_anchor({"gblsr_scalar": 100, "liif": 130, "wire": 80}, load())
    assert [(budget.ratio, budget.in_band) for budget in known.values()] == [
        (1, True),
        (1.3, False),
        (0.8, True),
    ]
    (alone,) = compare_with_anchor({"liif": 130}, load()).values()
    assert math.isnan(alone.ratio)
    assert alone.in_band is None


def test_the_papers_training_time_is_summed_over_the_groups_shown():
    groups = list_published_trainings("native", ["baselines", "linear"])
    assert [*groups] == ["baselines", "linear"]
    whole = add_up(groups.values())
    assert (whole.runs, whole.total_seconds) == (15, 1528 + 468)
    assert list_published_trainings("native", []) == {}
