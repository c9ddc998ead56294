"""Measure what the paper claims of super-resolution: quality, speed at x4, and the variants."""

from __future__ import annotations

from itertools import product

from ...evaluation import FAST
from ..derived import (
    PAPER_TIMING,
    PEAK,
    memory_saved,
    psnr_gaps,
    share_of_training,
    speeds,
)
from ..estimates import (
    Estimate,
    concatenate,
    geometric_mean,
    highest_mean,
    maximum,
    mean,
    minimum,
    relative_deviations,
    span,
)
from ..measured import Measured, Measures, MeasuresByRow, OneOrMore
from ..subjects import (
    ASR_IMAGES,
    ASR_SETS,
    BASE,
    LIIF_RDN,
    LTE_RDN,
    LTE_SWINIR,
    NF48_NOLE,
    NF96_NOLE,
    NOLE,
    RIVALS,
    SCALES,
    TIMED,
    TRAINED_SCALES,
)

# --- quality --------------------------------------------------------------------------------------

ANCHORS = {  # the PSNR-Y that the authors of a method print for a cell
    ("set5", LIIF_RDN, "2"): 38.17,
    ("set14", LIIF_RDN, "4"): 28.80,
    ("b100", LIIF_RDN, "4"): 27.74,
    ("set14", LTE_SWINIR, "4"): 29.06,
}


def deficit(
    run: Measured, sets: OneOrMore, scales: OneOrMore, rivals: OneOrMore = RIVALS
) -> Estimate:
    """Return the PSNR-Y that the base method lacks to the best of others, cell by cell."""
    best = highest_mean(run.asr(sets, rivals, scales, "psnr_y"))
    return best - run.asr(sets, BASE, scales, "psnr_y")


def deviate_from_anchor(run: Measured, column: str, method: str, scale: str) -> Estimate:
    """Return by how much a cell is above what the authors of its method print."""
    return run.asr(column, method, scale, "psnr_y") - ANCHORS[column, method, scale]


SUPERRES_QUALITY: Measures = {
    "deficit_bound": lambda run: deficit(run, ASR_SETS, TRAINED_SCALES),
    "deficit_worst": lambda run: maximum(deficit(run, ASR_SETS, TRAINED_SCALES)),
    "deficit_urban100_x4": lambda run: deficit(run, "urban100", "4"),
    "deficit_swinir": lambda run: maximum(deficit(run, ASR_SETS, SCALES, LTE_SWINIR)),
    "anchor_liif_rdn_set5_x2": lambda run: deviate_from_anchor(run, "set5", LIIF_RDN, "2"),
    "anchor_liif_rdn_set14_x4": lambda run: deviate_from_anchor(run, "set14", LIIF_RDN, "4"),
    "anchor_liif_rdn_b100_x4": lambda run: deviate_from_anchor(run, "b100", LIIF_RDN, "4"),
    "anchor_lte_swinir_set14_x4": lambda run: deviate_from_anchor(run, "set14", LTE_SWINIR, "4"),
    "anchors_close": lambda run: abs(
        concatenate(*(deviate_from_anchor(run, *cell) for cell in ANCHORS))
    ),
    "asr_bandwidth": lambda run: span(run.bandwidth(BASE)),
}


# --- speed ----------------------------------------------------------------------------------------


SLOWEST = (LTE_SWINIR, LTE_RDN)


def compare_production_ratios(run: Measured) -> Estimate:
    """Return the furthest factor between speed ratios by this package's clock and the paper's."""
    here, paper = (
        concatenate(*(speeds(run, BASE, rival, timing) for rival in RIVALS))
        for timing in (PAPER_TIMING._replace(clock=FAST), PAPER_TIMING)
    )
    return maximum(concatenate(here / paper, paper / here))


def measure_spread(run: Measured, method: str) -> Estimate:
    """Return the spread of a method's times over seeds, in percent, on each of the three sets."""
    return relative_deviations(run.asr_time(TIMED, method))


