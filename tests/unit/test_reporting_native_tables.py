"""Native tables follow other winners, ties, fewer seeds, absent numbers and new rows."""

import math
import shutil

import pytest

from gblsr_repro.analysis.subjects import ARMS, SETS
from gblsr_repro.config import load, tables
from gblsr_repro.errors import UserError
from gblsr_repro.reporting.items import select_items

MAIN = "**GB-LSR-Scalar** (main)"
LIIF = "LIIF (matched-budget amortized)"
WIRE = "WIRE (matched-budget amortized)"

# --- main tables --------------------------------------------------------------------------------


def test_other_winners_and_ties(results):
    changes = {
        ("kodak", "wire", "psnr"): (31.0, 0.4),
        ("kodak", "gblsr_scalar", "psnr"): (30.6, 0.4),  # t = 1.22: a tie
        ("kodak", "liif", "lpips"): (0.1, 0.001),
    }
    results.set_native(changes)
    rows = results.build_cells("main_kodak")
    assert rows[WIRE][0] == "**31.000 ± 0.400**"
    assert rows[MAIN][0] == "**30.600 ± 0.400**"
    assert rows[LIIF][2] == "**0.1000 ± 0.0010**"
    assert rows[MAIN][2] == "0.2000 ± 0.0010"


def test_missing_arm_is_a_row_of_dashes(results):
    results.set_native(arms=ARMS[:-1])
    assert results.build_cells("main_kodak")[WIRE] == ["—"] * 6
    results.config["native"]["arms"].remove("wire")  # then it has none, unless it was measured
    assert len(results.build_cells("main_kodak")) == 6
    results.set_native()
    assert len(results.build_cells("main_kodak")) == 7


def test_extra_evaluation_column_gets_its_table(results):
    config = results.config
    config["native"]["data"]["evaluate"]["b100"] = "b100"
    results.set_native()
    with pytest.raises(UserError, match="no rows for 'b100'"):
        results.build("main_b100")
    results.set_native(columns=(*SETS, "b100"))
    assert "B100" in results.build("main_b100").caption.title
    lse = results.build_all("lse")
    assert [len(table.columns) for table in lse] == [7, 3]  # a page is as wide as three sets
    assert results.build("winners").rows[-1].cells[0] == "B100"
    assert select_items("table", config)["main_b100"].compared is False
    config["native"]["data"]["evaluate"] = {"b100": "b100"}
    assert results.build_beside_paper("lse")["GB-LSR-Full", "paper"] == ["—", "—"]


def test_an_arm_of_the_users_has_rows_and_no_part_in_the_papers_comparisons(
    results, repository, tmp_path, monkeypatch
):
    checkout = tmp_path / "checkout"
    shutil.copytree(repository / "config", checkout / "config")
    (checkout / "Snakefile").touch()
    with (checkout / "config" / "arms.tsv").open("a") as stream:
        cells = ["mine", "m:MineDecoder", "", "My arm", "Mine", "own", "yes", "", "", "A note."]
        stream.write("\t".join(cells) + "\n")
    judged = ("winners", "gates")
    results.set_native()
    without = {name: results.build_cells(name) for name in judged}
    monkeypatch.chdir(checkout)
    monkeypatch.setattr(tables, "find_repository_root", lambda: checkout)
    results.config = load()
    results.config["native"]["arms"].append("mine")
    best = {("kodak", "mine", "psnr"): (40.0, 0.1), ("kodak", "mine", "lpips"): (0.1, 0.001)}
    for measured in ({"changes": best, "arms": (*ARMS, "mine")}, {}):
        results.set_native(**measured)
        assert {name: results.build_cells(name) for name in judged} == without
        main = results.build("main_kodak")
        assert main.rows[-1].cells[0] == "My arm"
        assert main.rows[2].cells[1].startswith("**30.000")
        assert "My arm is not of the paper and not compared for bold" in main.caption.text
    results.set_native(best, arms=(*ARMS, "mine"))
    assert results.build_cells("main_kodak")["My arm"][0].startswith("40.000")
    results.set_budget(mine=1_000_001)
    assert results.build_cells("fairness")["My arm"] == ["1,000,001", "1.010×", "A note."]
    results.set_runs()
    times = results.build_cells("compute_native")
    assert times["**Total**"][0] == "**10**"
    assert times["Not of the paper and not in the total (Mine; 1 arm × 1 seed)"][0] == "1"
    results.config["native"]["arms"] = ["mine"]
    results.set_native(arms=["mine"])
    results.build_allowed("native", "runs")


def test_rows_of_an_arm_that_was_taken_out_are_left_out(results):
    results.set_native(arms=(*ARMS, "mine"))
    assert len(results.build_cells("main_kodak")) == len(ARMS)


