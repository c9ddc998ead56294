"""Tables from made-up aggregates: other winners, ties, fewer seeds, absent numbers, new rows."""

import copy
import csv
import math
import re
import shutil
import subprocess
from dataclasses import replace

import pandas as pd
import pytest
from figure_aggregates import write_provenance

from gblsr_repro.analysis import aggregate
from gblsr_repro.analysis.provenance.recorded import read_paper
from gblsr_repro.analysis.reader import Aggregates
from gblsr_repro.analysis.schemas import SCHEMAS
from gblsr_repro.analysis.statistics import Summary, bold
from gblsr_repro.cli import main
from gblsr_repro.config import items, load, selected_items
from gblsr_repro.errors import UserError
from gblsr_repro.reporting import tables, text
from gblsr_repro.reporting.rendering import render

ARMS = ("global_fourier_mlp", "gblsr_fixed", "gblsr_scalar", "gblsr_full", "liif", "lte", "wire")
NAN = math.nan
SETS = ("kodak", "set14", "urban100")


@pytest.fixture(scope="module")
def paper_config():
    return load()


@pytest.fixture
def config(paper_config):
    return copy.deepcopy(paper_config)


def native_rows(changes=None, arms=ARMS, sets=SETS, drop=(), n=3):
    """Rows in which gblsr_scalar wins everything clearly; `changes` overrides (mean, std) cells."""
    changes = changes or {}
    for dataset in sets:
        for i, arm in enumerate(arms):
            own = arm == "gblsr_scalar"
            cells = {
                "psnr": (30.0 if own else 20.0 + i, 0.1),
                "ssim": (0.9 if own else 0.5 + i / 100, 0.001),
                "lpips": (0.2 if own else 0.6 + i / 100, 0.001),
                "edge_lpips": (0.1 if own else 0.3 + i / 100, 0.001),
                "lse": (3.0 if own else 4.0 + i / 10, 0.01),
                "inference_ms": (1.0 if own else 5.0, 0.01),
                "params": (989_955 if own else 1_000_000 + i, 0.0),
            }
            for metric, (mean, std) in cells.items():
                if (arm, metric) in drop or arm in drop or metric in drop:
                    continue
                mean, std = changes.get((dataset, arm, metric), (mean, std))
                yield [dataset, arm, metric, mean, std if n > 1 else "", n]


def changed(**values):
    return replace(read_paper("native"), **values)


@pytest.fixture
def folder(tmp_path):
    def make(name="native", rows=(), columns=None, recorded=()):
        root = tmp_path / "aggregates"
        root.mkdir(exist_ok=True)
        with (root / f"{name}.csv").open("w", newline="") as stream:
            header = columns or SCHEMAS[name].header
            csv.writer(stream).writerows([header, *rows])
        write_provenance(root, recorded)
        return root

    return make


def budget_rows(**changes):
    counts = dict.fromkeys(ARMS, 1_000_000) | {"gblsr_scalar": 989_955} | changes
    return [*counts.items()]


def built(name, root, config):
    if name.startswith("gates"):
        aggregate.write("criteria", root.parent, config, root / "criteria.csv")
    return tables.builders(config)[name](Aggregates(root, config))[0]


def body(part):
    return {row.cells[0]: list(row.cells[1:]) for row in part.rows}


# --- statistics ---------------------------------------------------------------------------------


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
    assert bold(column, False, 3, 0.05) == list(map(bool, strong))


# --- text ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("marked", "latex"),
    [
        ("1,121,539", "1{,}121{,}539"),
        ("kodak, 24", "kodak, 24"),
        ("**−0.0059** ± 1", r"\textbf{$-$0.0059} $\pm$ 1"),
        ("+2.835 nf96+noLE", "$+$2.835 nf96+noLE"),
        ("5% of a_b & *c*", r"5\% of a\_b \& \textit{c}"),
        ("<https://a.b/c/>", r"\texttt{https://\allowbreak a.\allowbreak b/\allowbreak c/}"),
    ],
)
def test_text_becomes_latex(marked, latex):
    assert text.to_latex(marked) == latex


