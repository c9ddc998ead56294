"""Claims about the inference time of the native arms."""

from __future__ import annotations

from functools import partial

from ...config import load_protocol
from ..criteria import INFERENCE_COST
from ..derived import share_of_slowest
from ..estimates import Estimate, concatenate, highest_mean, maximum, mean, span
from ..measured import Measured
from ..provenance import Scope
from ..subjects import ARMS, BASELINES, FIXED, FULL, LIIF, LTE, SCALAR, SETS, WIRE
from .native_quality import read_criterion
from .published import Tabled
from .registry import Topic
from .rules import RATIO, TIME, Criterion, Ordering

criteria = Topic("Native benchmark: criteria", Scope.LATENCY)
topic = Topic("Native benchmark: inference cost", Scope.LATENCY, TIME)
MS = "inference_ms"


def over_slowest(run: Measured) -> Estimate:
    """Return the main arm's time over the slowest baseline's on every data set."""
    return share_of_slowest(run, SCALAR, BASELINES)


def over(run: Measured, arm: str) -> Estimate:
    """Return the main arm's time over another arm's on every data set."""
    return run.native(SETS, SCALAR, MS) / run.native(SETS, arm, MS)


criteria.add(
    "gate_cost",
    "§4, §5.1, Table 5, A.6.5",
    "Inference-cost criterion: GB-LSR-Scalar's time over the slowest baseline's, highest "
    "of the data sets",
    lambda run: maximum(read_criterion(run, INFERENCE_COST, "value")),
    rule=Criterion(why="the criterion of Table 5"),
    published=f"<= {load_protocol()['native']['criteria'][INFERENCE_COST]}",
    unit="×",
)

topic.add(
    "cost_ratio",
    "Contribution 2, §2, §5.1, §5.4, §7, Table 5",
    "Inference time of GB-LSR-Scalar over the slowest baseline's on Kodak, Set14, Urban100",
    over_slowest,
    rule=RATIO,
    published="0.247 / 0.247 / 0.247",
    unit="×",
)

topic.add(
    "cost_quarter",
    "Abstract, §1, §5.1",
    "The same ratio is roughly one quarter (mean over data sets)",
    lambda run: mean(over_slowest(run)),
    rule=RATIO,
    published="0.25",
    unit="×",
)

topic.add(
    "scalar_ms",
    "§5.4, A.4",
    "Inference time of GB-LSR-Scalar on Kodak, Set14, Urban100",
    lambda run: run.native(SETS, SCALAR, MS),
    published=Tabled(2),
    unit="ms",
)

topic.add(
    "liif_ms",
    "§5.1, Tables 1-3",
    "Inference time of LIIF on Kodak, Set14, Urban100",
    lambda run: run.native(SETS, LIIF, MS),
    published=Tabled(2),
    unit="ms",
)

topic.add(
    "slowest_is_liif",
    "§5.1, §5.4",
    "LIIF is the slowest baseline on every data set (least margin)",
    lambda run: run.native(SETS, LIIF, MS) - highest_mean(run.native(SETS, (LTE, WIRE), MS)),
    rule=Ordering(),
    unit="ms",
)


for arm, published in ((LTE, "0.55 / 0.55 / 0.55"), (WIRE, "0.53 / 0.53 / 0.53")):
    topic.add(
        f"cost_vs_{arm}",
        "§5.4",
        f"Inference time of GB-LSR-Scalar over {arm.upper()}'s on Kodak, Set14, Urban100",
        partial(over, arm=arm),
        rule=RATIO,
        published=published,
        unit="×",
    )

topic.add(
    "family_ms",
    "§5.4, Figure 7",
    "The basis makes the speed, not the bandwidth: inference time of GB-LSR-Fixed on "
    "Kodak, Set14, Urban100, then of GB-LSR-Full, over GB-LSR-Scalar's",
    lambda run: 1 / concatenate(*(over(run, arm) for arm in (FIXED, FULL))),
    rule=RATIO,
    published=Tabled(2),
    unit="×",
)

topic.add(
    "full_ms",
    "A.4",
    "Least and greatest inference time of GB-LSR-Full across data sets",
    lambda run: span(run.native(SETS, FULL, MS)),
    published=Tabled(2),
    unit="ms",
)

topic.add(
    "tables_ms",
    "Tables 1-3",
    "Inference time of the seven arms on the three data sets",
    lambda run: run.native(SETS, ARMS, MS),
    published=Tabled(2),
    unit="ms",
)
