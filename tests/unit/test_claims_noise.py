"""Faithful runs drawn at random: how seldom a claim fails by chance, and what it notices."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_runs import build_paper_run

from gblsr_repro.analysis.claims.cells import list_cells
from gblsr_repro.analysis.claims.judge import compare, judge
from gblsr_repro.analysis.claims.rules import ALPHA, Agreement
from gblsr_repro.analysis.claims.stated import CLAIMS, MEASURES, Claim
from gblsr_repro.analysis.claims.verdicts import JudgedClaim
from gblsr_repro.analysis.measured import Measured
from gblsr_repro.analysis.provenance.differences import Provenance
from gblsr_repro.analysis.reader import Aggregates, read_paper_aggregates
from gblsr_repro.config import load_protocol

PAPER = read_paper_aggregates(load_protocol())
RUN = build_paper_run().hold()
DRAWS, RUNS = 2000, 40


def build(rows: list[dict[str, Any]]) -> Aggregates:
    run = Aggregates(Path("nowhere"), PAPER.config, tables={"native": rows})
    run.provenance = Provenance.paper()
    return run


# --- the rule alone -------------------------------------------------------------------------------


def claim_equal(numbers: int, patch: pytest.MonkeyPatch) -> Claim:
    """A claim that as many means of arms are the published ones."""
    arms = [*map(str, range(numbers))]
    measure = partial(Measured.native, datasets="kodak", arms=arms, metric="psnr")
    patch.setitem(MEASURES, "drawn", measure)
    return Claim(
        id="drawn", topic="", scope="quality", where="", sentence="", rule="equals", decimals=3
    )


def summarize(seeds: np.ndarray, shift: float = 0.0) -> list[dict[str, Any]]:
    """Summarize values (k, n) of n seeds as rows; two values or more have a deviation."""
    several = seeds.shape[1] > 1
    stds = seeds.std(axis=1, ddof=1) if several else np.full(len(seeds), math.nan)
    names = {"dataset": "kodak", "metric": "psnr", "n": seeds.shape[1]}
    return [
        {**names, "arm": str(arm), "mean": 100 + shift + mean, "std": std}
        for arm, (mean, std) in enumerate(zip(seeds.mean(axis=1), stds, strict=True))
    ]


@pytest.mark.parametrize("numbers", [1, 7, 20])
@pytest.mark.parametrize(("here", "paper", "printed"), [(3, 3, True), (1, 3, True), (3, 3, False)])
def test_a_faithful_number_fails_as_seldom_as_the_level_says(
    here: int, paper: int, printed: bool, numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, claim, failed = np.random.default_rng(numbers), claim_equal(numbers, monkeypatch), 0
    for _ in range(DRAWS):
        ours = summarize(random.standard_normal((numbers, here)))
        theirs = summarize(random.standard_normal((numbers, paper)))
        if not printed:
            theirs = [{**row, "std": math.nan, "n": math.nan} for row in theirs]
        agreement = compare(claim, build(ours), build(theirs)).finding.agreement
        failed += agreement is Agreement.FAILS
    assert 0.6 * ALPHA < failed / DRAWS < ALPHA + 2 * math.sqrt(ALPHA / DRAWS)


@pytest.mark.parametrize(("numbers", "deviations"), [(1, 2.27), (7, 4.11), (20, 5.48)])
def test_a_claim_notices_one_number_that_is_off(
    numbers: int, deviations: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The distances of one arm that interpretations.md names, in deviations of three seeds each."""
    seeds = np.tile([-1.0, 0.0, 1.0], (numbers, 1))  # of deviation 1
    paper, claim = build(summarize(seeds)), claim_equal(numbers, monkeypatch)
    for off, noticed in ((deviations - 0.02, False), (deviations + 0.02, True)):
        run = build([*summarize(seeds[:1], off), *summarize(seeds)[1:]])
        assert (compare(claim, run, paper).finding.agreement is Agreement.FAILS) == noticed


# --- all claims -----------------------------------------------------------------------------------


def draw_runs() -> Iterator[Aggregates]:
    """Draw runs from the paper's native table.

    Each mean is moved by the noise of two means of three seeds; each deviation is that of three.
    """
    random = np.random.default_rng(0)
    for _ in range(RUNS):
        rows = []
        for row in PAPER.table("native"):
            std, n = row["std"], row["n"]
            if std >= 0:
                moved = row["mean"] + std * math.sqrt(2 / n) * random.standard_normal()
                spread = std * math.sqrt(random.chisquare(n - 1) / (n - 1))
                row = {**row, "mean": moved, "std": spread}
            rows.append(row)
        yield build(rows)


def judge_measured(run: Aggregates) -> Iterator[JudgedClaim]:
    rows = (judge(claim, run, PAPER) for claim in (*CLAIMS.values(), *list_cells(PAPER)))
    return (row for row in rows if row.measured)


MOSTLY_OPEN = {  # undecided in half of the draws or more
    "best_psnr_is_full",
    "full_tie",
    "full_psnr_gain",
    "full_psnr_gain_bound",
    "fixed_best_lpips",
    "scalar_best_edge_lpips",
    "full_less_crisp",
    "rank_psnr_liif_wire",
    "rank_lpips_lte_wire",
    "slowest_is_liif",
}


def test_faithful_runs_fail_seldom_and_what_stays_open_says_why() -> None:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for run in draw_runs():
        for row in judge_measured(run):
            found[row.id][row.holds] += 1
            assert row.holds or row.reason
    assert len(found) >= 150
    failed = sum(counts["no"] for counts in found.values())
    decided = sum(counts["no"] + counts["yes"] for counts in found.values())
    assert failed <= 0.06 * decided
    assert decided >= 0.85 * RUNS * len(found)
    assert not {name for name, counts in found.items() if counts["no"] > 0.2 * RUNS}
    mostly_open = {name for name, counts in found.items() if counts[""] >= RUNS / 2}
    assert mostly_open == MOSTLY_OPEN


def test_a_main_arm_one_decibel_lower_is_noticed_by_every_claim_about_its_gap() -> None:
    lower = [
        {**row, "mean": row["mean"] - (row["arm"] == "gblsr_scalar" and row["metric"] == "psnr")}
        for row in RUN.table("native")
    ]
    run = build(lower)
    sets = ("kodak", "set14", "urban100")
    gaps = ("psnr_gain", *(f"psnr_gap_{column}" for column in sets), "fixed_psnr_loss")
    full = ("full_psnr_gain", "full_psnr_gain_bound", "full_tie")
    for name in (*gaps, *full):
        assert judge(CLAIMS[name], run, PAPER).holds == "no", name
