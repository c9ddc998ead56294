"""Runs drawn at random: how often a faithful one is found the same, and what is noticed."""

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
from scipy import stats

from gblsr_repro.analysis.claims.cells import list_cells
from gblsr_repro.analysis.claims.judge import compare
from gblsr_repro.analysis.claims.rules import ALPHA, EQUIVALENCE, Agreement
from gblsr_repro.analysis.claims.stated import CLAIMS, MEASURES, Claim
from gblsr_repro.analysis.estimates import NotMeasuredError
from gblsr_repro.analysis.measured import Measured
from gblsr_repro.analysis.metrics import MARGINS
from gblsr_repro.analysis.provenance.differences import Provenance
from gblsr_repro.analysis.reader import Aggregates, read_paper_aggregates
from gblsr_repro.analysis.statistics import compute_interval, compute_p
from gblsr_repro.config import load_protocol

PAPER = read_paper_aggregates(load_protocol())
HOLDS, UNDECIDED, FAILS = Agreement.HOLDS, Agreement.UNDECIDED, Agreement.FAILS
NOISIER = 3.5


def build(rows: list[dict[str, Any]]) -> Aggregates:
    run = Aggregates(Path("nowhere"), PAPER.config, tables={"native": rows})
    run.provenance = Provenance.paper()
    return run


# --- the test of equivalence ----------------------------------------------------------------------


def claim_equal(patch: pytest.MonkeyPatch) -> Claim:
    """A claim that the PSNR of an arm is the published one."""
    measure = partial(Measured.native, datasets="kodak", arms="lte", metric="psnr")
    patch.setitem(MEASURES, "drawn", measure)
    return Claim(id="drawn", topic="", scope="quality", where="", sentence="", rule="equals",
                 margin="psnr", published="20.000")  # fmt: skip


def summarize(seeds: np.ndarray, printed: bool = True) -> list[dict[str, Any]]:
    """Summarize the values of seeds as the row of an arm; two values or more have a deviation."""
    std = float(seeds.std(ddof=1)) if len(seeds) > 1 and printed else math.nan
    row = {"dataset": "kodak", "arm": "lte", "metric": "psnr", "mean": float(seeds.mean())}
    return [{**row, "std": std, "n": len(seeds) if printed else math.nan}]


def test_the_verdict_on_a_number_is_that_of_two_one_sided_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Held against scipy's t-tests of the seeds themselves, three against three."""
    random, claim, found = np.random.default_rng(1), claim_equal(monkeypatch), Counter[Agreement]()
    for distance, spread in random.uniform((0, 0.02), (1, 0.4), (200, 2)):
        here, paper = random.normal(20 + distance, spread, 3), random.normal(20, spread, 3)
        _, outcome = compare(claim, build(summarize(here)), build(summarize(paper)))
        one_sided = [
            stats.ttest_ind(here + 0.5, paper, alternative="greater").pvalue,
            stats.ttest_ind(here - 0.5, paper, alternative="less").pvalue,
        ]
        test = stats.ttest_ind(here, paper)
        low, high = test.confidence_interval(EQUIVALENCE)
        assert (outcome.low[0], outcome.high[0]) == pytest.approx((low, high))
        expected = HOLDS if max(one_sided) < ALPHA else FAILS if test.pvalue < ALPHA else UNDECIDED
        assert outcome.agreement is expected
        assert ("by less than the margin" in outcome.reason) == (
            expected is HOLDS and test.pvalue < ALPHA
        )
        found[expected] += 1
    assert min(found.values()) >= 20


def test_a_side_without_a_deviation_adds_none(monkeypatch: pytest.MonkeyPatch) -> None:
    claim, seeds = claim_equal(monkeypatch), np.array([19.9, 20.0, 20.3])
    unprinted = build(summarize(np.array([20.0]), printed=False))
    _, outcome = compare(claim, build(summarize(seeds)), unprinted)
    low, high = stats.ttest_1samp(seeds, 20.0).confidence_interval(0.9)  # of the mean
    assert (outcome.low[0], outcome.high[0]) == pytest.approx((low - 20.0, high - 20.0))
    assert outcome.reason.endswith("the paper prints no deviation: that of these seeds alone")
    single = build(summarize(seeds[:1]))
    _, outcome = compare(claim, single, unprinted)
    assert (outcome.agreement, outcome.reason) == (
        UNDECIDED, "neither side has a deviation over seeds")  # fmt: skip
    # One seed beside three takes their deviation: s * sqrt(1 / 1 + 1 / 3), 2 degrees of freedom.
    _, outcome = compare(claim, single, build(summarize(seeds)))
    reach = stats.t.isf(0.05, 2) * seeds.std(ddof=1) * math.sqrt(4 / 3)
    assert outcome.high[0] - outcome.low[0] == pytest.approx(2 * reach)


# --- the cells of Tables 1 to 3 and 10 ------------------------------------------------------------