def test_text_becomes_html():
    assert text.to_html("**a<b** <https://x.y/z>") == (
        '<strong>a&lt;b</strong> <a href="https://x.y/z">https://x.y/z</a>'
    )


# --- main tables --------------------------------------------------------------------------------


def test_other_winners_and_ties(folder, config):
    changes = {
        ("kodak", "wire", "psnr"): (31.0, 0.4),
        ("kodak", "gblsr_scalar", "psnr"): (30.6, 0.4),  # t = 1.22: not told apart
        ("kodak", "liif", "lpips"): (0.1, 0.001),
    }
    rows = body(built("main_kodak", folder(rows=native_rows(changes)), config))
    assert rows["WIRE (matched-budget amortized)"][0] == "**31.000 ± 0.400**"
    assert rows["**GB-LSR-Scalar** (main)"][0] == "**30.600 ± 0.400**"
    assert rows["LIIF (matched-budget amortized)"][2] == "**0.1000 ± 0.0010**"
    assert rows["**GB-LSR-Scalar** (main)"][2] == "0.2000 ± 0.0010"


def test_missing_arm_is_a_row_of_dashes(folder, config):
    part = built("main_kodak", folder(rows=native_rows(drop=["wire"])), config)
    assert body(part)["WIRE (matched-budget amortized)"] == ["—"] * 6
    assert "No results for WIRE" in part.caption
    config["native"]["arms"].remove("wire")  # then it has none, unless it was measured
    assert len(body(built("main_kodak", folder(rows=native_rows(drop=["wire"])), config))) == 6
    assert len(body(built("main_kodak", folder(rows=native_rows()), config))) == 7


def test_missing_metric_is_dashes_with_the_reason(folder, config):
    recorded = [changed(without_lpips="no AlexNet backbone.")]
    root = folder(rows=native_rows(drop=["lpips", "edge_lpips"]), recorded=recorded)
    part = built("main_kodak", root, config)
    assert {cells[2] for cells in body(part).values()} == {"—"}
    assert "LPIPS was not measured: no AlexNet backbone." in part.differences


def test_extra_evaluation_column_gets_its_table(folder, config):
    config["native"]["data"]["evaluate"]["b100"] = "b100"
    with pytest.raises(UserError, match="no rows for 'b100'"):
        built("main_b100", folder(rows=native_rows()), config)
    root = folder(rows=native_rows(sets=(*SETS, "b100")))
    assert "Native benchmark on B100" in built("main_b100", root, config).title
    lse = built("lse", root, config)
    assert lse.sideways
    assert len(lse.columns) == 9
    assert built("winners", root, config).rows[-1].cells[0] == "B100"
    assert "main_b100_vs_paper" not in tables.builders(config)
    config["native"]["data"]["evaluate"] = {"b100": "b100"}
    assert pairs("lse", root, config)["GB-LSR-Full"][0] == ["—", "—"]


def test_extra_arm_is_one_row_of_the_arms_table(folder, repository, tmp_path, monkeypatch):
    checkout = tmp_path / "checkout"
    shutil.copytree(repository / "config", checkout / "config")
    (checkout / "Snakefile").touch()
    with (checkout / "config" / "arms.tsv").open("a") as stream:
        cells = ["mine", "MineDecoder", "", "My arm", "Mine", "baseline", "yes", "", "", "A note."]
        stream.write("\t".join(cells) + "\n")
    monkeypatch.chdir(checkout)
    config = load()
    config["native"]["arms"].append("mine")
    root = folder(rows=native_rows(arms=(*ARMS, "mine")))
    main_rows = body(built("main_kodak", root, config))
    assert list(main_rows)[-1] == "My arm"
    folder("budget", budget_rows(mine=1_000_001), SCHEMAS["budget"].columns)
    assert body(built("fairness", root, config))["My arm"] == ["1,000,001", "1.010×", "A note."]
    best = body(built("winners", root, config))["Kodak"]
    assert best[1] == "Mine (27.000)"  # a baseline like the others


def test_unknown_arm_is_refused(folder, config):
    root = folder(rows=native_rows(arms=(*ARMS, "mine")))
    with pytest.raises(UserError, match=r"rows for 'mine', which config/arms\.tsv does not have"):
        built("main_kodak", root, config)