SPEED: Measures = {
    "inference_asr": lambda run: share_of_training(
        run, SLOWEST, [ASR_IMAGES[column] * run.asr_time(column, SLOWEST) for column in TIMED]
    ),
    "production_ratios": compare_production_ratios,
    "repeat_gblsr_asr": lambda run: measure_spread(run, BASE),
    "repeat_gblsr_asr_nole": lambda run: measure_spread(run, NOLE),
    "repeat_gblsr_asr_nf96_nole": lambda run: measure_spread(run, NF96_NOLE),
    "speed_liif_cells": lambda run: speeds(run, BASE, LIIF_RDN),
    "speed_swinir_cells": lambda run: speeds(run, BASE, LTE_SWINIR),
}


# --- the variants ---------------------------------------------------------------------------------

GRID = [*product(ASR_SETS, SCALES)]
TRAINED = [*product(ASR_SETS, TRAINED_SCALES)]
UNTRAINED = [cell for cell in GRID if cell not in TRAINED]
FOUR = (BASE, NOLE, NF96_NOLE, NF48_NOLE)


def compare_worst_cell(run: Measured) -> Estimate:
    """Return noLE's gap to base on Set5 x2 minus that on every other cell."""
    rest = [cell for cell in GRID if cell != ("set5", "2")]
    return psnr_gaps(run, NOLE, BASE, [("set5", "2")]) - psnr_gaps(run, NOLE, BASE, rest)


def compare_demands(run: Measured) -> Estimate:
    """Return by how much more memory Urban100 takes than each other set, in base's peak on it."""
    urban100 = run.asr_time("urban100", FOUR, PEAK)
    margins = [urban100 - run.asr_time(name, FOUR, PEAK) for name in TIMED if name != "urban100"]
    return concatenate(*margins) / run.asr_time("urban100", BASE, PEAK)


VARIANTS: Measures = {
    "shift_up_gblsr_asr_nf96_nole": lambda run: concatenate(
        *(mean(psnr_gaps(run, NF96_NOLE, BASE, cells)) for cells in (TRAINED, UNTRAINED))
    ),
    "delta_worst_is_set5_x2": compare_worst_cell,
    "nole_negligible": lambda run: abs(mean(psnr_gaps(run, NOLE, BASE, TRAINED))),
    "nf48_cost_urban100_x4": lambda run: psnr_gaps(run, NF48_NOLE, BASE, [("urban100", "4")]),
    "nf48_slower_than_nole": lambda run: (
        mean(speeds(run, NF48_NOLE, BASE)) - mean(speeds(run, NOLE, BASE))
    ),
    "urban100_most_demanding": compare_demands,
    "cells_base_gblsr_asr_nole": lambda run: speeds(run, NOLE, BASE),
    "cells_liif_gblsr_asr_nole": lambda run: speeds(run, NOLE, LIIF_RDN),
    "cells_swinir_gblsr_asr_nole": lambda run: speeds(run, NOLE, LTE_SWINIR),
    "cells_base_gblsr_asr_nf96_nole": lambda run: speeds(run, NF96_NOLE, BASE),
    "cells_liif_gblsr_asr_nf96_nole": lambda run: speeds(run, NF96_NOLE, LIIF_RDN),
    "cells_swinir_gblsr_asr_nf96_nole": lambda run: speeds(run, NF96_NOLE, LTE_SWINIR),
}

SUPERRES_MEASURES = SUPERRES_QUALITY | SPEED | VARIANTS

BASE_COMPARED: MeasuresByRow = {
    "trained": lambda method, run: mean(psnr_gaps(run, method, BASE, TRAINED)),
    "untrained": lambda method, run: mean(psnr_gaps(run, method, BASE, UNTRAINED)),
    "worst": lambda method, run: minimum(psnr_gaps(run, method, BASE, GRID)),
    "speed": lambda method, run: mean(speeds(run, method, BASE)),
    "saved": lambda method, run: memory_saved(run, method, BASE),
}
SUPERRES_CELLS: MeasuresByRow = {
    "asr_latency_main {} speed_liif_rdn": lambda method, run: geometric_mean(
        speeds(run, method, LIIF_RDN)
    ),
    "asr_latency_main {} speed_lte_swinir": lambda method, run: geometric_mean(
        speeds(run, method, LTE_SWINIR)
    ),
    **{f"asr_pareto_main {{}} {name}": compute for name, compute in BASE_COMPARED.items()},
    **{f"asr_pareto_appendix {{}} {name}": compute for name, compute in BASE_COMPARED.items()},
}
"""Tables 6, 7 and 12, by method."""
