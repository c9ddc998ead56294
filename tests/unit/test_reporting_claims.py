"""The registry of claims, checked against the paper's own numbers, and the verdicts."""

from __future__ import annotations

import copy
import csv
import math
import re
from dataclasses import replace
from pathlib import Path

import figure_aggregates as made_up
import numpy as np
import pytest
from gblsr_repro.reporting.expressions import NotMeasuredError, evaluate
from gblsr_repro.reporting.verdicts import BOUNDS, Claim, Target, Verdict, judge

from gblsr_repro.cli import main
from gblsr_repro.config import load, repository_root
from gblsr_repro.errors import UserError
from gblsr_repro.files import write_csv
from gblsr_repro.reporting import claims
from gblsr_repro.reporting.aggregates import Aggregates
from gblsr_repro.reporting.documents import render_markdown
from gblsr_repro.reporting.kinds import KINDS
from gblsr_repro.reporting.provenance import Provenance, Scope
from gblsr_repro.reporting.provenance.recorded import ImageSet, Recorded, of_paper
from gblsr_repro.reporting.statistics import Summary

CONFIG = load()
NOWHERE = Path("nowhere")
PAPER = Aggregates.paper(CONFIG)
PAPER_FOLDER = repository_root() / "config" / "paper"
NATIVE, ASR = of_paper("native"), of_paper("asr")
PAPER_RUN = made_up.provenance_of(NATIVE, ASR)
REGISTRY = {claim.id: claim for claim in claims.registry()}


def verdict_of(claim: Claim, here: Aggregates, provenance: Provenance = PAPER_RUN):
    run = copy.copy(here)
    run.provenance = provenance
    return judge(claim, run, PAPER, 2.0)


def changed(paper: Recorded, **changes: object) -> Provenance:
    return made_up.provenance_of(replace(paper, **changes))


def only(kind: str, cells: dict[tuple[str, ...], Summary | None]) -> Aggregates:
    """Return aggregates that hold nothing but these cells of one kind."""
    rows = [(*key, c.mean, c.std, c.n) for key, c in cells.items() if c is not None]
    table = [dict(zip(KINDS[kind].header, row, strict=True)) for row in rows]
    return Aggregates(NOWHERE, CONFIG, tables={kind: table})


def with_native(changes: dict[tuple[str, ...], Summary | None]) -> Aggregates:
    own = only("native", {**PAPER.cells("native"), **changes}).table("native")
    return Aggregates(
        PAPER.folder, CONFIG, tables={"native": own, "structure": PAPER.table("structure")}
    )


# --- the registry ---------------------------------------------------------------------------


def computable() -> list[Claim]:
    """Return the claims that the published tables determine, which are most."""
    found = []
    for claim in REGISTRY.values():
        try:
            if claim.measure:
                evaluate(claim.measure, PAPER)
                found.append(claim)
        except NotMeasuredError:
            continue
    assert len(found) >= 148
    return found


@pytest.mark.parametrize("claim", computable(), ids=lambda claim: claim.id)
def test_published_tables_give_the_published_claim(claim: Claim) -> None:
    """The expression, on the paper's tables, gives what the paper says: one last digit apart at
    most, since the tables are rounded and the paper rounds last.
    """
    measure = evaluate(claim.measure, PAPER)
    target = Target.parse(claim.published, measure)
    if target.relation == "=":
        assert len(measure.values) == len(target.values)
        for value, goal in zip(measure.values, target.values, strict=True):
            assert abs(value - goal) <= 2.02 * target.rounding(goal)
    else:
        assert BOUNDS[target.relation](measure.values, target.values[0]).all()


def values(claim: str) -> np.ndarray:
    return np.asarray(Target.parse(REGISTRY[claim].published).values)


def test_every_published_number_stands_in_the_paper(shared: Path) -> None:
    text = (shared / "paper" / "gblsr_paper.tex").read_text(encoding="utf-8").replace("{,}", "")
    printed = set(re.findall(r"\d+(?:\.\d+)?", text))
    powers = {f"{a}e-{b}" for a, b in re.findall(r"([\d.]+) *\\times *10\^\{-(\d+)\}", text)}
    for claim in REGISTRY.values():
        if claim.published.startswith("cells") or claim.scope.endswith("cost"):
            continue
        for number in re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?", claim.published):
            assert number in printed | powers, claim.id


