"""Super-resolution tables leave open what is absent, and compare what both sides have."""

import made
import pytest

from gblsr_repro.analysis import reader
from gblsr_repro.config import read_methods, tables
from gblsr_repro.errors import UserError

QUALITY = "asr_quality_x2_x3_x4_main"
BASE = "GB-LSR-Scalar-ASR (base)"
TIMED = ("asr_latency_main", "asr_pareto_main", "asr_pareto_appendix")


def test_quality_grid_with_bicubic_and_absent_cells(results):
    results.add_quality(["liif_rdn", "gblsr_asr"])
    keys = {"dataset": "set5", "method": "bicubic", "scale": "2", "metric": "psnr_y"}
    results.add("asr_quality", 33.66, **keys)
    table = results.build(QUALITY)
    first, last = table.groups[0], table.groups[-1]
    assert first[0].cells[0].text == "**Set5**"
    names = ["LIIF-RDN", "LTE-RDN", "LTE-SwinIR", "GB-LSR-Scalar-ASR"]
    assert [row.cells[0] for row in first[1:]] == names
    assert set(last[-1].cells[1:]) == {"—"}
    beside = results.build(f"{QUALITY}_vs_paper")
    assert list(beside.groups[0][1].cells) == ["Bicubic", "paper", "—", "—", "—"]
    assert list(beside.groups[0][2].cells) == ["", "here", "**33.660**", "—", "—"]
    assert [row.cells[0] for row in beside.groups[0][3::2]] == names
    with pytest.raises(UserError, match="at the scales 6, 8"):
        results.build("asr_quality_x6_x8_appendix")


def test_a_config_of_variants_alone_has_its_quality_tables(results):
    methods = ["gblsr_asr_nole", "gblsr_asr_nf48"]
    results.add_quality(methods)
    results.config["asr"]["methods"] = methods
    _, *rows = results.build(QUALITY).groups[0]
    assert [row.cells[0] for row in rows] == ["GB-LSR-Scalar-ASR-noLE", "GB-LSR-Scalar-ASR-nf48"]
    assert [row.cells[1] for row in rows] == ["30.000 ± 0.100", "**31.000 ± 0.100**"]


@pytest.mark.parametrize("name", TIMED)
def test_times_alone_make_a_table_that_leaves_quality_open(results, name):
    variants = ("gblsr_asr", "gblsr_asr_nole", "gblsr_asr_nf48_nole")
    times = {"liif_rdn": 8.0} | dict.fromkeys(variants, 4.0)
    results.add_times(times)
    shown = [cell for row in results.build_cells(name).values() for cell in row]
    assert any("×" in cell for cell in shown)
    assert "—" in shown


def test_a_method_of_the_users_has_rows_and_is_not_compared(results, monkeypatch):
    own = made.changed(read_methods()["liif_rdn"], method="mine", name="Mine", group="own")
    rows = {**read_methods(), "mine": own}
    for module in (tables, reader):
        monkeypatch.setattr(module, "read_methods", lambda: rows)
    results.config["asr"]["methods"] = ["liif_rdn", "gblsr_asr", "mine"]
    results.add_quality(["liif_rdn", "gblsr_asr", "mine"])
    times = {"liif_rdn": 8.0, "gblsr_asr": 4.0, "mine": 2.0}
    results.add_times(times)
    table = results.build(QUALITY)
    best = {row.cells[0]: row.cells[1] for row in table.groups[0][1:]}
    assert best["GB-LSR-Scalar-ASR"] == "**31.000 ± 0.100**"
    assert best["Mine"] == "32.000 ± 0.100"
    assert "Mine is not of the paper" in table.caption.text
    timed = results.build("asr_latency_main")
    assert "vs LIIF-RDN" in timed.header[1]
    assert "vs Mine" not in timed.header[1]
    assert [row.cells[-1] for row in timed.rows] == ["1.00×", "2.00×", "4.00×"]
    results.config["asr"] |= {"methods": ["mine"], "scales": [2, 3, 4]}
    results.build_allowed("asr_quality", "asr_latency", "asr_runs")


def test_variants_are_compared_on_the_cells_both_have(results):
    results.add_quality(["gblsr_asr"])
    results.add_quality(["gblsr_asr_nole"], lambda *_: 29.5, [2], ["set5"])
    results.add_times({"gblsr_asr": 4.0, "gblsr_asr_nole": 2.0})
    rows = results.build_cells("asr_pareto_main")
    assert rows[BASE] == ["—", "0.0000", "—", "n/a", "1.000×", "4000.0", "0.00%"]
    assert rows["GB-LSR-Scalar-ASR-noLE"] == [
        "—", "−0.5000", "—", "−0.5000", "2.000×", "2000.0", "+50.00%",
    ]  # fmt: skip
    assert "GB-LSR-Scalar-ASR-noLE 1 of 25" in results.build("asr_pareto_main").caption.text


@pytest.mark.parametrize("name", TIMED)
def test_the_package_clock_never_stands_in_the_papers_tables(results, name):
    methods = ("liif_rdn", "gblsr_asr", "gblsr_asr_nole", "gblsr_asr_nf48_nole")
    times = dict.fromkeys(methods, 4.0)
    results.add_times(times, clock="fast")
    shown = {cell for row in results.build_cells(name).values() for cell in row}
    assert shown <= {"—", "n/a"}
