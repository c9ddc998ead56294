"""Claims about the quality of super-resolution: distances, anchors, every cell and what is best."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...config import load_protocol, read_datasets, read_methods
from ..estimates import Estimate, concatenate, deviations, highest_mean, maximum, span
from ..measured import Measured
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
from .rules import Bound, Equals, Ordering, Spread

topic = Topic("Super-resolution: quality", Scope.ASR_QUALITY)


def deficit(run: Measured, sets: str | Sequence[str], scales: str | Sequence[str]) -> Estimate:
    """Return the PSNR-Y that the base method lacks to the best baseline, cell by cell."""
    rivals = highest_mean(run.asr(sets, RIVALS, scales, "psnr_y"))
    return rivals - run.asr(sets, BASE, scales, "psnr_y")


@topic.claim(
    where="§5.5, §7, A.7",
    sentence="PSNR-Y that GB-LSR-ASR lacks to the best baseline, highest of the 15 in-distribution "
    "cells",
    rule=Bound(),
    published="<= 1.0",
    unit="dB",
)
def deficit_bound(run: Measured) -> Estimate:
    return deficit(run, ASR_SETS, TRAINED_SCALES)


@topic.claim(
    where="A.7", sentence="The same, as a value", rule=Equals(), published="0.676", unit="dB"
)
def deficit_worst(run: Measured) -> Estimate:
    return maximum(deficit(run, ASR_SETS, TRAINED_SCALES))


@topic.claim(
    where="A.7",
    sentence="PSNR-Y that GB-LSR-ASR lacks to the best baseline on Urban100 x4",
    rule=Equals(),
    published="0.676",
    unit="dB",
)
def deficit_urban100_x4(run: Measured) -> Estimate:
    return deficit(run, "urban100", "4")


@topic.claim(
    where="A.7",
    sentence="PSNR-Y that GB-LSR-ASR lacks to LTE-SwinIR, highest of all cells",
    rule=Equals(),
    published="0.68",
    unit="dB",
)
def deficit_swinir(run: Measured) -> Estimate:
    swinir = run.asr(ASR_SETS, LTE_SWINIR, SCALES, "psnr_y")
    return maximum(swinir - run.asr(ASR_SETS, BASE, SCALES, "psnr_y"))


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


@topic.claim(
    where="A.7",
    sentence="PSNR-Y of LIIF-RDN on Set5 x2",
    rule=Equals(),
    published=Tabled(3),
    unit="dB",
)
def anchor_set5_x2(run: Measured) -> Estimate:
    return run.asr("set5", LIIF_RDN, "2", "psnr_y")


for cell, (authors, deviation) in ANCHORS.items():
    method, column, scale = cell
    topic.add(
        f"anchor_{method}_{column}_x{scale}",
        partial(from_anchor, cell=cell),
        where="A.7",
        sentence=f"PSNR-Y of {read_methods()[method].name} on {read_datasets()[column].title} "
        f"x{scale} minus the {authors} dB of its authors",
        rule=Equals(),
        published=deviation,
        unit="dB",
    )


@topic.claim(
    where="A.7",
    sentence="Largest of these four deviations, without sign",
    rule=Bound(),
    published="<= 0.06",
    unit="dB",
)
def anchors_close(run: Measured) -> Estimate:
    return abs(concatenate(*(from_anchor(run, cell) for cell in ANCHORS)))


# --- Tables 11, 13, 14 and 15 ---------------------------------------------------------------------


def cells(run: Measured, column: str, metric: str) -> Estimate:
    """Return the cells of a data set: a method after the other, scale by scale."""
    return run.asr(column, METHODS, SCALES, metric)


def spreads(run: Measured, column: str, metric: str) -> Estimate:
    """Return their standard deviations over seeds."""
    return deviations(cells(run, column, metric))


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


def lead(run: Measured, column: str, metric: str) -> Estimate:
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
GRID = "of the four methods at x2 x3 x4 x6 x8"

for column in ASR_SETS:
    title = read_datasets()[load_protocol()["asr"]["evaluate"][column]].title
    for name, where in TABLES.items():
        metric, chosen = METRICS[name], {"column": column, "metric": name}
        topic.add(
            f"{name}_{column}",
            partial(cells, **chosen),
            where=where,
            sentence=f"{metric.title} {GRID} on {title}",
            rule=Equals(),
            published=Tabled(metric.digits),
            unit=metric.unit,
        )
        topic.add(
            f"{name}_{column}_std",
            partial(spreads, **chosen),
            where=where,
            sentence=f"Standard deviations of {metric.title} {GRID} on {title}",
            rule=Spread(),
            published=Tabled(metric.digits),
            unit=metric.unit,
        )
        first = " or ".join(read_methods()[method].name for method in WINNERS[name][column])
        topic.add(
            f"{name}_{column}_best",
            partial(lead, **chosen),
            where=where,
            sentence=f"{first} has the highest {metric.title} at x2 and LTE-SwinIR at x3 to x8 on "
            f"{title} (bold; least margin over the other methods)",
            rule=Ordering(),
            published="> 0",
            unit=metric.unit,
        )


@topic.claim(
    where="Table 6",
    sentence="PSNR-Y of base, noLE and nf96+noLE on Set14 x4 and on Urban100 x4",
    rule=Equals(),
    published=Tabled(3),
    unit="dB",
)
def table6_psnr_y(run: Measured) -> Estimate:
    return run.asr(("set14", "urban100"), (BASE, NOLE, NF96_NOLE), "4", "psnr_y")


@topic.claim(
    where="A.7",
    sentence="Trained bandwidth of GB-LSR-ASR, least and greatest of the seeds",
    rule=Equals(0.01, "the paper says about 0.88 for all seeds"),
    published="0.88 / 0.88",
)
def asr_bandwidth(run: Measured) -> Estimate:
    return span(run.bandwidth(BASE))