def test_training_times_are_the_printed_ones() -> None:
    """Rows in seconds, minutes or hours carry the printed duration in their note or wording."""
    per_unit = {"s": 1.0, "min": 60.0, "h": 3600.0}
    checked = 0
    for claim in REGISTRY.values():
        found = re.search(r"(?:([\d,]+)h)?(\d+)m(?:(\d+)s)?", claim.note + " " + claim.claim)
        if claim.scope.endswith("cost") and found:
            hours, minutes, seconds = (float((g or "0").replace(",", "")) for g in found.groups())
            goal = Target.parse(claim.published).values[0] * per_unit[claim.unit]
            assert abs(3600 * hours + 60 * minutes + seconds - goal) <= 0.006 * per_unit[claim.unit]
            checked += 1
    assert checked >= 15


def test_every_rejected_row_names_its_claim(tmp_path: Path) -> None:
    table = tmp_path / "claims.tsv"
    lines = (PAPER_FOLDER / "claims.tsv").read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([lines[0], lines[1].replace("best(", "exec(")]) + "\n")
    with pytest.raises(UserError, match=r"psnr_gain.*exec"):
        claims.registry(table)


# --- the language ---------------------------------------------------------------------------


def measure(text: str) -> list[float]:
    return evaluate(text, PAPER).values.tolist()


def test_expressions() -> None:
    assert measure("1 + 2 * 3 - -4 / 2") == [9.0]
    assert measure("[1, 2] * [3, 4] >= 4") == [0.0, 1.0]
    assert measure("native('kodak', 'lte wire', 'psnr')") == [19.476, 18.428]
    assert measure("best(native('*', 'liif lte wire', 'psnr'))") == [19.476, 17.188, 15.819]
    assert measure("best(asr('set5', 'liif_rdn lte_swinir', '2 3', 'psnr_y'))") == [38.181, 34.687]
    assert measure("geomean([1, 4, 16])") == pytest.approx([4.0])
    assert measure("count([0, 1, 2])") == [2.0]
    assert measure("abs(-2)") == [2.0]


def test_errors_are_propagated() -> None:
    found = evaluate("native('kodak', 'liif', 'psnr') / native('kodak', 'lte', 'psnr')", PAPER)
    a, b = (0.094 / math.sqrt(3), 18.812), (0.160 / math.sqrt(3), 19.476)
    expected = found.values[0] * math.hypot(a[0] / a[1], b[0] / b[1])
    assert found.errors[0] == pytest.approx(expected)


def test_welch_agrees_with_a_reference() -> None:
    """|t| and degrees of freedom by the textbook formula, worked out by hand for Kodak."""
    assert measure("welch_t(native('kodak', 'gblsr_full gblsr_scalar', 'psnr'))") == pytest.approx(
        [1.0207], abs=1e-4
    )
    assert measure("welch_df(native('kodak', 'gblsr_full gblsr_scalar', 'psnr'))") == pytest.approx(
        [2.3899], abs=1e-4
    )


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "(1).__class__",
        "native('kodak', 'liif', 'psnr').values",
        "[x for x in 'ab']",
        "lambda: 1",
        "1 if 1 else 2",
        "native('kodak', 'liif')",
        "native('kodak', 'liif', 3)",
        "max('kodak')",
        "1 < 2 < 3",
        "min",
        "True",
        "'text'",
        "[1, 2] + [1, 2, 3]",
        "2 ** 9",
        "(",
    ],
)
def test_the_language_is_closed(text: str) -> None:
    with pytest.raises(UserError):
        evaluate(text, PAPER)


def timings(clock: str, times: dict[str, float]) -> dict:
    return {
        (dataset, method, "4", clock, "mean_ms"): Summary(value * share, 0.0, 3)
        for method, value in times.items()
        for dataset, share in {"set14": 1.0, "b100": 0.8, "urban100": 3.0}.items()
    }


METHODS = ("liif_rdn", "lte_rdn", "lte_swinir", "gblsr_asr")


def test_a_time_is_that_of_the_papers_clock() -> None:
    slow, quick = dict.fromkeys(METHODS, 40.0), dict.fromkeys(METHODS, 10.0)
    both = {**timings("ours", quick), **timings("paper", slow)}
    expression = "asr_time('set14', 'liif_rdn', 'mean_ms')"
    times = evaluate(expression, only("asr_latency", both))
    assert times.values.tolist() == [40.0]
    assert times.of[0].key[3] == "paper"
    alone = only("asr_latency", timings("ours", quick))
    with pytest.raises(NotMeasuredError, match="set14 liif_rdn 4 paper mean_ms"):
        evaluate(expression, alone)
    judged = {claim.id: verdict_of(claim, alone) for claim in REGISTRY.values()}
    assert {r.verdict for r in judged.values() if r.claim.scope.endswith("latency")} == {
        Verdict.NOT_MEASURED
    }


