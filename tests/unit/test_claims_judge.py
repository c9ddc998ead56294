"""Verdicts under other conditions than the paper's, and the rows that tell them."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import made
import pytest
from made_up_runs import PAPER as RECORDED
from made_up_runs import build_paper_run

from gblsr_repro.analysis.claims.cells import list_cells
from gblsr_repro.analysis.claims.judge import judge, judge_all
from gblsr_repro.analysis.claims.stated import BY_ROW, CLAIMS, COLUMNS, MEASURES, Claim
from gblsr_repro.analysis.claims.verdicts import JudgedClaim, Verdict, read_claims, write_claims
from gblsr_repro.analysis.provenance.conditions import RunConditions
from gblsr_repro.analysis.provenance.differences import Provenance, Scope
from gblsr_repro.analysis.reader import Aggregates, Rows, read_paper_aggregates
from gblsr_repro.cli import main
from gblsr_repro.config import find_repository_root, load, read_table
from gblsr_repro.errors import UserError
from gblsr_repro.reporting.claims import summarize
from results import merge_provenance, set_seeds, set_setting

PAPER = read_paper_aggregates(load())
RUN = build_paper_run().hold()
ALL = CLAIMS | {cell.id: cell for cell in list_cells(PAPER)}
NATIVE, ASR = RECORDED
DEMO = [  # of one seed
    replace(set_seeds(set_seeds(paper, one), one, timed=True), preset="demo")
    for paper in RECORDED
    for one in [{subject: [0] for subject in paper.seeds}]
]


def row(claim: str, *recorded: RunConditions, **tables: Rows) -> JudgedClaim:
    """Judge a claim on the paper's numbers, under the paper's conditions but for some recorded."""
    run = Aggregates(RUN.folder, RUN.config, tables=RUN.tables | tables)
    told = {paper.benchmark: paper for paper in (NATIVE, ASR)}
    told |= {own.benchmark: own for own in recorded}
    run.provenance = merge_provenance(*told.values())
    return judge(ALL[claim], run, PAPER)


def without(kind: str, **names: str) -> Rows:
    return [row for row in RUN.tables[kind] if names.items() - row.items()]


def test_what_is_not_measured_says_why() -> None:
    absent = without("native", dataset="urban100", arm="gblsr_scalar", metric="psnr")
    found = row("winners urban100 gap_psnr", native=absent)
    assert found.verdict == Verdict.NOT_MEASURED
    assert found.reason == "native.csv has no urban100 gblsr_scalar psnr"
    assert found.published == "+2.974"
    assert "times every method once" in row("retiming").reason


def test_only_the_data_sets_of_a_claim_count() -> None:
    sets = {**NATIVE.evaluate, "set14": [made.image_set("s", "Set14", 3, 14)]}
    partial = replace(NATIVE, evaluate=sets)
    assert row("winners kodak gap_psnr", partial).verdict == Verdict.REPRODUCED
    found = row("winners set14 gap_psnr", partial)
    assert (found.verdict, found.holds) == (Verdict.DIFFERENT, "yes")
    assert "3 of 14 images of Set14" in found.conditions


@pytest.mark.parametrize(
    ("mean", "std", "holds", "interval"),
    [
        (22.44, 0.1, "yes", "-0.144 to +0.148"),
        (22.64, 0.3, "", "-0.176 to +0.58"),
        (23.0, 0.1, "no", "+0.416 to +0.708"),
    ],
)
def test_under_other_conditions_the_numbers_alone_say_whether_a_claim_would_hold(
    mean: float, std: float, holds: str, interval: str
) -> None:
    fewer = set_setting(NATIVE, "native.training.steps", 40)
    key = {"dataset": "kodak", "arm": "gblsr_full", "metric": "psnr"}
    other = [*without("native", **key), {**key, "mean": mean, "std": std, "n": 3}]
    found = row("winners kodak best_psnr", fewer, native=other)
    assert (found.verdict, found.holds, found.interval) == (Verdict.DIFFERENT, holds, interval)
    assert found.conditions == "steps: 40 (paper: 2,000)"


def test_one_seed_each_decides_no_order_within_the_published_deviations() -> None:
    """By 0.009 dB Full is ahead of Scalar on every set, by 0.6 dB LTE of LIIF."""
    means = {"gblsr_full": 0.009, "gblsr_scalar": 0.0, "lte": -3.0, "liif": -4.0}
    single = [
        {**row, "mean": 22 + means.get(row["arm"], -9.0), "std": math.nan, "n": 1}
        if row["metric"] == "psnr"
        else row
        for row in RUN.tables["native"]
    ]
    found = row("best_psnr_is_full", native=single)
    assert (found.verdict, found.holds, found.measured) == (Verdict.UNDECIDED, "", "0.00900")
    assert found.reason == "3 of 3 undecided"
    assert row("rank_psnr_lte_liif", native=single).verdict == Verdict.REPRODUCED


def test_center_crops_qualify_a_verdict() -> None:
    crops = made.image_set("urban100_center256", "crops", 100, 100, stands_in_for="urban100")
    found = row(
        "winners urban100 gap_psnr",
        replace(NATIVE, evaluate={**NATIVE.evaluate, "urban100": [crops]}),
    )
    assert found.qualified_verdict == "reproduced, urban100: crops in place of Urban100"
    assert found.conditions == "urban100: crops in place of Urban100"
    stand_in = crops.model_copy(update={"dataset": "demo_urban100"})
    for other in (stand_in, crops.model_copy(update={"images": 30, "complete": False})):
        sets = {**NATIVE.evaluate, "urban100": [other]}
        assert (
            row("winners urban100 gap_psnr", replace(NATIVE, evaluate=sets)).verdict
            == Verdict.DIFFERENT
        )


def test_the_headline_counts_what_the_run_decides() -> None:
    rows = [
        row("cost_ratio", replace(NATIVE, timed_on=["AMD EPYC"])),  # 0.247 on a CPU says nothing
        row("compute_native main longest", replace(NATIVE, devices=["AMD EPYC"])),
        row("lpips_gain"),
        row("best_psnr_is_full"),
        row("retiming"),
        row("fairness gblsr_scalar parameters"),
        row("full_tie_df"),
    ]
    assert [(found.verdict, found.holds) for found in rows] == [
        ("needs the paper's GPU", ""), ("needs the paper's GPU", ""), ("reproduced", "yes"),
        ("undecided", ""), ("not measured", ""), ("follows from the code", "yes"),
        ("not judged", "")]  # fmt: skip
    assert summarize(rows) == (
        "Of 2 claims that this run's numbers are about, 1 are as the paper says, 0 are not, and 1 "
        "are undecided: these seeds cannot tell. Counted apart: 1 that follow from the code alone, "
        "1 shown and not judged, 2 that need the paper's GPU, 1 without a number here."
    )


def test_other_training_images_qualify_a_verdict() -> None:
    other = [made.image_set("bsds500", "BSDS500", 399, 399, stands_in_for="div2k_train")]
    found = row("winners kodak gap_psnr", replace(NATIVE, preset="mirror", train=other))
    assert (found.verdict, found.holds) == (Verdict.REPRODUCED, "yes")
    assert found.qualifier == found.conditions == "trained on BSDS500 in place of DIV2K"
    # Beside another condition that blocks a verdict it is one of the conditions.
    fewer = set_setting(NATIVE, "native.training.steps", 40)
    blocked = row("winners kodak gap_psnr", replace(fewer, train=other))
    assert (blocked.verdict, blocked.qualifier) == (Verdict.DIFFERENT, "")
    unknown = row("winners kodak gap_psnr", replace(NATIVE, train=()))
    assert (unknown.verdict, unknown.conditions) == (
        Verdict.DIFFERENT, "trained on images not recorded")  # fmt: skip
    assert row("fairness gblsr_scalar parameters", replace(NATIVE, train=other)).qualifier == ""


def test_a_time_on_a_shared_gpu_is_shown_and_not_judged() -> None:
    shared = replace(NATIVE, shared_gpu=["liif"])
    found = row("cost_ratio", shared)
    assert (found.verdict, found.holds, found.allowed) == (Verdict.NOT_JUDGED, "", "")
    assert found.measured == "0.247 / 0.247 / 0.247"
    assert found.reason == "timed on a shared GPU, and so not judged"
    assert row("cost_vs_lte", shared).verdict == Verdict.REPRODUCED
    assert row("winners kodak gap_psnr", shared).verdict == Verdict.REPRODUCED


def test_a_claim_that_reads_times_counts_the_conditions_of_timings() -> None:
    found = row("inference_native", replace(NATIVE, timed_on=["NVIDIA A100"]))
    timed = "timed on: NVIDIA A100 (paper: NVIDIA H200)"
    assert (found.verdict, found.conditions) == (Verdict.OTHER_DEVICE, timed)
    assert row("inference_native", replace(NATIVE, shared_gpu=["wire"])).verdict == (
        Verdict.NOT_JUDGED
    )
    assert row("inference_native").verdict == Verdict.REPRODUCED
    assert row("compute_native main total", replace(NATIVE, timed_on=["NVIDIA A100"])).verdict == (
        Verdict.REPRODUCED
    )


@pytest.mark.parametrize(
    "claim",
    [
        "steps_worse_in_lpips",
        "locality gblsr_full criterion_b",
        "locality gblsr_fixed delta_psnr",
    ],
)
def test_a_gap_to_the_control_arm_counts_the_conditions_of_that_arm(claim: str) -> None:
    assert row(claim).verdict == Verdict.REPRODUCED
    found = row(claim, set_seeds(NATIVE, {"gblsr_scalar": [0]}))
    seeds = "seeds of Scalar: 0 (paper: 0, 1, 2)"
    assert (found.verdict, found.conditions) == (Verdict.DIFFERENT, seeds)


def test_structure_follows_from_the_code_whatever_is_run() -> None:
    demo = [replace(paper, preset="demo") for paper in (NATIVE, ASR)]
    assert row("fairness gblsr_scalar parameters").verdict == Verdict.FROM_CODE
    found = row("fairness gblsr_scalar parameters", *demo)
    assert (found.verdict, found.holds, found.conditions) == (Verdict.FROM_CODE, "yes", "")
    smaller = [{"statistic": "gblsr_scalar", "mean": 12.0}]
    assert (
        row("fairness gblsr_scalar parameters", structure=smaller).verdict == Verdict.NOT_REPRODUCED
    )


@pytest.mark.parametrize(
    "provenance",
    [Provenance(), merge_provenance(*DEMO)],
)
def test_without_records_or_in_a_demo_structure_alone_holds(provenance: Provenance) -> None:
    run = Aggregates(RUN.folder, RUN.config, tables=RUN.tables)
    run.provenance = provenance
    for claim in CLAIMS.values():
        found = judge(claim, run, PAPER)
        assert found.verdict not in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED)
        assert found.verdict != Verdict.FROM_CODE or claim.scope == Scope.STRUCTURE


def test_a_rule_that_does_not_exist_is_named(tmp_path: Path) -> None:
    text = (find_repository_root() / "config/paper/claims.tsv").read_text()
    (tmp_path / "claims.tsv").write_text(text.replace("\tordering\t", "\tordring\t", 1))
    with pytest.raises(UserError, match=r"line 4: rule is 'ordring': .*'ordering'"):
        read_table(tmp_path / "claims.tsv", Claim, "id")
    (tmp_path / "claims.tsv").write_text(text.replace("\tequals\tpsnr\t", "\tequals\t\t", 1))
    with pytest.raises(UserError, match=r"line 2: .*the rule 'equals' needs a margin"):
        read_table(tmp_path / "claims.tsv", Claim, "id")


def test_what_measures_a_claim_belongs_to_one() -> None:
    assert {*MEASURES} <= {*CLAIMS}
    assert {*BY_ROW} == {*COLUMNS}


# --- files ----------------------------------------------------------------------------------------


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = judge_all(RUN)
    write_claims(rows, tmp_path / "claims.csv")
    assert read_claims(tmp_path / "claims.csv") == rows
    assert [row.id for row in rows] == [*CLAIMS, *(cell.id for cell in list_cells(PAPER))]
    write_claims([replace(rows[0], verdict="perhaps")], tmp_path / "claims.csv")
    with pytest.raises(UserError, match=r"psnr_gain.*'perhaps'.*judge the claims again"):
        read_claims(tmp_path / "claims.csv")


def test_the_command_writes_every_claim(tmp_path: Path) -> None:
    run = build_paper_run(tmp_path)
    del run.rows["asr_runs"]
    folder = run.write()
    assert main(["claims", "--aggregates", str(folder), "--output", str(tmp_path)]) == 0
    rows = {row.id: row for row in read_claims(tmp_path / "claims.csv")}
    assert list(rows)[: len(CLAIMS)] == list(CLAIMS)
    gap = rows["winners urban100 gap_psnr"]
    assert (gap.verdict, gap.holds, gap.measured) == ("reproduced", "yes", "+2.974")
    assert float(gap.measured_values) == pytest.approx(2.974)
    assert rows["compute_asr RDN longest"].reason == "asr_runs.csv was not made"
    assert main(["claims", "--aggregates", str(tmp_path / "none"), "--output", str(tmp_path)]) == 2