# --- summary tables -----------------------------------------------------------------------------


def test_winners_name_ties_best_first_and_bold_clear_gaps(folder, config):
    changes = {
        ("kodak", "gblsr_full", "psnr"): (30.1, 0.3),
        ("kodak", "lte", "lpips"): (0.1, 0.001),
        ("set14", "lte", "psnr"): (30.05, 0.3),
    }
    rows = body(built("winners", folder(rows=native_rows(changes)), config))
    assert rows["Kodak"][0] == "Full ≈ Scalar (30.100)"
    assert rows["Kodak"][2] == "**+4.000**"
    assert rows["Kodak"][3:] == ["LTE (0.1000)", "LTE (0.1000)", "+0.1000"]
    assert rows["Set14"][0] == "LTE ≈ Scalar (30.050)"
    assert rows["Set14"][2] == "−0.050"  # not bold: no better than the baseline
    single = body(built("winners", folder(rows=native_rows(n=1)), config))
    assert single["Kodak"][2] == "+4.000"  # not bold: one seed allows no test


def test_gaps_are_rounded_last(folder, config):
    changes = {
        ("kodak", "gblsr_scalar", "psnr"): (22.3124, 0.01),
        ("kodak", "wire", "psnr"): (19.4756, 0.01),
        ("kodak", "lte", "psnr"): (19.0, 0.01),
        ("kodak", "liif", "psnr"): (19.0, 0.01),
    }
    rows = body(built("winners", folder(rows=native_rows(changes)), config))
    assert rows["Kodak"][2] == "**+2.837**"  # 22.312 - 19.476 would be 2.836


def test_gates_count_the_sets(folder, config):
    changes = {
        ("kodak", "gblsr_scalar", "psnr"): (25.4, 0.1),  # 0.6 dB below the best baseline's 26
        ("set14", "gblsr_scalar", "inference_ms"): (4.0, 0.1),  # 0.8 of the slowest
    }
    rows = body(built("gates", folder(rows=native_rows(changes)), config))
    assert rows["at most 0.5 dB below best baseline PSNR"][1] == "met (2/3)"
    assert rows["at most 0.02 above best baseline LPIPS"][1] == "met (3/3)"
    assert rows["Quality criterion composite"][1] == "met"
    assert rows["Inference-cost criterion"][1] == "not met (0.200×, 0.800×, 0.200×)"


@pytest.mark.parametrize(
    ("gone", "lpips", "composite"),
    [
        (SETS, "not measured", "not measured"),
        (SETS[:2], "not measured", "not measured"),
        (SETS[:1], "met (2/2 measured)", "met"),  # two of three are enough
    ],
)
def test_gates_are_decided_where_absent_numbers_cannot_matter(
    folder, config, gone, lpips, composite
):
    measured = [r for r in native_rows() if r[2] != "lpips" or r[0] not in gone]
    rows = body(built("gates", folder(rows=measured), config))
    assert rows["at most 0.5 dB below best baseline PSNR"][1] == "met (3/3)"
    assert rows["at most 0.02 above best baseline LPIPS"][1].startswith(lpips)
    assert rows["Quality criterion composite"][1] == composite


def test_fairness_orders_by_rank_and_names_offenders(folder, config):
    root = folder("budget", budget_rows(liif=2_000_000), SCHEMAS["budget"].columns)
    part = built("fairness", root, config)
    assert next(iter(body(part))) == "**GB-LSR-Scalar** (F1 anchor)"
    assert body(part)["LIIF (matched-budget amortized)"][:2] == ["2,000,000", "2.020×"]
    assert "LIIF (matched-budget amortized) outside the band" in part.caption


def test_fairness_judges_no_arm_without_the_anchor(folder, config):
    rows = [row for row in budget_rows() if row[0] != "gblsr_scalar"]
    part = built("fairness", folder("budget", rows, SCHEMAS["budget"].columns), config)
    assert body(part)["LIIF (matched-budget amortized)"][1] == "—"
    assert "outside the band" not in part.caption


# --- ablation -----------------------------------------------------------------------------------