@pytest.mark.parametrize(
    ("own", "verdict"),
    [
        (dict.fromkeys(METHODS, 10.0), Verdict.REPRODUCED),
        (dict.fromkeys(METHODS, 10.0) | {"lte_rdn": 9.0}, Verdict.WITHIN_NOISE),
        (dict.fromkeys(METHODS, 10.0) | {"gblsr_asr": 5.0}, Verdict.NOT_REPRODUCED),
        (dict.fromkeys(METHODS, 10.0) | {"gblsr_asr": 20.0}, Verdict.NOT_REPRODUCED),
    ],
)
def test_ratios_in_production_compare_the_two_clocks(own: dict, verdict: Verdict) -> None:
    rows = {**timings("paper", dict.fromkeys(METHODS, 40.0)), **timings("ours", own)}
    found = verdict_of(REGISTRY["production_ratios"], only("asr_latency", rows))
    assert found.verdict is verdict


VARIANTS = ("gblsr_asr", "gblsr_asr_nole", "gblsr_asr_nf96_nole", "gblsr_asr_nf48_nole")


@pytest.mark.parametrize(
    "claim", [f"{kind}_{variant}" for kind in ("speedup", "memory") for variant in VARIANTS[1:]]
)
def test_what_nole_saves_is_decided_by_the_papers_clock(claim: str) -> None:
    """Base and noLE cost the same by our own clock; that must not decide."""
    goal = values(claim)[0]
    share = 1 / goal if claim.startswith("speedup") else 1 - goal / 100
    rows = {}
    for dataset in ("set14", "b100", "urban100"):
        for metric in ("mean_ms", "peak_memory_mib"):
            for variant in VARIANTS:
                own = 100.0 if variant == "gblsr_asr" else 100.0 * share
                rows[dataset, variant, "4", "paper", metric] = Summary(own, 0.0, 3)
                rows[dataset, variant, "4", "ours", metric] = Summary(50.0, 0.0, 3)
    found = verdict_of(REGISTRY[claim], only("asr_latency", rows))
    assert found.verdict is Verdict.REPRODUCED


# --- verdicts -------------------------------------------------------------------------------

GAP = REGISTRY["psnr_gap_urban100"]
SCALAR = ("urban100", "gblsr_scalar", "psnr")
LIIF = ("kodak", "liif", "psnr")
LTE = ("urban100", "lte", "lpips")
YES, NEAR, NO = Verdict.REPRODUCED, Verdict.WITHIN_NOISE, Verdict.NOT_REPRODUCED
SINGLE = replace(GAP, measure="native('kodak', 'liif', 'psnr')", published="18.812", id="single")
OFF = 2.3 * math.sqrt(2) * 0.094 / math.sqrt(3)
SLOW = {(d, "liif", "inference_ms"): Summary(6.2) for d in ("kodak", "set14", "urban100")}
TIED = ("kodak", "gblsr_scalar", "psnr")

