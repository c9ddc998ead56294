"""Claims about the inference time of the native arms."""

from __future__ import annotations

from functools import partial

from ...config import load_protocol
from ..criteria import COST
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
topic = Topic("Native benchmark: inference cost", Scope.LATENCY)
MS = "inference_ms"


def over_slowest(run: Measured) -> Estimate:
    """Return the main arm's time over the slowest baseline's on every data set."""
    return share_of_slowest(run, SCALAR, BASELINES)


def over(run: Measured, arm: str) -> Estimate:
    """Return the main arm's time over another arm's on every data set."""
    return run.native(SETS, SCALAR, MS) / run.native(SETS, arm, MS)


@criteria.claim(
    where="§4, §5.1, Table 5, A.6.5",
    sentence="Inference-cost criterion: GB-LSR-Scalar's time over the slowest baseline's, highest "
    "of the data sets",
    rule=Criterion(why="the criterion of Table 5"),
    published=f"<= {load_protocol()['native']['criteria'][COST]}",
    unit="×",
)
def gate_cost(run: Measured) -> Estimate:
    return maximum(read_criterion(run, COST, "value"))


@topic.claim(
    where="Contribution 2, §2, §5.1, §5.4, §7, Table 5",
    sentence="Inference time of GB-LSR-Scalar over the slowest baseline's on Kodak, Set14, "
    "Urban100",
    rule=RATIO,
    published="0.247 / 0.247 / 0.247",
    unit="×",
)
def cost_ratio(run: Measured) -> Estimate:
    return over_slowest(run)


@topic.claim(
    where="Abstract, §1, §5.1",
    sentence="The same ratio is roughly one quarter (mean over data sets)",
    rule=RATIO,
    published="0.25",
    unit="×",
)
def cost_quarter(run: Measured) -> Estimate:
    return mean(over_slowest(run))


@topic.claim(
    where="§5.4, A.4",
    sentence="Inference time of GB-LSR-Scalar on Kodak, Set14, Urban100",
    rule=TIME,
    published=Tabled(2),
    unit="ms",
)
def scalar_ms(run: Measured) -> Estimate:
    return run.native(SETS, SCALAR, MS)


@topic.claim(
    where="§5.1, Tables 1-3",
    sentence="Inference time of LIIF on Kodak, Set14, Urban100",
    rule=TIME,
    published=Tabled(2),
    unit="ms",
)
def liif_ms(run: Measured) -> Estimate:
    return run.native(SETS, LIIF, MS)


@topic.claim(
    where="§5.1, §5.4",
    sentence="LIIF is the slowest baseline on every data set (least margin)",
    rule=Ordering(),
    published="> 0",
    unit="ms",
)
def slowest_is_liif(run: Measured) -> Estimate:
    return run.native(SETS, LIIF, MS) - highest_mean(run.native(SETS, (LTE, WIRE), MS))


for arm, published in ((LTE, "0.55 / 0.55 / 0.55"), (WIRE, "0.53 / 0.53 / 0.53")):
    topic.add(
        f"cost_vs_{arm}",
        partial(over, arm=arm),
        where="§5.4",
        sentence=f"Inference time of GB-LSR-Scalar over {arm.upper()}'s on Kodak, Set14, Urban100",
        rule=RATIO,
        published=published,
        unit="×",
    )


@topic.claim(
    where="§5.4, Figure 7",
    sentence="The basis makes the speed, not the bandwidth: inference time of GB-LSR-Fixed on "
    "Kodak, Set14, Urban100, then of GB-LSR-Full, over GB-LSR-Scalar's",
    rule=RATIO,
    published=Tabled(2),
    unit="×",
)
def family_ms(run: Measured) -> Estimate:
    return 1 / concatenate(*(over(run, arm) for arm in (FIXED, FULL)))


@topic.claim(
    where="A.4",
    sentence="Least and greatest inference time of GB-LSR-Full across data sets",
    rule=TIME,
    published=Tabled(2),
    unit="ms",
)
def full_ms(run: Measured) -> Estimate:
    return span(run.native(SETS, FULL, MS))


@topic.claim(
    where="Tables 1-3",
    sentence="Inference time of the seven arms on the three data sets",
    rule=TIME,
    published=Tabled(2),
    unit="ms",
)
def tables_ms(run: Measured) -> Estimate:
    return run.native(SETS, ARMS, MS)