def ablation(folder, deltas, met=0):
    rows = [["gblsr_scalar", "psnr", 21.5, 0.1, 3], ["gblsr_full", "psnr", 21.8, 0.1, 3]]
    rows += [["gblsr_full", f"delta_{m}", v, 0.1, 3] for m, v in deltas.items()]
    flags = [["gblsr_full", "criterion_a", int(met == 4), "", 3]]
    folder("locality", [["gblsr_full", "tests_met", met, "", 3], *flags])
    measured = pd.DataFrame(rows, columns=SCHEMAS["ablation"].header)
    return folder("ablation", [*rows, *aggregate.decide_criterion_b(measured, load())])


@pytest.mark.parametrize(
    ("deltas", "met", "result"),
    [
        ({"psnr_texture": 0.31, "psnr_mixed": 0, "lpips": 0.1, "psnr_edge": -0.19}, 0,
         "A not met, B met"),
        ({"psnr_texture": 0.31, "psnr_mixed": 0, "lpips": 0.1, "psnr_edge": -0.21}, 0,
         "neither criterion met"),
        ({"psnr_texture": 0, "psnr_mixed": 0, "lpips": -0.015, "psnr_edge": 0}, 4, "A met, B met"),
        ({"psnr_texture": 0, "psnr_mixed": 0, "psnr_edge": 0}, 3, "A not met, B not measured"),
        ({"psnr_texture": 0.4, "psnr_mixed": 0, "psnr_edge": 0}, 3, "A not met, B met"),
    ],
)  # fmt: skip
def test_criteria_of_the_ablation(folder, config, deltas, met, result):
    part = built("locality", ablation(folder, {"psnr": 0.3, **deltas}, met), config)
    rows = body(part)
    assert rows["GB-LSR-Full"][-1] == result
    assert rows["GB-LSR-Full"][0] == f"{met}/4"
    assert rows["GB-LSR-Bandwidth"][0] == "—"
    assert list(rows) == ["GB-LSR-Fixed", "**GB-LSR-Scalar**", "GB-LSR-Bandwidth", "GB-LSR-Full"]


# --- super-resolution ---------------------------------------------------------------------------


def quality_rows(methods, n=3, scales=(2, 3, 4)):
    for i, method in enumerate(methods):
        for dataset in ("set5", "set14", "b100", "urban100"):
            for scale in scales:
                yield [dataset, method, scale, "psnr_y", 30 + i, 0.1, n]
                yield [dataset, method, scale, "ssim_y", 0.9, 0.001, n]


def test_quality_grid_with_bicubic_and_absent_cells(folder, config):
    rows = [*quality_rows(["liif_rdn", "gblsr_asr"])]
    rows += [["set5", "bicubic", "2.0", "psnr_y", 33.66, "", 1]]
    root = folder("asr_quality", rows)
    part = built("asr_quality_x2_x3_x4_main", root, config)
    first, last = part.groups[0], part.groups[-1]
    assert first[0].cells[0].text == "**Set5**"
    names = ["LIIF-RDN", "LTE-RDN", "LTE-SwinIR", "GB-LSR-Scalar-ASR"]
    assert [row.cells[0] for row in first[1:]] == names
    assert set(last[-1].cells[1:]) == {"—"}
    assert "No results for LTE-RDN and LTE-SwinIR" in part.caption
    assert "Bicubic" not in part.caption
    beside = built("asr_quality_x2_x3_x4_main_vs_paper", root, config)
    assert list(beside.groups[0][1].cells) == ["Bicubic", "paper", "—", "—", "—"]
    assert list(beside.groups[0][2].cells) == ["", "here", "**33.660**", "—", "—"]
    assert [row.cells[0] for row in beside.groups[0][3::2]] == names
    with pytest.raises(UserError, match="at the scales 6, 8"):
        built("asr_quality_x6_x8_appendix", folder("asr_quality", rows), config)


