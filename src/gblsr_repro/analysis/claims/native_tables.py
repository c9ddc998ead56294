"""Claims about the cells of the native tables: every mean, every spread, what is bold."""

from __future__ import annotations

from functools import partial

from ...config import read_arms, read_datasets
from ..estimates import Estimate, deviations
from ..measured import Measured
from ..metrics import LSE, METRICS, Metric
from ..provenance import Scope
from ..subjects import ARMS, FAMILY, FIXED, FULL, SCALAR, SETS
from .published import Tabled
from .registry import Topic
from .rules import Bold, Equals, Spread

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

Cells = tuple[tuple[str, ...], tuple[str, ...], str]
"""Data sets, arms and metric of some cells."""


def cells(run: Measured, table: Cells) -> Estimate:
    """Return the means of a table's cells."""
    return run.native(*table)


def spreads(run: Measured, table: Cells) -> Estimate:
    """Return their standard deviations over seeds."""
    return deviations(run.native(*table))


def claim_cells(topic: Topic, name: str, where: str, of: str, table: Cells, metric: Metric) -> None:
    """Claim that means and standard deviations of a table's cells are the paper's."""
    published = Tabled(metric.digits)
    topic.add(
        name,
        partial(cells, table=table),
        where=where,
        sentence=f"{metric.title} of {of}",
        rule=Equals(),
        published=published,
        unit=metric.unit,
    )
    topic.add(
        f"{name}_std",
        partial(spreads, table=table),
        where=where,
        sentence=f"Standard deviations of {metric.title} of {of}",
        rule=Spread(),
        published=published,
        unit=metric.unit,
    )


def claim_bold(
    topic: Topic, name: str, where: str, on: str, table: Cells, metric: Metric, rows: str
) -> None:
    """Claim which cells of a column are the best but for seed noise."""
    sets, names, _ = table
    best = BOLD[sets[0], metric.name]
    titles = [read_arms()[arm].name for arm in best]
    winners = f"{titles[0]} alone" if len(titles) == 1 else " and ".join(titles)
    topic.add(
        f"{name}_bold",
        partial(cells, table=table),
        where=where,
        sentence=f"Best {metric.title} on {on} but for seed noise (bold, 1 of "
        f"the {rows} arms in the order of the table): {winners}",
        rule=Bold(),
        published=" / ".join("1" if arm in best else "0" for arm in names),
    )


TABLES = {column: f"Table {number}" for number, column in enumerate(SETS, start=1)}
quality = Topic("Native benchmark: quality", Scope.QUALITY)
spectrum = Topic("Local spectrum error", Scope.QUALITY)

for column, name in BOLD:
    title, where, metric = read_datasets()[column].title, TABLES[column], METRICS[name]
    if metric is LSE:
        family: Cells = ((column,), FAMILY, name)
        claim = f"table10_lse_{column}"
        claim_bold(spectrum, claim, "Table 10", title, family, LSE, "three GB-LSR")
        continue
    table: Cells = ((column,), ARMS, name)
    claim = f"table{where[-1]}_{name}"
    claim_cells(quality, claim, where, f"the seven arms on {title}", table, metric)
    claim_bold(quality, claim, where, title, table, metric, "seven")

claim_cells(
    spectrum, "table10_lse", "Table 10", "the three GB-LSR arms on the three data sets",
    (SETS, FAMILY, LSE.name), LSE,
)  # fmt: skip
