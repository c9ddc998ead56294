"""Verdicts under other conditions than the paper's, and the rows that tell them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import made
import pytest
from made_up_runs import build_paper_run

from gblsr_repro.analysis.claims.cells import list_cells
from gblsr_repro.analysis.claims.judge import judge, judge_all
from gblsr_repro.analysis.claims.stated import CELL_MEASURES, CLAIMS, COLUMNS, MEASURES
from gblsr_repro.analysis.claims.verdicts import JudgedClaim, Verdict, read_claims, write_claims
from gblsr_repro.analysis.provenance.differences import Provenance
from gblsr_repro.analysis.reader import Aggregates, Rows, read_paper_aggregates
from gblsr_repro.cli import main
from gblsr_repro.config import Scope, load
from gblsr_repro.errors import UserError
from gblsr_repro.metadata import Images
from gblsr_repro.reporting.claims import summarize
from results import Results

PAPER = read_paper_aggregates(load())
MADE_UP = build_paper_run()
RUN = MADE_UP.hold()
ALL = CLAIMS | {cell.id: cell for cell in list_cells(PAPER)}
Change = Callable[[Results], object]


def row(claim: str, *changes: Change, **tables: Rows) -> JudgedClaim:
    """Judge a claim on the paper's numbers, under the paper's conditions but for some changes."""
    run = Aggregates(RUN.folder, RUN.config, tables=RUN.tables | tables)
    run.provenance = compare(*changes) if changes else RUN.provenance
    return judge(ALL[claim], run, PAPER)


def compare(*changes: Change) -> Provenance:
    recorded = copy.deepcopy(MADE_UP)
    for change in changes:
        change(recorded)
    return recorded.compare()


def change(files: str, **entries: Any) -> Change:
    return lambda run: run.change(files, **entries)


def set_images(array: str, images: Images) -> Change:
    return change(f"native/arrays/{array}.json", datasets=[images])


def train_for_40_steps(run: Results) -> None:
    run.set_setting("native.training.steps", 40)


def without(kind: str, **names: str) -> Rows:
    return [row for row in RUN.tables[kind] if names.items() - row.items()]


def test_what_is_not_measured_says_why() -> None:
    absent = without("native", dataset="urban100", arm="gblsr_scalar", metric="psnr")
    found = row("winners urban100 gap_psnr", native=absent)
    assert found.verdict == Verdict.NOT_MEASURED
    assert found.reason == "native.csv has no urban100 gblsr_scalar psnr"
    assert found.published == "+2.974"
    assert "times every method once" in row("retiming").reason


@pytest.mark.parametrize(
    ("mean", "std", "agreement", "interval"),
    [
        (22.44, 0.1, "holds", "-0.144 to +0.148"),
        (22.64, 0.3, "undecided", "-0.176 to +0.58"),
        (23.0, 0.1, "fails", "+0.416 to +0.708"),
    ],
)
def test_under_other_conditions_the_numbers_alone_say_whether_a_claim_would_hold(
    mean: float, std: float, agreement: str, interval: str
) -> None:
    key = {"dataset": "kodak", "arm": "gblsr_full", "metric": "psnr"}
    other = [*without("native", **key), {**key, "mean": mean, "std": std, "n": 3}]
    found = row("winners kodak best_psnr", train_for_40_steps, native=other)
    assert (found.verdict, found.interval) == (Verdict.DIFFERENT, interval)
    assert found.agreement == agreement
    assert found.differences == "steps: 40 (paper: 2,000)"


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
    assert (found.verdict, found.agreement, found.measured) == (
        Verdict.UNDECIDED, "undecided", "0.00900")  # fmt: skip
    assert found.reason == "3 of 3 undecided"
    assert row("rank_psnr_lte_liif", native=single).verdict == Verdict.REPRODUCED


def test_center_crops_qualify_a_verdict() -> None:
    crops = made.image_set("urban100_center256", "crops", 100, 100, stands_in_for="urban100")
    found = row("winners urban100 gap_psnr", set_images("urban100", crops))
    assert found.qualified_verdict == "reproduced, urban100: crops in place of Urban100"
    assert found.differences == "urban100: crops in place of Urban100"
    stand_in = crops.model_copy(update={"dataset": "demo_urban100"})
    few = crops.model_copy(update={"images": 30, "complete": False})
    for other in (stand_in, few, crops.model_copy(update={"other_pixels": ["a"]})):
        blocked = row("winners urban100 gap_psnr", set_images("urban100", other))
        assert (blocked.verdict, blocked.agreement) == (Verdict.DIFFERENT, "holds")
        kodak = row("winners kodak gap_psnr", set_images("urban100", other))
        assert kodak.verdict == Verdict.REPRODUCED  # which it does not concern


def test_the_headline_counts_what_the_run_decides() -> None:
    rows = [
        row(
            "cost_ratio", change("native/latency/*", device={"name": "AMD EPYC"})
        ),  # 0.247 on a CPU says nothing
        row("compute_native main longest", change("native/runs/*", device={"name": "AMD EPYC"})),
        row("lpips_gain"),
        row("best_psnr_is_full"),
        row("retiming"),
        row("fairness gblsr_scalar parameters"),
        row("full_tie_df"),
    ]
    assert [(found.verdict, found.agreement) for found in rows] == [
        ("needs the paper's GPU", ""), ("needs the paper's GPU", ""), ("reproduced", "holds"),
        ("undecided", "undecided"), ("not measured", ""), ("follows from the code", "holds"),
        ("not judged", "")]  # fmt: skip
    assert summarize(rows) == (
        "Of 2 claims that this run's numbers are about, 1 are as the paper says, 0 are not, and 1 "
        "are undecided: these seeds cannot tell. Counted apart: 1 that follow from the code alone, "
        "1 shown and not judged, 2 that need the paper's GPU, 1 without a number here."
    )


def test_other_training_images_qualify_a_verdict() -> None:
    images = made.image_set("bsds500", "BSDS500", 399, 399, stands_in_for="div2k_train")
    other = set_images("train", images)
    found = row("winners kodak gap_psnr", other, lambda run: run.config.update(preset="mirror"))
    assert (found.verdict, found.agreement) == (Verdict.REPRODUCED, "holds")
    assert found.qualifier == found.differences == "trained on BSDS500 in place of DIV2K"
    # Beside another condition that blocks a verdict it is one of the conditions.
    blocked = row("winners kodak gap_psnr", other, train_for_40_steps)
    assert (blocked.verdict, blocked.qualifier) == (Verdict.DIFFERENT, "")
    unknown = row("winners kodak gap_psnr", lambda run: run.forget("native/arrays/train.json"))
    assert (unknown.verdict, unknown.differences) == (
        Verdict.DIFFERENT, "trained on images not recorded")  # fmt: skip
    unknown = row("winners kodak gap_psnr", lambda run: run.forget("native/arrays/kodak.json"))
    assert unknown.verdict == Verdict.DIFFERENT
    assert row("fairness gblsr_scalar parameters", other).qualifier == ""


def test_a_time_on_a_shared_gpu_is_shown_and_not_judged() -> None:
    shared = change("native/latency/liif/*", gpu_shared=True)
    found = row("cost_ratio", shared)
    assert (found.verdict, found.agreement, found.allowed) == (Verdict.NOT_JUDGED, "", "")
    assert found.measured == "0.247 / 0.247 / 0.247"
    assert found.reason == "timed on a shared GPU, and so not judged"
    assert row("cost_vs_lte", shared).verdict == Verdict.REPRODUCED
    assert row("winners kodak gap_psnr", shared).verdict == Verdict.REPRODUCED


def test_a_claim_that_reads_times_counts_the_conditions_of_timings() -> None:
    other_device = change("native/latency/*", device={"name": "NVIDIA A100"})
    found = row("inference_native", other_device)
    timed = "timed on: NVIDIA A100 (paper: NVIDIA H200)"
    assert (found.verdict, found.differences) == (Verdict.OTHER_DEVICE, timed)
    shared = row("inference_native", change("native/latency/wire/*", gpu_shared=True))
    assert shared.verdict == Verdict.NOT_JUDGED
    assert row("inference_native").verdict == Verdict.REPRODUCED
    assert row("compute_native main total", other_device).verdict == Verdict.REPRODUCED


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
    found = row(claim, lambda run: run.forget("native/runs/gblsr_scalar/seed[12]/*"))
    seeds = "seeds of Scalar: 0 (paper: 0, 1, 2)"
    assert (found.verdict, found.differences) == (Verdict.DIFFERENT, seeds)


def test_structure_follows_from_the_code_whatever_is_run() -> None:
    assert row("fairness gblsr_scalar parameters").verdict == Verdict.FROM_CODE
    found = row("fairness gblsr_scalar parameters", train_for_40_steps)
    assert (found.verdict, found.agreement, found.differences) == (Verdict.FROM_CODE, "holds", "")
    smaller = [{"statistic": "gblsr_scalar", "mean": 12.0}]
    assert (
        row("fairness gblsr_scalar parameters", structure=smaller).verdict == Verdict.NOT_REPRODUCED
    )


def test_without_records_structure_alone_holds() -> None:
    run = Aggregates(RUN.folder, RUN.config, tables=RUN.tables)
    run.provenance = Provenance()
    for found in judge_all(run):
        assert found.verdict not in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED)
        assert found.verdict != Verdict.FROM_CODE or found.scope == Scope.STRUCTURE


@pytest.mark.parametrize(
    ("row", "complaint"),
    [("gblsr_asr_nf49", "did you mean 'gblsr_asr_nf96'"), ("liif", "do not give the row 'liif'")],
)
def test_a_claim_about_a_row_that_the_paper_s_table_lacks_is_named(
    monkeypatch: pytest.MonkeyPatch, row: str, complaint: str
) -> None:
    name = "asr_pareto_appendix {} trained"
    monkeypatch.setitem(COLUMNS, name, made.changed(COLUMNS[name], rows=[row]))
    with pytest.raises(UserError, match=complaint):
        list_cells(PAPER)


def test_what_measures_a_claim_belongs_to_one() -> None:
    assert {*MEASURES} <= {*CLAIMS}
    assert {*CELL_MEASURES} == {*COLUMNS}


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
    assert main(["claims", "--aggregates", str(folder)]) == 0  # beside them
    rows = {row.id: row for row in read_claims(folder.parent / "claims.csv")}
    assert list(rows)[: len(CLAIMS)] == list(CLAIMS)
    gap = rows["winners urban100 gap_psnr"]
    assert (gap.verdict, gap.agreement, gap.measured) == ("reproduced", "holds", "+2.974")
    assert float(gap.measured_values) == pytest.approx(2.974)
    assert rows["compute_asr RDN longest"].reason == "asr_runs.csv was not made"
    assert main(["claims", "--aggregates", str(tmp_path / "none")]) == 2
