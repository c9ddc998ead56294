"""Claims about native quality: the main arm against the baselines, and the paper's criteria."""

from __future__ import annotations

from functools import partial

from ...config import load_protocol, read_datasets
from ..criteria import QUALITY
from ..provenance import Scope
from .estimates import Estimate, count, highest_mean, lowest_mean, span
from .measured import (
    ARMS,
    BASELINES,
    CONTROL_PART,
    FULL,
    LPIPS_PART,
    PSNR_PART,
    SCALAR,
    SETS,
    Measured,
    Names,
)
from .published import Tabled, printed
from .registry import Topic
from .rules import COUNTED, Criterion, Equals, Ordering

topic = Topic("Native benchmark: quality", Scope.QUALITY)
criteria = Topic("Native benchmark: criteria", Scope.QUALITY)


def psnr_gap(run: Measured, sets: Names = SETS) -> Estimate:
    """Return by how much the main arm's PSNR is above the best baseline's."""
    return run.native(sets, SCALAR, "psnr") - highest_mean(run.native(sets, BASELINES, "psnr"))


def lpips_gap(run: Measured, sets: Names = SETS) -> Estimate:
    """Return by how much the main arm's LPIPS is above the best baseline's (lower is better)."""
    return run.native(sets, SCALAR, "lpips") - lowest_mean(run.native(sets, BASELINES, "lpips"))


# --- the main arm against the baselines -----------------------------------------------------------


@topic.claim(
    where="Abstract, §1, §5.3, §7",
    sentence="Least and greatest PSNR gain of GB-LSR-Scalar over the best baseline, across data "
    "sets",
    rule=Equals(),
    published="2.8 / 3.6",
    unit="dB",
)
def psnr_gain(run: Measured) -> Estimate:
    return span(psnr_gap(run))


@topic.claim(
    where="Abstract, §1, §5.3, §7",
    sentence="Least and greatest LPIPS gain of GB-LSR-Scalar over the best baseline, across data "
    "sets",
    rule=Equals(),
    published="0.11 / 0.15",
)
def lpips_gain(run: Measured) -> Estimate:
    return span(-lpips_gap(run))


@topic.claim(
    where="Contribution 1, §5.1, §5.4",
    sentence="GB-LSR-Scalar has a higher PSNR than every baseline on every data set (least margin)",
    rule=Ordering(),
    published="> 0",
    unit="dB",
)
def psnr_beats_all(run: Measured) -> Estimate:
    return psnr_gap(run)


@topic.claim(
    where="Contribution 1, §5.1, §5.4",
    sentence="GB-LSR-Scalar has a lower LPIPS than every baseline on every data set (margin "
    "nearest to failing)",
    rule=Ordering(),
    published="< 0",
)
def lpips_beats_all(run: Measured) -> Estimate:
    return lpips_gap(run)


ROUNDED = {  # the rows of Table 4 that its tables give with another last digit
    ("kodak", "PSNR"): "The displayed means give 2.836; the paper rounds last.",
    ("kodak", "LPIPS"): "The displayed means give -0.1377; the paper rounds last.",
    ("set14", "PSNR"): "The displayed means give 3.588; the paper rounds last.",
}

for column in SETS:
    for metric, unit, gap in (("PSNR", "dB", psnr_gap), ("LPIPS", "", lpips_gap)):
        topic.claim(
            name=f"{metric.lower()}_gap_{column}", where="§5.1, Table 4",
            sentence=f"{metric} of GB-LSR-Scalar minus the best baseline on "
            f"{read_datasets()[column].title}",
            rule=Equals(), published=printed("winners", column, f"Δ {metric}"), unit=unit,
            note=ROUNDED.get((column, metric), ""),
        )(partial(gap, sets=column))  # fmt: skip


@topic.claim(
    where="Table 4",
    sentence="Highest PSNR of all seven arms on Kodak, Set14, Urban100",
    rule=Equals(),
    published=Tabled(3),
    unit="dB",
)
def best_psnr(run: Measured) -> Estimate:
    return highest_mean(run.native(SETS, ARMS, "psnr"))


@topic.claim(
    where="§5.4, Table 4, A.5",
    sentence="GB-LSR-Full has the highest mean PSNR on every data set (least margin)",
    rule=Ordering(),
    published="> 0",
    unit="dB",
)
def best_psnr_is_full(run: Measured) -> Estimate:
    others = [arm for arm in ARMS if arm != FULL]
    return run.native(SETS, FULL, "psnr") - highest_mean(run.native(SETS, others, "psnr"))


@topic.claim(
    where="Table 4",
    sentence="Highest PSNR of the three baselines on Kodak, Set14, Urban100",
    rule=Equals(),
    published=Tabled(3),
    unit="dB",
)
def best_baseline_psnr(run: Measured) -> Estimate:
    return highest_mean(run.native(SETS, BASELINES, "psnr"))


@topic.claim(
    where="§5.2, Table 4",
    sentence="Lowest LPIPS of all seven arms on Kodak, Set14, Urban100",
    rule=Equals(),
    published=Tabled(4),
)
def best_lpips(run: Measured) -> Estimate:
    return lowest_mean(run.native(SETS, ARMS, "lpips"))


@topic.claim(
    where="Table 4",
    sentence="Lowest LPIPS of the three baselines on Kodak, Set14, Urban100",
    rule=Equals(),
    published=Tabled(4),
)
def best_baseline_lpips(run: Measured) -> Estimate:
    return lowest_mean(run.native(SETS, BASELINES, "lpips"))


# --- the quality criterion ------------------------------------------------------------------------

CONDITIONS = {  # by id: the condition, and how it reads
    "gate_psnr": (PSNR_PART, "GB-LSR-Scalar is at most 0.5 dB below the best baseline"),
    "gate_lpips": (LPIPS_PART, "its LPIPS is at most 0.02 above the best baseline"),
    "gate_control": (CONTROL_PART, "it is at least 0.5 dB above the Global Fourier-MLP"),
}


def sets_that_meet(run: Measured, criterion: str) -> Estimate:
    """Count the data sets on which a criterion is met."""
    return count(run.criterion(criterion))


for name, (condition, words) in CONDITIONS.items():
    criteria.claim(
        name=name, where="§4, §5.1, Table 5", sentence=f"Data sets on which {words}",
        rule=Criterion(why=COUNTED), published="3", unit="of 3",
    )(partial(sets_that_meet, criterion=condition))  # fmt: skip


@criteria.claim(
    where="§4, §5.1, Table 5, A.6.5",
    sentence="Quality criterion: data sets on which all three conditions hold (2 are needed)",
    rule=Criterion(why=COUNTED),
    published=f">= {load_protocol()['native']['criteria']['datasets_required']}",
    unit="of 3",
)
def gate_quality(run: Measured) -> Estimate:
    return sets_that_meet(run, QUALITY)