VERDICTS = [  # a claim, the cells in which this run is not the paper, and its verdict
    # Seed noise of both sides, two standard errors: sqrt(2 (0.244^2 + 0.023^2) / 3) * 2 = 0.400 dB.
    (GAP, {SCALAR: Summary(18.793, 0.244, 3)}, YES),
    (GAP, {SCALAR: Summary(18.7934, 0.244, 3)}, YES),
    (GAP, {SCALAR: Summary(18.793 + 0.35, 0.244, 3)}, NEAR),
    (GAP, {SCALAR: Summary(18.793 - 0.35, 0.244, 3)}, NEAR),
    (GAP, {SCALAR: Summary(18.793 + 0.45, 0.244, 3)}, NO),
    (GAP, {SCALAR: Summary(18.793 - 0.45, 0.244, 3)}, NO),
    (GAP, {SCALAR: None}, Verdict.NOT_MEASURED),
    # F with 2 and 2 degrees of freedom exceeds f with chance 1 / (1 + f). Seven cells that fail
    # together as seldom as one at two standard errors (4.6 %) get 0.66 % each, so f = 300: 17.3.
    ("table1_psnr_std", {LIIF: Summary(18.812, 0.0940, 3)}, YES),
    ("table1_psnr_std", {LIIF: Summary(18.812, 0.0940 * 15, 3)}, NEAR),
    ("table1_psnr_std", {LIIF: Summary(18.812, 0.0940 / 15, 3)}, NEAR),
    ("table1_psnr_std", {LIIF: Summary(18.812, 0.0940 * 19, 3)}, NO),
    ("table1_psnr_std", {LIIF: Summary(18.812, 0.0940 / 19, 3)}, NO),
    ("table1_psnr_std", {LIIF: Summary(18.812, 0.0, 3)}, NO),
    ("table1_psnr_std", {LIIF: Summary(18.812, n=1)}, Verdict.NOT_MEASURED),
    # Another pattern of bold numbers.
    ("table2_ssim_bold", {}, YES),
    ("table2_ssim_bold", {("set14", "gblsr_scalar", "ssim"): Summary(0.5000, 0.0054, 3)}, NO),
    # The tie of the family: equal spreads have 4 degrees of freedom; t = 0.34 / 0.123 = 2.8.
    ("full_tie_df", {TIED: Summary(22.438, 0.064, 3)}, NO),
    ("full_tie_t", {TIED: Summary(22.438, 0.064, 3)}, YES),
    ("full_tie_df", {TIED: Summary(22.438 - 0.34, 0.204, 3)}, YES),
    ("full_tie_t", {TIED: Summary(22.438 - 0.34, 0.204, 3)}, NO),
    # Bounds hold or miss by noise; a strict one is not met by equality.
    ("rank_lpips_lte_wire", {}, YES),
    ("rank_lpips_lte_wire", {LTE: Summary(0.9504 + 0.005, 0.0065, 3)}, NEAR),
    ("rank_lpips_lte_wire", {LTE: Summary(0.9504 + 0.02, 0.0065, 3)}, NO),
    (replace(REGISTRY["params_one_scalar"], published="> 1"), {}, NO),
    # Percentages.
    ("liif_ms", SLOW, NEAR),
    ("liif_ms", SLOW | {("kodak", "liif", "inference_ms"): Summary(6.4)}, NO),
    # One of seven cells 2.3 standard errors off is chance; alone it is not.
    ("table1_psnr", {LIIF: Summary(18.812 + OFF, 0.094, 3)}, NEAR),
    (SINGLE, {LIIF: Summary(18.812 + OFF, 0.094, 3)}, NO),
]


@pytest.mark.parametrize(("claim", "cells", "verdict"), VERDICTS)
def test_verdicts(claim: Claim | str, cells: dict, verdict: Verdict) -> None:
    known = REGISTRY[claim] if isinstance(claim, str) else claim
    assert verdict_of(known, with_native(cells)).verdict is verdict


def test_several_bounds_hold_one_by_one() -> None:
    timed = {
        (dataset, "gblsr_asr", "4", "paper", "mean_ms"): Summary(100.0, std, 3)
        for dataset, std in (("set14", 0.13), ("b100", 0.11), ("urban100", 0.7))
    }
    result = verdict_of(REGISTRY["repeat_gblsr_asr"], only("asr_latency", timed))
    assert result.paper == "≤ 0.14 / 0.12 / 0.09"
    assert result.verdict is Verdict.NOT_REPRODUCED
    assert result.why == "1 of 3 miss; furthest 0.70 against 0.09"


def test_a_failing_cell_is_named() -> None:
    result = verdict_of(REGISTRY["table1_psnr"], with_native({LIIF: Summary(17.0, 0.094, 3)}))
    assert (result.paper, result.measured) == ("7 cells", "6 of 7 agree")
    assert result.why == "1 of 7 miss; furthest (kodak liif) 17.000 against 18.812"


def test_a_side_without_spread_is_as_noisy_as_the_other() -> None:
    allowed = verdict_of(SINGLE, with_native({LIIF: Summary(18.9, n=1)})).allowed[0]
    assert allowed == pytest.approx(2 * math.sqrt(2) * 0.094 / math.sqrt(3))


def test_what_is_not_measured_says_why() -> None:
    assert "urban100 gblsr_scalar psnr" in verdict_of(GAP, with_native({SCALAR: None})).why
    assert "times every method once" in verdict_of(REGISTRY["retiming"], PAPER).why
    here = with_native({("kodak", "gblsr_scalar", "lpips"): None})
    without = changed(NATIVE, without_lpips="no backbone at hand")
    result = verdict_of(REGISTRY["lpips_gap_kodak"], here, without)
    assert result.verdict is Verdict.NOT_MEASURED
    assert "no backbone at hand" in result.why


# --- conditions -----------------------------------------------------------------------------


