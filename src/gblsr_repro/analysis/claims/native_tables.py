"""Claims about the cells of the native tables: every mean, every spread, what is bold."""

from __future__ import annotations

from functools import partial

from ...config import read_arms, read_datasets
from ..measured import Measured
from ..metrics import LSE, METRICS, Metric
from ..provenance import Scope
from ..subjects import ARMS, FAMILY, FIXED, FULL, SCALAR, SETS
from .registry import Topic
from .rules import Bold

BOLD = {  # what Tables 1-3 and 10 print in bold
    ("kodak", "psnr"): (SCALAR, FULL),
    ("kodak", "ssim"): (SCALAR, FULL),
    ("kodak", "lpips"): (FIXED,),
    ("kodak", "edge_lpips"): (SCALAR, FULL),
    ("kodak", "lse"): (SCALAR,),
    ("set14", "psnr"): (SCALAR, FULL),
    ("set14", "ssim"): (FULL,),
    ("set14", "lpips"): (FIXED, SCALAR),
    ("set14", "edge_lpips"): (SCALAR, FULL),
    ("set14", "lse"): (SCALAR,),
    ("urban100", "psnr"): (SCALAR, FULL),
    ("urban100", "ssim"): (SCALAR, FULL),
    ("urban100", "lpips"): (FIXED,),
    ("urban100", "edge_lpips"): (SCALAR, FULL),
    ("urban100", "lse"): (SCALAR,),
}

TABLES = {column: f"Table {number}" for number, column in enumerate(SETS, start=1)}
quality = Topic("Native benchmark: quality", Scope.QUALITY)
spectrum = Topic("Local spectrum error", Scope.QUALITY)


def claim_bold(topic: Topic, claim: str, where: str, column: str, metric: Metric) -> None:
    """Claim which cells of a column are the best but for seed noise."""
    best, of_family = BOLD[column, metric.name], topic is spectrum
    arms, rows = (FAMILY, "three GB-LSR") if of_family else (ARMS, "seven")
    titles = [read_arms()[arm].name for arm in best]
    winners = f"{titles[0]} alone" if len(titles) == 1 else " and ".join(titles)
    topic.add(
        f"{claim}_bold",
        where,
        f"Best {metric.title} on {read_datasets()[column].title} but for seed noise (bold, 1 of "
        f"the {rows} arms in the order of the table): {winners}",
        partial(Measured.native, datasets=column, arms=arms, metric=metric.name),
        rule=Bold(),
        published=" / ".join("1" if arm in best else "0" for arm in arms),
    )


for column, name in BOLD:
    where, metric = TABLES[column], METRICS[name]
    if metric is LSE:
        claim_bold(spectrum, f"table10_lse_{column}", "Table 10", column, LSE)
        continue
    claim = f"table{where[-1]}_{name}"
    quality.add_cells(
        claim,
        where,
        f"the seven arms on {read_datasets()[column].title}",
        partial(Measured.native, datasets=column, arms=ARMS, metric=name),
        metric,
    )
    claim_bold(quality, claim, where, column, metric)

spectrum.add_cells(
    "table10_lse",
    "Table 10",
    "the three GB-LSR arms on the three data sets",
    lambda run: run.native(SETS, FAMILY, "lse"),
    LSE,
)
