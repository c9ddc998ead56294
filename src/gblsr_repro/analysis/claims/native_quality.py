"""Claims about native quality: the main arm against the baselines, and the paper's criteria."""

from __future__ import annotations

import math
from functools import partial

from ...config import load_protocol, read_datasets
from ..criteria import COMPOSITE, INFERENCE_COST, QUALITY_PARTS, judge_criteria
from ..derived import gap_to_best, lead
from ..estimates import (
    Estimate,
    NotMeasuredError,
    concatenate,
    count,
    highest_mean,
    lowest_mean,
    span,
)
from ..measured import Measured, Names
from ..metrics import LPIPS, PSNR, Metric
from ..provenance import Scope
from ..subjects import ARMS, BASELINES, CONTROL, FULL, SCALAR, SETS, besides
from .published import Tabled, look_up_printed
from .registry import Topic
from .rules import COUNT, Ordering

topic = Topic("Native benchmark: quality", Scope.QUALITY)
criteria = Topic("Native benchmark: criteria", Scope.QUALITY)


def gap_to_baselines(run: Measured, metric: Metric, sets: Names = SETS) -> Estimate:
    """Return by how much the main arm's metric is above the best baseline's."""
    return gap_to_best(run, SCALAR, BASELINES, metric, sets)


# --- the main arm against the baselines -----------------------------------------------------------

topic.add(
    "psnr_gain",
    "Abstract, §1, §5.3, §7",
    "Least and greatest PSNR gain of GB-LSR-Scalar over the best baseline, across data sets",
    lambda run: span(gap_to_baselines(run, PSNR)),
    published="2.8 / 3.6",
    unit="dB",
)

topic.add(
    "lpips_gain",
    "Abstract, §1, §5.3, §7",
    "Least and greatest LPIPS gain of GB-LSR-Scalar over the best baseline, across data sets",
    lambda run: span(-gap_to_baselines(run, LPIPS)),
    published="0.11 / 0.15",
)

topic.add(
    "psnr_beats_all",
    "Contribution 1, §5.1, §5.4",
    "GB-LSR-Scalar has a higher PSNR than every baseline on every data set (least margin)",
    lambda run: gap_to_baselines(run, PSNR),
    rule=Ordering(),
    unit="dB",
)

topic.add(
    "lpips_beats_all",
    "Contribution 1, §5.1, §5.4",
    "GB-LSR-Scalar has a lower LPIPS than every baseline on every data set (margin "
    "nearest to failing)",
    lambda run: gap_to_baselines(run, LPIPS),
    rule=Ordering(),
    published="< 0",
)


ROUNDED = {  # the rows of Table 4 that its tables give with another last digit
    ("kodak", "PSNR"): "The displayed means give 2.836; the paper rounds last.",
    ("kodak", "LPIPS"): "The displayed means give -0.1377; the paper rounds last.",
    ("set14", "PSNR"): "The displayed means give 3.588; the paper rounds last.",
}

for column in SETS:
    for heading, unit, metric in (("PSNR", "dB", PSNR), ("LPIPS", "", LPIPS)):
        topic.add(
            f"{metric.name}_gap_{column}",
            "§5.1, Table 4",
            f"{heading} of GB-LSR-Scalar minus the best baseline on "
            f"{read_datasets()[column].title}",
            partial(gap_to_baselines, metric=metric, sets=column),
            published=look_up_printed("winners", column, f"Δ {heading}"),
            unit=unit,
            note=ROUNDED.get((column, heading), ""),
        )

topic.add(
    "best_psnr",
    "Table 4",
    "Highest PSNR of all seven arms on Kodak, Set14, Urban100",
    lambda run: highest_mean(run.native(SETS, ARMS, "psnr")),
    published=Tabled(3),
    unit="dB",
)

topic.add(
    "best_psnr_is_full",
    "§5.4, Table 4, A.5",
    "GB-LSR-Full has the highest mean PSNR on every data set (least margin)",
    lambda run: lead(run, FULL, besides(FULL), PSNR),
    rule=Ordering(),
    unit="dB",
)