def test_only_the_data_sets_of_a_claim_count() -> None:
    partial = [ImageSet("set14", "Set14", 3, 14)]
    run = changed(NATIVE, evaluate={**NATIVE.evaluate, "set14": partial})
    kodak = verdict_of(REGISTRY["psnr_gap_kodak"], PAPER, run)
    assert kodak.verdict is Verdict.WITHIN_NOISE
    assert verdict_of(REGISTRY["psnr_gap_set14"], PAPER, run).verdict is Verdict.DIFFERENT


def test_a_time_on_a_shared_gpu_is_shown_and_not_judged() -> None:
    shared = changed(NATIVE, shared_gpu=["liif"])
    result = verdict_of(REGISTRY["cost_ratio"], PAPER, shared)
    assert result.verdict is Verdict.NOT_JUDGED
    assert result.measured == "0.247 / 0.247 / 0.247"
    assert result.why == "timed on a shared GPU"
    assert result.holds is None
    assert verdict_of(REGISTRY["cost_vs_lte"], PAPER, shared).verdict is Verdict.REPRODUCED
    assert verdict_of(GAP, PAPER, shared).verdict is Verdict.REPRODUCED
    page = claims.Page([result])
    assert page.counts()[Verdict.NOT_JUDGED] == 1
    states = {title: state for title, _, state in page.scopes()}
    assert states["Native inference time"] == "not judged"
    assert "not judged" in render_markdown(claims.section(page))


def test_super_resolution_times_need_all_image_sizes() -> None:
    evaluate = {**ASR.evaluate, "urban100": [ImageSet("u", "U", 30, 100)]}
    partial = changed(ASR, evaluate=evaluate)
    claim = REGISTRY["peak_gblsr_asr"]
    assert verdict_of(claim, PAPER, partial).verdict is Verdict.DIFFERENT
    sized = changed(ASR, evaluate=evaluate, sizes_only=True)
    assert verdict_of(claim, PAPER, sized).verdict is Verdict.REPRODUCED


def test_structure_holds_anywhere_and_is_reproduced_by_the_paper_preset_alone() -> None:
    demo = changed(NATIVE, preset="demo")
    claim = REGISTRY["params_scalar"]
    assert verdict_of(claim, PAPER).verdict is Verdict.REPRODUCED
    result = verdict_of(claim, PAPER, demo)
    assert (result.verdict, result.holds) == (Verdict.HOLDS, True)
    assert result.outcome == "holds (structure)"
    runs = [{"name": "gblsr_scalar", "value": 12.0}]
    other = Aggregates(NOWHERE, CONFIG, tables={"structure": runs})
    assert verdict_of(claim, other, demo).verdict is Verdict.DIFFERENT
    assert verdict_of(claim, other).verdict is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    "run",
    [Provenance(), made_up.provenance_of(*(replace(of, preset="demo") for of in (NATIVE, ASR)))],
)
def test_without_records_or_in_a_demo_structure_alone_holds(run: Provenance) -> None:
    for claim in REGISTRY.values():
        result = verdict_of(claim, PAPER, run)
        assert result.verdict not in (Verdict.REPRODUCED, Verdict.WITHIN_NOISE)
        assert result.verdict is not Verdict.HOLDS or claim.scope == Scope.STRUCTURE


# --- files ----------------------------------------------------------------------------------


def write_aggregates(root: Path) -> Path:
    made = made_up.Aggregates(root)
    made.paper("native", "asr_quality")
    made.recorded = (NATIVE, ASR)
    folder = made.write()
    counts = [row.values() for row in PAPER.table("structure")]
    write_csv(folder / "structure.csv", KINDS["structure"].columns, counts)
    return folder


def test_the_verb_writes_csv_and_markdown(tmp_path: Path) -> None:
    aggregates = write_aggregates(tmp_path)
    arguments = ["--aggregates", str(aggregates), "--output", str(tmp_path)]
    assert main(["claims", *arguments]) == 0
    with (tmp_path / "claims.csv").open(newline="", encoding="utf-8") as stream:
        rows = {row["id"]: row for row in csv.DictReader(stream)}
    assert list(rows) == list(REGISTRY)
    assert rows["psnr_gap_urban100"]["verdict"] == "reproduced"
    assert rows["psnr_gap_urban100"]["holds"] == "yes"
    assert rows["hours_rdn"]["verdict"] == "not measured"
    assert rows["hours_rdn"]["why"] == "asr_runs.csv was not made"
    assert "| +2.974 dB | +2.974 dB | reproduced |" in (tmp_path / "claims.md").read_text("utf-8")