def test_a_config_of_variants_alone_has_its_quality_tables(folder, config):
    methods = ["gblsr_asr_nole", "gblsr_asr_nf48"]
    root = folder("asr_quality", quality_rows(methods))
    config["asr"]["methods"] = methods
    _, *rows = built("asr_quality_x2_x3_x4_main", root, config).groups[0]
    assert [row.cells[0] for row in rows] == ["GB-LSR-Scalar-ASR-noLE", "GB-LSR-Scalar-ASR-nf48"]
    assert [row.cells[1] for row in rows] == ["30.000 ± 0.100", "**31.000 ± 0.100**"]


def timing_rows(times, memory=1000.0, clock="paper"):
    for method, milliseconds in times.items():
        for k, dataset in enumerate(("set14", "b100", "urban100"), start=1):
            place = [dataset, method, 4, clock]
            yield [*place, "mean_ms", milliseconds * k, 0.1, 2]
            yield [*place, "peak_memory_mib", memory * milliseconds, 0.1, 2]


@pytest.mark.parametrize("name", ["asr_latency_main", "asr_pareto_main", "asr_pareto_appendix"])
def test_times_alone_make_a_table_that_leaves_quality_open(folder, config, name):
    variants = ("gblsr_asr", "gblsr_asr_nole", "gblsr_asr_nf48_nole")
    timed = timing_rows({"liif_rdn": 8.0} | dict.fromkeys(variants, 4.0))
    part = built(name, folder("asr_latency", timed), config)
    shown = [cell for row in body(part).values() for cell in row]
    assert any("×" in cell for cell in shown)
    assert "—" in shown


def test_latency_ratios_and_absent_methods(folder, config):
    folder("asr_quality", quality_rows(["liif_rdn", "gblsr_asr"]))
    timed = [*timing_rows({"liif_rdn": 8.0, "gblsr_asr": 4.0})]
    timed += timing_rows({"gblsr_asr": 1.0}, clock="ours")
    part = built("asr_latency_main", folder("asr_latency", timed), config)
    rows = body(part)
    assert rows["GB-LSR-Scalar-ASR (base)"] == [
        "31.000", "31.000", "4.00", "12.00", "2.00×", "—",
    ]  # fmt: skip
    assert rows["LTE-SwinIR"] == ["—"] * 6
    assert "No results for LTE-RDN, LTE-SwinIR" in part.caption


def test_variants_are_compared_on_the_cells_both_have(folder, config):
    quality = [*quality_rows(["gblsr_asr"]), ["set5", "gblsr_asr_nole", 2, "psnr_y", 29.5, 0.1, 3]]
    folder("asr_quality", quality)
    timed = timing_rows({"gblsr_asr": 4.0, "gblsr_asr_nole": 2.0})
    part = built("asr_pareto_main", folder("asr_latency", timed), config)
    rows = body(part)
    assert rows["GB-LSR-Scalar-ASR (base)"] == [
        "—", "0.0000", "—", "n/a", "1.000×", "4000.0", "0.00%",
    ]  # fmt: skip
    assert rows["GB-LSR-Scalar-ASR-noLE"] == [
        "—", "−0.5000", "—", "−0.5000", "2.000×", "2000.0", "+50.00%",
    ]  # fmt: skip
    assert "GB-LSR-Scalar-ASR-noLE 1 of 25" in part.caption


# --- time and licences --------------------------------------------------------------------------


def test_licenses_follow_the_config(folder, config):
    root = folder(rows=[])
    titles = {row.cells[0] for row in built("licenses", root, config).rows}
    assert {"DTD", "Kodak", "Set5", "LIIF", "LPIPS"} <= titles
    assert "BSDS500" not in titles
    config["native"]["data"]["train"] = ["bsds500"]
    titles = {row.cells[0] for row in built("licenses", root, config).rows}
    assert "BSDS500" in titles
    assert "DTD" not in titles


# --- beside the paper ---------------------------------------------------------------------------


def every_run(folder, config, imported=()):
    for half, name in (("native", "runs"), ("asr", "asr_runs")):
        subjects = config[half]["arms" if half == "native" else "methods"]
        rows = [
            [half, arm, 0, "", 1, "", "", "", "", "", 0.5, "the authors"]
            if arm in imported
            else [half, arm, 0, 9, 1, 50, 1, 1, "Some CPU", "", "", ""]
            for arm in subjects
        ]
        folder(name, rows, SCHEMAS["runs"].columns)


