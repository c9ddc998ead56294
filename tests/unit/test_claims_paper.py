"""Every claim against the paper: what is said stands there, and a measurement can refute it."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_runs import build_paper_run
from scipy import stats

from gblsr_repro.analysis.claims.cells import list_cells
from gblsr_repro.analysis.claims.judge import compare, judge, read_published
from gblsr_repro.analysis.claims.rules import Agreement
from gblsr_repro.analysis.claims.stated import CLAIMS, COLUMNS, Claim
from gblsr_repro.analysis.claims.verdicts import Verdict
from gblsr_repro.analysis.criteria import judge_criteria
from gblsr_repro.analysis.estimates import NotMeasuredError, Source
from gblsr_repro.analysis.measured import Measured
from gblsr_repro.analysis.metrics import MARGINS
from gblsr_repro.analysis.reader import Aggregates, get_key, read_paper_aggregates
from gblsr_repro.analysis.schemas import OVER_SEEDS
from gblsr_repro.config import load, merge, read_published_times, validate

PAPER = read_paper_aggregates(load())
RUN = build_paper_run().hold()
TABLED = Measured(PAPER, RUN)
MEASURED = [claim for claim in CLAIMS.values() if claim.measure]
CELLS = {cell.id: cell for cell in list_cells(PAPER)}
DERIVED = {
    column.id.format(row): CELLS[column.id.format(row)]
    for column in COLUMNS.values()
    for row in column.rows
}
READ = [
    cell for name, cell in CELLS.items() if name not in DERIVED and not name.startswith("compute_")
]
SIGNS = {"≤": operator.le, "≥": operator.ge, "<": operator.lt, ">": operator.gt}
Alter = Callable[[dict[str, Any]], list[dict[str, Any]]]


# --- what the paper says --------------------------------------------------------------------------


UNDECIDED = {  # by what the paper's own three seeds leave open, besides single cells
    "best_psnr_is_full",
    "full_psnr_gain_bound",
    "full_lpips_loss",
    "fixed_best_lpips",
    "scalar_best_edge_lpips",
    "full_less_crisp",
    "rank_psnr_liif_wire",
    "rank_lpips_lte_wire",
    "winners kodak gap_lpips",
    "deficit_worst",
    "deficit_urban100_x4",
    "deficit_swinir",
    "anchors_close",
    "nole_negligible",
    "shift_up_gblsr_asr_nf96_nole",
    "delta_worst_is_set5_x2",
}
UNMEASURED = {
    "retiming", "time_reruns", "time_pilots", "time_sweep", "time_scouts", "runs_native_total",
    "native_total", "runs_asr_total", "asr_total", "project_total",
}  # fmt: skip


def test_the_paper_s_own_numbers_reproduce_every_claim_that_they_decide() -> None:
    rows = {claim.id: judge(claim, RUN, PAPER) for claim in (CLAIMS | CELLS).values()}
    assert {name for name, row in rows.items() if not row.measured} == UNMEASURED
    noisy = {cell.id for cell in READ if is_noisier_than_its_margin(cell)}
    undecided = {name for name, row in rows.items() if row.verdict == Verdict.UNDECIDED}
    assert undecided == UNDECIDED | noisy
    assert len(noisy) == 27  # 23 of them PSNR-Y of a method with a deviation above 0.034 dB
    shown = {name for name, row in rows.items() if row.verdict == Verdict.NOT_JUDGED}
    assert shown == {name for name, claim in CLAIMS.items() if claim.rule == "shown"}
    others = rows.keys() - undecided - UNMEASURED - shown
    assert {rows[name].verdict for name in others} == {Verdict.REPRODUCED, Verdict.FROM_CODE}
    assert not any("nan" in row.interval for row in rows.values())


def test_a_criterion_is_unknown_on_fewer_sets_than_it_requires() -> None:
    evaluate = dict.fromkeys(("set14", "urban100"))
    config = validate(merge(load(), {"native": {"data": {"evaluate": evaluate}}}))
    run = Aggregates(RUN.folder, config, tables=RUN.tables)
    run.provenance = RUN.provenance
    assert judge_criteria(run, run.config)["psnr_below_best_baseline"].met is None


def is_noisier_than_its_margin(cell: Claim) -> bool:
    """Whether three seeds a side, of the printed deviation, cannot show that a cell is the same."""
    (source,) = cell.measure(TABLED).sources
    return stats.t.isf(0.05, 4) * source.cell.std * math.sqrt(2 / 3) > MARGINS[cell.margin].size


def test_published_tables_give_the_claims_that_they_determine() -> None:
    """One last digit apart at most, since the tables are rounded and the paper rounds last."""
    determined = 0
    for claim in (*MEASURED, *DERIVED.values()):
        said, measured = read_published(claim, TABLED)
        if measured is None or claim.rule == "tie":
            continue
        determined += 1
        if said.relation == "=":
            half_units = np.array([said.compute_half_unit(goal) for goal in said.values])
            assert (abs(measured.values - said.values) <= 2.02 * half_units).all(), claim.id
        else:
            assert SIGNS[str(said)[0]](measured.values, said.values[0]).all(), claim.id
    assert determined >= 80


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        # Table 4
        ("winners kodak best_psnr", "22.438"),
        ("winners set14 best_baseline_psnr", "17.188"),
        ("winners set14 best_lpips", "0.5967"),
        ("winners urban100 best_baseline_lpips", "0.7976"),
        # Tables 1 to 3: Fixed 1.40 1.41 1.41, Scalar 1.41 1.41 1.41, Full 1.41 1.40 1.40 ms
        ("family_ms", "0.99 / 1.00 / 1.00 / 1.00 / 0.99 / 0.99"),
        # Table 8
        ("fairness wire ratio", "1.069"),
        # Tables 16 and 17
        ("compute_native baselines longest", "≤ 290"),
        ("compute_asr RDN total", "≤ 324.60"),
    ],
)
def test_what_is_chosen_or_divided_on_both_sides_alike_is_what_the_tables_print(
    name: str, printed: str
) -> None:
    assert str(read_published((CLAIMS | CELLS)[name], TABLED)[0]) == printed


def test_every_published_number_stands_in_the_paper(shared: Path) -> None:
    text = (shared / "paper" / "gblsr_paper.tex").read_text(encoding="utf-8").replace("{,}", "")
    stands = set(re.findall(r"\d+(?:\.\d+)?", text))
    powers = {f"{a}e-{b}" for a, b in re.findall(r"([\d.]+) *\\times *10\^\{-(\d+)\}", text)}
    for claim in (*CLAIMS.values(), *DERIVED.values()):
        if claim.decimals is not None or claim.scope.endswith("cost") or claim.rule == "tie":
            continue
        for number in re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?", claim.published):
            assert number in stands | powers, claim.id


def test_training_times_are_the_printed_ones(shared: Path) -> None:
    text = (shared / "paper" / "gblsr_paper.tex").read_text(encoding="utf-8")
    for group in (*read_published_times("native"), *read_published_times("asr")):
        for seconds in (group.longest_seconds, group.total_seconds):
            minutes, hours = seconds // 60, seconds // 3600
            native = f"{minutes}m{seconds % 60:02}s"
            assert native in text or f"{hours}h{minutes % 60:02}m" in text, group.group


# --- what can refute it ---------------------------------------------------------------------------

SHIFTS = [sign * size for size in np.geomspace(1.1e-5, 1.1e4, 14) for sign in (1, -1)]


def altered(run: Aggregates, sources: Sequence[Source], alter: Alter) -> Aggregates:
    """Return a run whose rows that a claim read are others; `alter` gives what replaces each."""
    tables = dict(run.tables)
    for kind in {source.aggregate for source in sources}:
        keys = {source.key for source in sources if source.aggregate == kind}
        names = {source.subject for source in sources if source.aggregate == kind}
        tables[kind] = [
            other
            for row in run.table(kind)
            for other in (alter(row) if _read(kind, row, keys, names) else [row])
        ]
    other = Aggregates(run.folder, run.config, tables=tables)
    other.provenance = run.provenance
    return other


def _read(kind: str, row: dict[str, Any], keys: set, names: set[str]) -> bool:
    if kind in OVER_SEEDS:
        return get_key(row) in keys
    return row.get("arm", row.get("statistic")) in names


def scaled(columns: Sequence[str], shift: float) -> Alter:
    """Move some columns by a share of their values, and zeros by as much."""

    def alter(row: dict[str, Any]) -> list[dict[str, Any]]:
        moved = {c: row[c] + shift * (abs(row[c]) or 1.0) for c in columns if c in row}
        return [{**row, **moved}]

    return alter


def moves(claim: Claim) -> Iterator[tuple[float, Aggregates]]:
    """Yield shares, and runs whose numbers are moved by them, together and one by one."""
    sources = {(s.aggregate, s.key): s for s in claim.measure(Measured(RUN, PAPER)).sources}
    for chosen in ([*sources.values()], *([source] for source in sources.values())):
        for shift in SHIFTS:
            for columns in (("mean", "wall_seconds", "bandwidth"), ("std",)):
                yield shift, altered(RUN, chosen, scaled(columns, shift))
    for source in sources.values():  # a run less
        yield -1.0, altered(RUN, [source], lambda row: [row] if row.get("seed") else [])


FIRST = [CELLS[column.id.format(column.rows[0])] for column in COLUMNS.values()]
TRAINING = [CELLS[f"compute_native main {name}"] for name in ("runs", "longest", "total")]
JUDGED = [claim for claim in (*MEASURED, *FIRST, *TRAINING) if claim.rule != "shown"]


@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_a_measurement_can_refute_every_claim(
    claim: Claim, record_property: Callable[[str, object], None]
) -> None:
    """Moved far enough every claim fails; by which share of its numbers, the report says."""
    for share, run in moves(claim):
        try:
            _, finding = compare(claim, run, PAPER)
        except NotMeasuredError:
            continue
        if finding.agreement is Agreement.FAILS:
            record_property("fails when moved by", float(share))
            return
    pytest.fail("whatever is measured, it does not fail; a claim that cannot is none")


def test_every_cell_of_the_papers_tables_has_a_claim_that_a_measurement_can_refute() -> None:
    for number, table in enumerate(("main_kodak", "main_set14", "main_urban100"), start=1):
        cells = [cell for name, cell in CELLS.items() if name.startswith(table)]
        assert (len(cells), {cell.where for cell in cells}) == (7 * 5, {f"Table {number}"})
    assert sum(name.startswith("lse ") for name in CELLS) == 9
    assert sum(name.startswith("asr_full_all_scales_appendix ") for name in CELLS) == 5 * 4 * 5 * 2
    far = [source for cell in READ for source in cell.measure(Measured(RUN, PAPER)).sources]
    assert {source.aggregate for source in far} == {"native", "asr_quality", "asr_latency"}
    run = altered(RUN, far, scaled(["mean"], 2.0))
    assert {judge(cell, run, PAPER).verdict for cell in READ} == {Verdict.NOT_REPRODUCED}


# --- verdicts that were wrong once ----------------------------------------------------------------

SPOILED = [  # a claim, what is measured in place of the paper's numbers, and its verdict
    # Full 0.3 dB ahead of Scalar is no tie that three seeds could show, and 2 dB ahead is none.
    ("full_tie", {("native", "kodak", "gblsr_full", "psnr"): 22.3116 + 0.3}, Verdict.UNDECIDED),
    ("full_tie", {("native", "kodak", "gblsr_full", "psnr"): 22.3116 + 2.0},
     Verdict.NOT_REPRODUCED),
    # A gain on patches, however small, is undecided until it is told from 0.
    ("regions_not_better", {("ablation", "gblsr_full", "delta_psnr_texture"): 0.01},
     Verdict.UNDECIDED),
    # 2.8 dB beside a published validation score were within noise once.
    ("locality gblsr_fixed psnr", {("ablation", "gblsr_fixed", "psnr"): 19.472 + 2.7},
     Verdict.NOT_REPRODUCED),
    # A better LPIPS of Full is no support for a worse one, however clear.
    ("full_lpips_worse", {("native", "kodak", "gblsr_full", "lpips"): 0.5},
     Verdict.NOT_REPRODUCED),
]  # fmt: skip


@pytest.mark.parametrize(("name", "numbers", "verdict"), SPOILED)
def test_a_spoiled_number_is_seen(
    name: str, numbers: dict[tuple[str, ...], float], verdict: Verdict
) -> None:
    run = RUN
    for (kind, *key), mean in numbers.items():
        run = with_cell(run, kind, tuple(key), mean=mean)
    assert judge((CLAIMS | CELLS)[name], run, PAPER).verdict == verdict


def with_cell(run: Aggregates, kind: str, key: tuple[str, ...], **values: float) -> Aggregates:
    source = Source(kind, key, "", "")
    return altered(run, [source], lambda row: [{**row, **values}])