CELLS = [row for row in PAPER.table("native") if row["std"] >= 0]
METRIC = np.array([row["metric"] for row in CELLS])
MARGIN = np.array([MARGINS[metric].size for metric in METRIC])
STD = np.array([row["std"] for row in CELLS])


def draw_cells(
    draws: int, shift: float = 0.0, noisier: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Draw three seeds a side of every cell; return which are the same, and which differ."""
    random = np.random.default_rng(0)
    here, paper = (random.standard_normal((draws, len(CELLS), 3)) * STD[:, None] for _ in range(2))
    variance = (noisier**2 * here.var(2, ddof=1) + paper.var(2, ddof=1)) / 2
    difference, error = here.mean(2) - paper.mean(2) + shift, np.sqrt(variance * 2 / 3)
    freedom = np.full_like(difference, 4.0)
    low, high = compute_interval(difference, error, freedom, EQUIVALENCE)
    same = (low >= -MARGIN) & (high <= MARGIN)
    return same, ~same & (compute_p(difference, error, freedom) < ALPHA)


def test_a_faithful_run_seldom_differs_and_is_often_undecided() -> None:
    """The shares that docs/interpretations.md names: the same, and not to be told."""
    same, differs = draw_cells(4000)
    assert len(CELLS) == 93
    assert differs.mean() < 0.01
    assert differs.mean(0).max() < 0.05
    shares = {metric: same[:, metric == METRIC].mean() for metric in dict.fromkeys(METRIC)}
    recorded = {"psnr": 0.87, "ssim": 0.96, "lpips": 0.72, "edge_lpips": 0.91, "lse": 0.85}
    assert shares == pytest.approx(recorded, abs=0.01)
    undecided = 1 - same.mean() - differs.mean()
    assert undecided == pytest.approx(0.13, abs=0.01)


def test_one_decibel_is_noticed_and_a_noisier_run_gains_nothing() -> None:
    psnr, told = METRIC == "psnr", {}
    for lower in (0.25, 0.5, 0.75, 1.0):
        same, differs = draw_cells(4000, shift=-lower)
        told[lower] = same[:, psnr].mean(), differs[:, psnr].mean()
    recorded = {0.25: (0.76, 0.07), 0.5: (0.05, 0.84), 0.75: (0.00, 0.96), 1.0: (0.00, 0.99)}
    assert told == {lower: pytest.approx(shares, abs=0.01) for lower, shares in recorded.items()}
    assert differs[:, psnr].mean(0).min() > 0.85  # 1 dB, WIRE on Kodak, of deviation 0.281
    for shift in (0.0, -0.3, -1.0):
        same, _ = draw_cells(2000, shift)
        noisier, _ = draw_cells(2000, shift, NOISIER)
        assert not (noisier & ~same).any()
        assert noisier.sum() < 0.8 * same.sum()


# --- all claims about the native benchmark --------------------------------------------------------

RUNS = 12
OF_NATIVE = [*CLAIMS.values(), *(cell for cell in list_cells(PAPER) if cell.scope == "quality")]


def draw_runs(noisier: float = 1.0) -> Iterator[Aggregates]:
    """Draw runs from the paper's native table; the same means with deviations `noisier` times.

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
                row = {**row, "mean": moved, "std": noisier * spread}
            rows.append(row)
        yield build(rows)


def judge_measured(run: Aggregates) -> dict[str, Agreement]:
    """Judge the claims that the run's numbers are about."""
    found = {}
    for claim in OF_NATIVE:
        try:
            _, outcome = compare(claim, run, PAPER)
        except NotMeasuredError:
            continue
        if outcome.agreement is not Agreement.SHOWN:
            found[claim.id] = outcome.agreement
    return found


def test_claims_fail_seldom_in_faithful_runs_and_never_hold_by_noise() -> None:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for run, noisy in zip(draw_runs(), draw_runs(NOISIER), strict=True):
        verdicts, of_noisy = judge_measured(run), judge_measured(noisy)
        for name, agreement in verdicts.items():
            found[name][agreement] += 1
            assert agreement is HOLDS or of_noisy[name] is not HOLDS, name
    total = sum(found.values(), Counter[str]())
    assert len(found) >= 140
    assert total[FAILS] <= 0.01 * total.total()
    assert total[UNDECIDED] == pytest.approx(0.18 * total.total(), rel=0.1)  # it is what it is
    assert max(counts[FAILS] for counts in found.values()) <= 0.2 * RUNS


def test_a_main_arm_one_decibel_lower_is_noticed_by_every_claim_about_its_gap() -> None:
    lower = [
        {**row, "mean": row["mean"] - (row["arm"] == "gblsr_scalar" and row["metric"] == "psnr")}
        for row in build_paper_run().hold().table("native")
    ]
    found = judge_measured(build(lower))
    gaps = {f"winners {column} gap_psnr" for column in ("kodak", "set14", "urban100")}
    family = {"fixed_psnr_loss", "full_psnr_gain", "full_psnr_gain_bound", "full_tie"}
    noticed = {name for name, agreement in found.items() if agreement is FAILS}
    assert gaps | family | {"psnr_gain"} <= noticed