topic.add(
    "best_baseline_psnr",
    "Table 4",
    "Highest PSNR of the three baselines on Kodak, Set14, Urban100",
    lambda run: highest_mean(run.native(SETS, BASELINES, "psnr")),
    published=Tabled(3),
    unit="dB",
)

topic.add(
    "best_lpips",
    "§5.2, Table 4",
    "Lowest LPIPS of all seven arms on Kodak, Set14, Urban100",
    lambda run: lowest_mean(run.native(SETS, ARMS, "lpips")),
    published=Tabled(4),
)

topic.add(
    "best_baseline_lpips",
    "Table 4",
    "Lowest LPIPS of the three baselines on Kodak, Set14, Urban100",
    lambda run: lowest_mean(run.native(SETS, BASELINES, "lpips")),
    published=Tabled(4),
)


# --- the criteria ---------------------------------------------------------------------------------

PSNR_PART, LPIPS_PART, CONTROL_PART = QUALITY_PARTS
DECIDED_BY = {  # the arms and metrics that each criterion compares
    PSNR_PART: [(arm, "psnr") for arm in (SCALAR, *BASELINES)],
    LPIPS_PART: [(arm, "lpips") for arm in (SCALAR, *BASELINES)],
    CONTROL_PART: [(arm, "psnr") for arm in (SCALAR, CONTROL)],
    INFERENCE_COST: [(arm, "inference_ms") for arm in (SCALAR, *BASELINES)],
}


def read_criterion(run: Measured, name: str, column: str = "met") -> Estimate:
    """Read a criterion on every data set: whether it is `met` (1, 0), or its measured `value`.

    Raises `NotMeasuredError` where the run compares other arms or applies another bound than the
    paper.
    """
    parts = QUALITY_PARTS if name == COMPOSITE else (name,)
    compared = concatenate(
        *(
            run.native(dataset, arm, metric)
            for dataset in SETS
            for part in parts
            for arm, metric in DECIDED_BY[part]
        )
    )
    aggregates = run.aggregates
    if {aggregates.main_arm.arm, *aggregates.baselines} != {SCALAR, *BASELINES}:
        raise NotMeasuredError("the criteria are about other arms than the paper's")
    here, paper = (config["native"]["criteria"] for config in (aggregates.config, load_protocol()))
    if any(here[part] != paper[part] for part in parts):
        raise NotMeasuredError(f"native.criteria applies another bound to {name}")
    outcome = judge_criteria(aggregates)[name]
    found = outcome.values if column == "value" else outcome.met_on
    values = [found[dataset] for dataset in SETS]
    known = [math.nan if value is None else float(value) for value in values]
    return Estimate.exact(known, compared.sources)


CONDITIONS = {  # by id: the condition, and how it reads
    "gate_psnr": (PSNR_PART, "GB-LSR-Scalar is at most 0.5 dB below the best baseline"),
    "gate_lpips": (LPIPS_PART, "its LPIPS is at most 0.02 above the best baseline"),
    "gate_control": (CONTROL_PART, "it is at least 0.5 dB above the Global Fourier-MLP"),
}


def sets_that_meet(run: Measured, criterion: str) -> Estimate:
    """Count the data sets on which a criterion is met."""
    return count(read_criterion(run, criterion))


for name, (condition, words) in CONDITIONS.items():
    criteria.add(
        name,
        "§4, §5.1, Table 5",
        f"Data sets on which {words}",
        partial(sets_that_meet, criterion=condition),
        rule=COUNT,
        published="3",
        unit="of 3",
    )

criteria.add(
    "gate_quality",
    "§4, §5.1, Table 5, A.6.5",
    "Quality criterion: data sets on which all three conditions hold (2 are needed)",
    lambda run: sets_that_meet(run, COMPOSITE),
    rule=COUNT,
    published=f">= {load_protocol()['native']['criteria']['datasets_required']}",
    unit="of 3",
)