def pairs(name, root, config):
    """Return the published and the measured cells of a table by the label of their row."""
    part = built(f"{name}_vs_paper", root, config)
    lines = [list(row.cells) for row in part.rows]
    return {
        above[0]: (above[2:], below[2:])
        for above, below in zip(lines[::2], lines[1::2], strict=True)
    }


def test_the_papers_winners_criteria_and_parameters(folder, config):
    root = folder(rows=native_rows())
    config["native"]["significance"] = 0.01
    assert pairs("winners", root, config)["Kodak"] == (
        ["Full ≈ Scalar (22.438)", "LTE (19.476)", "**+2.835**", "Fixed (0.5936)", "LIIF (0.7794)",
         "**−0.1378**"],
        ["Scalar (30.000)", "WIRE (26.000)", "**+4.000**", "Scalar (0.2000)", "LIIF (0.6400)",
         "**−0.4400**"],
    )  # fmt: skip
    gates = pairs("gates", root, config)
    assert gates["at most 0.5 dB below best baseline PSNR"] == (
        ["quality sub-condition", "met (3/3)"], ["", "met (3/3)"],
    )  # fmt: skip
    assert gates["Inference-cost criterion"][0][1] == "met (0.247× on all 3)"
    folder("budget", budget_rows(), SCHEMAS["budget"].columns)
    above, below = pairs("fairness", root, config)["LTE (matched-budget amortized)"]
    assert above == ["1,122,051", "1.133×", ""]
    assert below[2].startswith("3 linear layers")


def test_the_papers_speed(folder, config):
    folder("asr_quality", quality_rows(["liif_rdn", "gblsr_asr"]))
    root = folder("asr_latency", timing_rows({"liif_rdn": 8.0, "gblsr_asr": 4.0}))
    rows = pairs("asr_latency_main", root, config)
    assert rows["GB-LSR-Scalar-ASR (base)"] == (
        ["28.746", "26.457", "27.20", "85.94", "1.44×", "3.25×"],
        ["31.000", "31.000", "4.00", "12.00", "2.00×", "—"],
    )
    nole = ["22.024", "−0.0059", "−0.0090", "−0.0312", "1.767×", "28213.8", "+35.34%"]
    assert pairs("asr_pareto_main", root, config)["GB-LSR-Scalar-ASR-noLE"][0] == nole
    (appendix,) = pairs("asr_pareto_appendix", root, config).values()
    assert appendix[0][:2] == ["20.611", "−0.0419"]
    config["asr"]["timing"]["datasets"] = ["set14", "b100"]
    rows = pairs("asr_latency_main", root, config)
    assert rows["LIIF-RDN"][0] == ["28.839", "27.752", "37.67", "—", "—", "—"]
    assert pairs("asr_pareto_main", root, config)["GB-LSR-Scalar-ASR-noLE"][0][4:] == ["—"] * 3


def own_rows(name, root, config):
    """Return the rows of a table beside the paper's, by the label and the name of the clock."""
    part = built(f"{name}_vs_paper", root, config)
    found, label = {}, ""
    for line in (row.cells for row in part.rows):
        label = line[0] or label
        found[label, line[1]] = list(line[2:])
    return found, part.caption


def test_our_own_clock_stands_beside_the_papers_in_rows_of_its_name(folder, config):
    folder("asr_quality", quality_rows(["liif_rdn", "gblsr_asr"]))
    timed = [*timing_rows({"liif_rdn": 8.0, "gblsr_asr": 4.0})]
    timed += timing_rows({"liif_rdn": 6.0, "gblsr_asr": 1.0}, clock="ours")
    root = folder("asr_latency", timed)
    rows, caption = own_rows("asr_latency_main", root, config)
    base = "GB-LSR-Scalar-ASR (base)"
    assert rows[base, "here"] == ["31.000", "31.000", "4.00", "12.00", "2.00×", "—"]
    assert rows[base, "own path"] == ["", "", "1.00", "3.00", "6.00×", "—"]
    assert ("LTE-RDN", "own path") not in rows
    assert "“own path”: this package's own path" in caption
    rows, _ = own_rows("asr_pareto_main", root, config)
    assert rows[base, "own path"] == ["", "", "", "", "1.000×", "1000.0", "0.00%"]


