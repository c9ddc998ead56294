"""Claims about the quality of super-resolution: distances, anchors, every cell and what is best."""

from __future__ import annotations

from functools import partial

from ...config import load_protocol, read_datasets, read_methods
from ..estimates import Estimate, concatenate, highest_mean, maximum, span
from ..measured import Measured, Names
from ..metrics import METRICS
from ..provenance import Scope
from ..subjects import (
    ASR_SETS,
    BASE,
    LIIF_RDN,
    LTE_SWINIR,
    METHODS,
    NF96_NOLE,
    NOLE,
    RIVALS,
    SCALES,
    TRAINED_SCALES,
)
from .published import Tabled
from .registry import Topic
from .rules import Bound, Equals, Ordering

topic = Topic("Super-resolution: quality", Scope.ASR_QUALITY)


def deficit(run: Measured, sets: Names, scales: Names, rivals: Names = RIVALS) -> Estimate:
    """Return the PSNR-Y that the base method lacks to the best of others, cell by cell."""
    best = highest_mean(run.asr(sets, rivals, scales, "psnr_y"))
    return best - run.asr(sets, BASE, scales, "psnr_y")


topic.add(
    "deficit_bound",
    "§5.5, §7, A.7",
    "PSNR-Y that GB-LSR-ASR lacks to the best baseline, highest of the 15 in-distribution cells",
    lambda run: deficit(run, ASR_SETS, TRAINED_SCALES),
    rule=Bound(),
    published="<= 1.0",
    unit="dB",
)

topic.add(
    "deficit_worst",
    "A.7",
    "The same, as a value",
    lambda run: maximum(deficit(run, ASR_SETS, TRAINED_SCALES)),
    published="0.676",
    unit="dB",
)

topic.add(
    "deficit_urban100_x4",
    "A.7",
    "PSNR-Y that GB-LSR-ASR lacks to the best baseline on Urban100 x4",
    lambda run: deficit(run, "urban100", "4"),
    published="0.676",
    unit="dB",
)


topic.add(
    "deficit_swinir",
    "A.7",
    "PSNR-Y that GB-LSR-ASR lacks to LTE-SwinIR, highest of all cells",
    lambda run: maximum(deficit(run, ASR_SETS, SCALES, LTE_SWINIR)),
    published="0.68",
    unit="dB",
)


# --- the authors' own numbers ---------------------------------------------------------------------

ANCHORS = {  # a cell: what its authors print, and how far the paper says that it is from that
    (LIIF_RDN, "set5", "2"): ("38.17", "+0.011"),
    (LIIF_RDN, "set14", "4"): ("28.80", "+0.039"),
    (LIIF_RDN, "b100", "4"): ("27.74", "+0.012"),
    (LTE_SWINIR, "set14", "4"): ("29.06", "-0.058"),
}
Cell = tuple[str, str, str]


def from_anchor(run: Measured, cell: Cell) -> Estimate:
    """Return by how much a cell is above what its authors print."""
    method, column, scale = cell
    return run.asr(column, method, scale, "psnr_y") - float(ANCHORS[cell][0])


topic.add(
    "anchor_set5_x2",
    "A.7",
    "PSNR-Y of LIIF-RDN on Set5 x2",
    lambda run: run.asr("set5", LIIF_RDN, "2", "psnr_y"),
    published=Tabled(3),
    unit="dB",
)


for cell, (authors, deviation) in ANCHORS.items():
    method, column, scale = cell
    topic.add(
        f"anchor_{method}_{column}_x{scale}",
        "A.7",
        f"PSNR-Y of {read_methods()[method].name} on {read_datasets()[column].title} "
        f"x{scale} minus the {authors} dB of its authors",
        partial(from_anchor, cell=cell),
        published=deviation,
        unit="dB",
    )


topic.add(
    "anchors_close",
    "A.7",
    "Largest of these four deviations, without sign",
    lambda run: abs(concatenate(*(from_anchor(run, cell) for cell in ANCHORS))),
    rule=Bound(),
    published="<= 0.06",
    unit="dB",
)


# --- Tables 11, 13, 14 and 15 ---------------------------------------------------------------------


# The methods in bold at x2, by metric and data set; at all other scales LTE-SwinIR is.
WINNERS: dict[str, dict[str, tuple[str, ...]]] = {
    "psnr_y": dict.fromkeys(ASR_SETS, (LIIF_RDN,)),
    "ssim_y": {
        "set5": (LIIF_RDN,),
        "set14": (LTE_SWINIR,),
        "b100": (LTE_SWINIR,),
        "urban100": (LIIF_RDN,),
        "div2kval": (LIIF_RDN, LTE_SWINIR),
    },
}


def lead_at_every_scale(run: Measured, column: str, metric: str) -> Estimate:
    """Return by how much the bold method, or the best of two, leads the others at every scale."""
    margins = []
    for scale in SCALES:
        winners = WINNERS[metric][column] if scale == SCALES[0] else (LTE_SWINIR,)
        others = [method for method in METHODS if method not in winners]
        won, rest = (
            highest_mean(run.asr(column, names, scale, metric)) for names in (winners, others)
        )
        margins.append(won - rest)
    return concatenate(*margins)


TABLES = {"psnr_y": "Tables 11, 13, 14", "ssim_y": "Table 15"}

for column in ASR_SETS:
    title = read_datasets()[load_protocol()["asr"]["evaluate"][column]].title
    for name, where in TABLES.items():
        metric = METRICS[name]
        topic.add_cells(
            f"{name}_{column}",
            where,
            f"the four methods at x2 x3 x4 x6 x8 on {title}",
            partial(Measured.asr, datasets=column, method=METHODS, scales=SCALES, metric=name),
            metric,
        )
        first = " or ".join(read_methods()[method].name for method in WINNERS[name][column])
        topic.add(
            f"{name}_{column}_best",
            where,
            f"{first} has the highest {metric.title} at x2 and LTE-SwinIR at x3 to x8 on "
            f"{title} (bold; least margin over the other methods)",
            partial(lead_at_every_scale, column=column, metric=name),
            rule=Ordering(),
            unit=metric.unit,
        )


topic.add(
    "table6_psnr_y",
    "Table 6",
    "PSNR-Y of base, noLE and nf96+noLE on Set14 x4 and on Urban100 x4",
    lambda run: run.asr(("set14", "urban100"), (BASE, NOLE, NF96_NOLE), "4", "psnr_y"),
    published=Tabled(3),
    unit="dB",
)

topic.add(
    "asr_bandwidth",
    "A.7",
    "Trained bandwidth of GB-LSR-ASR, least and greatest of the seeds",
    lambda run: span(run.bandwidth(BASE)),
    rule=Equals(0.01, "the paper says about 0.88 for all seeds"),
    published="0.88 / 0.88",
)