# --- summary tables -----------------------------------------------------------------------------


def test_winners_name_ties_best_first_and_bold_clear_gaps(results):
    changes = {
        ("kodak", "gblsr_full", "psnr"): (30.1, 0.3),
        ("kodak", "lte", "lpips"): (0.1, 0.001),
        ("set14", "lte", "psnr"): (30.05, 0.3),
    }
    results.set_native(changes)
    rows = results.build_cells("winners")
    assert rows["Kodak"][0] == "Full ≈ Scalar (30.100)"
    assert rows["Kodak"][2] == "**+4.000**"
    assert rows["Kodak"][3:] == ["LTE (0.1000)", "LTE (0.1000)", "+0.1000"]
    assert rows["Set14"][0] == "LTE ≈ Scalar (30.050)"
    assert rows["Set14"][2] == "−0.050"  # not bold: no better than the baseline
    results.seeds = 1
    results.set_native()
    single = results.build_cells("winners")
    assert single["Kodak"][2] == "+4.000"  # not bold: one seed allows no test


def test_the_caption_says_what_no_test_can_join(results):
    """The best of a column may be an arm of one seed, beside which the test has no say."""
    results.set_native({("kodak", "gblsr_full", "psnr"): (30.001, 0.1)})
    everywhere = results.build("main_kodak").caption.text
    for row in results.rows["native"]:
        if row["arm"] == "gblsr_full":
            row |= {"std": math.nan, "n": 1}
    assert results.build_cells("main_kodak")["GB-LSR-Full"][0] == "**30.001**"
    assert results.build_cells("main_kodak")["**GB-LSR-Scalar** (main)"][0] == "30.000 ± 0.100"
    assert "one seed are not tested" in results.build("main_kodak").caption.text
    assert "not tested" not in everywhere
    for row in results.rows["native"]:
        row |= {"std": math.nan, "n": 1}
    assert "too few seeds" in results.build("main_kodak").caption.text
    results.set_native(arms=["gblsr_scalar"])  # beside which there is nothing to test
    assert "too few seeds" not in results.build("main_kodak").caption.text


def test_fairness_orders_by_rank_and_names_offenders(results):
    results.set_budget(liif=2_000_000)
    rows = results.build_cells("fairness")
    assert next(iter(rows)) == "**GB-LSR-Scalar** (F1 anchor)"
    assert rows[LIIF][:2] == ["2,000,000", "2.020×"]
    assert f"{LIIF} outside the band" in results.build("fairness").caption.text


# --- criteria -----------------------------------------------------------------------------------

PSNR_PART = "at most 0.5 dB below best baseline PSNR"
LPIPS_PART = "at most 0.02 above best baseline LPIPS"
COMPOSITE = "Quality criterion composite"
COST = "Inference-cost criterion"


def test_gates_count_the_sets(results):
    changes = {
        ("kodak", "gblsr_scalar", "psnr"): (25.4, 0.1),  # 0.6 dB below the best baseline's 26
        ("set14", "gblsr_scalar", "inference_ms"): (4.0, 0.1),  # 0.8 of the slowest
    }
    results.set_native(changes)
    rows = results.build_cells("gates")
    assert rows[PSNR_PART][1] == "met (2/3)"
    assert rows[LPIPS_PART][1] == "met (3/3)"
    assert rows[COMPOSITE][1] == "met"
    assert rows[COST][1] == "not met (0.200×, 0.800×, 0.200×)"


def test_a_criterion_about_times_is_not_judged_on_a_shared_gpu(results):
    results.set_native()
    results.record().change("native/latency/liif/*", gpu_shared=True)
    assert results.build_cells("gates")[COST][-1] == "not judged (shared GPU)"


@pytest.mark.parametrize(
    ("deltas", "met", "result"),
    [
        ({"psnr_texture": 0.31, "psnr_mixed": 0, "lpips": 0.1, "psnr_edge": -0.21}, 0,
         "neither criterion met"),
        ({"psnr_texture": 0, "psnr_mixed": 0, "lpips": -0.015, "psnr_edge": 0}, 4, "A met, B met"),
        ({"psnr_texture": 0, "psnr_mixed": 0, "psnr_edge": 0}, 3, "A not met, B not measured"),
    ],
)  # fmt: skip
def test_criteria_of_the_ablation(results, deltas, met, result):
    results.set_gaps({"psnr": 0.3, **deltas}, met)
    rows = results.build_cells("locality")
    assert rows["GB-LSR-Full"][-1] == result
    assert rows["GB-LSR-Full"][0] == f"{met}/4"
    assert rows["GB-LSR-Bandwidth"][0] == "—"
    assert list(rows) == ["GB-LSR-Fixed", "**GB-LSR-Scalar**", "GB-LSR-Bandwidth", "GB-LSR-Full"]