def test_native_rows_of_our_own_clock_hold_the_time_alone(folder, config):
    rows = [row for row in native_rows() if row[:3] != ["set14", "liif", "inference_ms"]]
    times = {("kodak", "ours_ms"): 2.5, ("set14", "ours_ms"): 9.0}
    rows += [[column, "liif", metric, ms, 0.0, 3] for (column, metric), ms in times.items()]
    root = folder(rows=rows)
    beside, _ = own_rows("main_kodak", root, config)
    liif = "LIIF (matched-budget amortized)"
    assert beside[liif, "own path"] == ["", "", "", "", "2.50", ""]
    assert sum(name == "own path" for _, name in beside) == 1
    # In the table itself, and in the criteria, it never stands in for the paper's.
    assert body(built("main_set14", root, config))[liif][4] == "—"
    assert body(built("gates", root, config))["Inference-cost criterion"][-1].startswith("not m")


@pytest.mark.parametrize("name", ["asr_latency_main", "asr_pareto_main", "asr_pareto_appendix"])
def test_our_own_clock_never_stands_in_the_papers_tables(folder, config, name):
    methods = ("liif_rdn", "gblsr_asr", "gblsr_asr_nole", "gblsr_asr_nf48_nole")
    timed = [*timing_rows(dict.fromkeys(methods, 4.0), clock="ours")]
    shown = [c for row in body(built(name, folder("asr_latency", timed), config)).values()
             for c in row]  # fmt: skip
    assert set(shown) <= {"—", "n/a"}


def test_a_criterion_about_times_is_not_judged_on_a_shared_gpu(folder, config):
    recorded = [changed(shared_gpu=["liif"])]
    part = built("gates", folder(rows=native_rows(), recorded=recorded), config)
    assert body(part)["Inference-cost criterion"][-1] == "not judged (shared GPU)"
    assert "timed on a shared GPU" not in part.caption  # the page says it, above
    written = render("table.tex.j2", tables=[part])
    assert "Unlike in the paper: timed on a shared GPU." in written


def test_the_papers_training_time_is_that_of_the_groups_shown(folder, config):
    every_run(folder, config)
    root = folder(rows=[])
    native = list(pairs("compute_native", root, config).values())
    assert [above for above, _ in native] == [
        ["9", "1m37s–4m50s", "25m28s"],
        ["12", "1m17s–1m46s", "17m54s"],
        ["6", "1m17s–1m18s", "7m48s"],
        ["9", "1m18s–1m37s", "12m49s"],
        ["**36**", "", "**1h03m**"],
    ]
    asr = list(pairs("compute_asr", root, config).values())
    assert asr[1][0] == ["3", "122h12m–122h22m", "366h55m"]
    assert asr[-1][0] == ["**27**", "", "**1,232h03m**"]


def test_imported_weights_are_no_part_of_the_training_time(folder, config):
    every_run(folder, config, imported=["liif_rdn", "lte_rdn"])
    rows = [row.cells for row in built("compute_asr", folder(rows=[]), config).rows]
    assert not any("LIIF-RDN" in str(cells[0]) for cells in rows)
    assert rows[-1][1] == f"**{len(config['asr']['methods']) - 2}**"
    every_run(folder, config, imported=config["asr"]["methods"])
    with pytest.raises(UserError, match="has no run of the paper's arms; train one first"):
        built("compute_asr", folder(rows=[]), config)


def test_other_readings_are_no_part_of_the_training_time(folder, config):
    config["native"]["arms"] += ["liif_near"]
    every_run(folder, config)
    part = built("compute_native", folder(rows=[]), config)
    lines = [row.cells for row in part.rows]
    assert not any("LIIF near" in str(line[0]) for line in lines)
    assert lines[-1][1] == f"**{len(config['native']['arms']) - 1}**"
    config["native"]["arms"] = ["liif_near"]
    every_run(folder, config)
    with pytest.raises(UserError, match="no run of the paper's"):
        built("compute_native", folder(rows=[]), config)


