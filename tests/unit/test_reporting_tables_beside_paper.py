"""Tables have the paper's rows above the measured ones, other clocks below."""

import pytest

from gblsr_repro.errors import UserError

BASE = "GB-LSR-Scalar-ASR (base)"
LIIF = "LIIF (matched-budget amortized)"


def test_winners_and_criteria_of_both_sides(results):
    """All cells of the paper's: tests/protocol/test_tables_paper.py."""
    results.set_native()
    results.config["native"]["significance"] = 0.01
    winners = results.build_beside_paper("winners")
    assert winners["Kodak", "paper"][:3] == ["Full ≈ Scalar (22.438)", "LTE (19.476)", "**+2.835**"]
    assert winners["Kodak", "here"][:3] == ["Scalar (30.000)", "WIRE (26.000)", "**+4.000**"]
    gates = results.build_beside_paper("gates")
    assert gates["Inference-cost criterion", "paper"][1] == "met (0.247× on all 3)"


def test_the_papers_bold_is_among_all_of_its_methods(results):
    results.config["asr"]["methods"] = ["liif_rdn", "gblsr_asr"]
    results.add_quality(["liif_rdn", "gblsr_asr"])
    table = results.build("asr_quality_x2_x3_x4_main_vs_paper")
    liif = next(row.cells for row in table.rows if row.cells[0] == "LIIF-RDN")
    assert liif[3].startswith("34.673")  # LTE-SwinIR has more at x3, and is no method of this run


def test_the_papers_speed_is_of_the_sets_that_are_timed(results):
    results.add_quality(["liif_rdn", "gblsr_asr"])
    results.add_times({"liif_rdn": 8.0, "gblsr_asr": 4.0})
    rows = results.build_beside_paper("asr_latency_main")
    assert rows[BASE, "paper"] == ["28.746", "26.457", "27.20", "85.94", "1.44×", "3.25×"]
    assert rows[BASE, "here"] == ["31.000", "31.000", "4.00", "12.00", "2.00×", "—"]
    results.config["asr"]["timing"]["datasets"] = ["set14", "b100"]
    rows = results.build_beside_paper("asr_latency_main")
    assert rows["LIIF-RDN", "paper"] == ["28.839", "27.752", "37.67", "—", "—", "—"]
    rows = results.build_beside_paper("asr_pareto_main")
    assert rows["GB-LSR-Scalar-ASR-noLE", "paper"][4:] == ["—"] * 3


def test_the_package_clock_stands_beside_the_papers_in_rows_of_its_name(results):
    results.add_quality(["liif_rdn", "gblsr_asr"])
    results.add_times({"liif_rdn": 8.0, "gblsr_asr": 4.0})
    results.add_times({"liif_rdn": 6.0, "gblsr_asr": 1.0}, clock="fast")
    rows = results.build_beside_paper("asr_latency_main")
    assert rows[BASE, "here"] == ["31.000", "31.000", "4.00", "12.00", "2.00×", "—"]
    assert rows[BASE, "fast path"] == ["", "", "1.00", "3.00", "6.00×", "—"]
    assert ("LTE-RDN", "fast path") not in rows
    assert rows["LTE-SwinIR", "here"] == ["—"] * 6
    assert "fast path" in results.build("asr_latency_main_vs_paper").caption.text
    assert "fast path" not in results.build("asr_latency_main").caption.text
    rows = results.build_beside_paper("asr_pareto_main")
    assert rows[BASE, "fast path"] == ["", "", "", "", "1.000×", "1000.0", "0.00%"]


def test_native_rows_of_the_package_clock_hold_the_time_alone(results):
    results.set_native()
    for row in results.rows["native"]:
        if (row["dataset"], row["arm"], row["metric"]) == ("set14", "liif", "inference_ms"):
            row.update(metric="fast_ms", mean=9.0)
    results.add("native", 2.5, dataset="kodak", arm="liif", metric="fast_ms")
    beside = results.build_beside_paper("main_kodak")
    assert beside[LIIF, "fast path"] == ["", "", "", "", "2.50", ""]
    assert sum(name == "fast path" for _, name in beside) == 1
    # In the table itself, and in the criteria, it never stands in for the paper's.
    assert results.build_cells("main_set14")[LIIF][4] == "—"
    cost = results.build_cells("gates")["Inference-cost criterion"]
    assert cost[-1].startswith("not measured")


def test_training_time_stands_below_the_papers_of_the_groups_shown(results):
    results.set_runs()
    (liif,) = [row for row in results.rows["runs"] if row["arm"] == "liif"]
    liif["wall_seconds"] = 30.0  # the others take 50
    baselines, own, *_, total, _ = results.build("compute_native_vs_paper").rows
    assert [*baselines.cells[1:]] == ["paper", "9", "1m37s–4m50s", "25m28s"]
    assert [*own.cells[2:]] == ["3", "30s–50s", "2m10s"]
    assert [*total.cells[2:]] == ["**36**", "", "**1h03m**"]
    *_, total, _ = results.build("compute_asr_vs_paper").rows
    assert [*total.cells[2:]] == ["**27**", "", "**1,232h03m**"]


def test_imported_weights_are_no_part_of_the_training_time(results):
    results.set_runs(imported=["liif_rdn", "lte_rdn"])
    rows = [row.cells for row in results.build("compute_asr").rows]
    assert not any("LIIF-RDN" in str(cells[0]) for cells in rows)
    assert rows[-1][1] == f"**{len(results.config['asr']['methods']) - 2}**"
    results.set_runs(imported=results.config["asr"]["methods"])
    with pytest.raises(UserError, match="has no run of the paper's arms; train one first"):
        results.build("compute_asr")