# --- writing ------------------------------------------------------------------------------------


def test_all_that_can_be_made_is_made_and_the_rest_explained(folder, config, tmp_path):
    output = tmp_path / "tables"
    done, skipped = tables.write(folder(rows=native_rows()), output, config)
    assert {path.stem for path in output.iterdir()} == set(done)
    assert {*done, *skipped} == {*tables.builders(config)}
    compared = {f"{name}_vs_paper" for name, item in items().items() if item.compared == "yes"}
    assert compared <= set(done) | set(skipped)
    assert "asr_quality.csv does not exist" in skipped["asr_quality_x2_x3_x4_main"]


def test_named_tables_fail_with_their_reason(folder, config, tmp_path):
    root = folder(rows=native_rows())
    arguments = ["tables", "--aggregates", str(root), "--output", str(tmp_path / "out")]
    assert main([*arguments, "--only", "main_kodak", "lse"]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"lse.tex", "main_kodak.tex"}
    with pytest.raises(UserError, match="no table 'main_kodk'"):
        tables.write(root, tmp_path, config, ["main_kodk"])
    with pytest.raises(UserError, match=r"runs\.csv does not exist"):
        tables.write(root, tmp_path, config, ["compute_native"])


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([["kodak", "liif", "psnr", "x", "", 1]], "mean of kodak liif psnr is 'x'"),
        ([["kodak", "liif", "psnr", 1, "", 1]] * 2, "two rows for kodak liif psnr"),
        ([["kodak", "liif", "psnr"]], "does not have as many cells"),
    ],
)
def test_unfit_aggregates_are_refused(folder, config, rows, complaint):
    with pytest.raises(UserError, match=complaint):
        built("main_kodak", folder(rows=rows), config)


@pytest.mark.parametrize(
    "arms", [["liif", "lte"], ["global_fourier_mlp"], ["gblsr_scalar"], ["gblsr_fixed", "wire"]]
)
def test_a_run_of_few_arms_has_every_table_that_its_config_makes(folder, config, arms):
    """One job draws all tables of the same aggregates: none may fail where others can be drawn."""
    config["native"]["arms"] = arms
    source = Aggregates(folder(rows=native_rows(arms=arms)), config)
    drawn = [name for name, item in selected_items(config).items() if item.needs == "native"
             and item.kind == "table"]  # fmt: skip
    assert {"main_kodak", "winners", "lse"} & {*drawn}
    assert all(tables.builders(config)[name](source) for name in drawn)


DOCUMENT = r"""\documentclass[10pt]{article}
\usepackage[textwidth=7in,textheight=9in]{geometry}
\usepackage{booktabs,rotating}
\extrafloats{500}
\begin{document}
TABLES
\end{document}
"""


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("overlays", [[], ["demo.yaml"]])
def test_tables_compile_without_overfull_lines(folder, repository, tmp_path, overlays):
    config = load([repository / "config" / name for name in ("config.yaml", *overlays)])
    folder("asr_quality", quality_rows(["liif_rdn", "gblsr_asr"], scales=(2, 3, 4, 6, 8)))
    timed = {"liif_rdn": 140.0, "lte_rdn": 140.0, "lte_swinir": 300.0, "gblsr_asr": 90.0}
    folder("asr_latency", timing_rows(timed))
    every_run(folder, config)
    ablation(folder, {"psnr": 0.3})
    folder("budget", budget_rows(), SCHEMAS["budget"].columns)
    root = folder(rows=native_rows())
    aggregate.write("criteria", root.parent, config, root / "criteria.csv")
    _, skipped = tables.write(root, tmp_path / "tables", config)
    assert not skipped
    texts = "\n".join(path.read_text() for path in sorted((tmp_path / "tables").iterdir()))
    # Floats that may only stand at the top of a page would be too many to hold.
    texts = re.sub(r"(\\begin\{table\})\[\w+\]", r"\1[!htbp]", texts)
    (tmp_path / "all.tex").write_text(DOCUMENT.replace("TABLES", texts))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert not re.findall(r"^Overfull.*", (tmp_path / "all.log").read_text(errors="replace"), re.M)
