"""Measure what the paper claims of super-resolution: quality, speed at x4, and the variants."""

from __future__ import annotations

from functools import partial
from itertools import product

from ...evaluation import FAST
from ..derived import (
    PAPERS,
    PEAK,
    geometric_mean_speed,
    lowest_psnr_gap,
    mean_psnr_gap,
    mean_speed,
    memory_saved,
    psnr_gaps,
    speeds,
)
from ..estimates import (
    Estimate,
    concatenate,
    deviations,
    highest_mean,
    maximum,
    relative_deviations,
    span,
)
from ..measured import Measured, Measures, Names
from ..subjects import (
    ASR_SETS,
    BASE,
    LIIF_RDN,
    LTE_SWINIR,
    METHODS,
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
    (LIIF_RDN, "set5", "2"): 38.17,
    (LIIF_RDN, "set14", "4"): 28.80,
    (LIIF_RDN, "b100", "4"): 27.74,
    (LTE_SWINIR, "set14", "4"): 29.06,
}
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


def deficit(run: Measured, sets: Names, scales: Names, rivals: Names = RIVALS) -> Estimate:
    """Return the PSNR-Y that the base method lacks to the best of others, cell by cell."""
    best = highest_mean(run.asr(sets, rivals, scales, "psnr_y"))
    return best - run.asr(sets, BASE, scales, "psnr_y")


def deviate_from_anchor(run: Measured, cell: tuple[str, str, str]) -> Estimate:
    """Return by how much a cell is above what the authors of its method print."""
    method, column, scale = cell
    return run.asr(column, method, scale, "psnr_y") - ANCHORS[cell]


def read_cells(run: Measured, column: str, metric: str) -> Estimate:
    """Read the cells of a data set: a method after the other, scale by scale."""
    return run.asr(column, METHODS, SCALES, metric)


def read_spreads(run: Measured, column: str, metric: str) -> Estimate:
    """Read the standard deviations over seeds of these cells."""
    return deviations(read_cells(run, column, metric))


def lead_at_every_scale(run: Measured, column: str, metric: str) -> Estimate:
    """Return by how much the bold method, or the best of two, leads the others at every scale."""
    margins = []
    for scale in SCALES:
        winners = WINNERS[metric][column] if scale == SCALES[0] else (LTE_SWINIR,)
        rivals = [method for method in METHODS if method not in winners]
        won, rest = (
            highest_mean(run.asr(column, names, scale, metric)) for names in (winners, rivals)
        )
        margins.append(won - rest)
    return concatenate(*margins)


QUALITY: Measures = {
    "deficit_bound": lambda run: deficit(run, ASR_SETS, TRAINED_SCALES),
    "deficit_worst": lambda run: maximum(deficit(run, ASR_SETS, TRAINED_SCALES)),
    "deficit_urban100_x4": lambda run: deficit(run, "urban100", "4"),
    "deficit_swinir": lambda run: maximum(deficit(run, ASR_SETS, SCALES, LTE_SWINIR)),
    "anchor_set5_x2": lambda run: run.asr("set5", LIIF_RDN, "2", "psnr_y"),
    **{
        f"anchor_{method}_{column}_x{scale}": partial(
            deviate_from_anchor, cell=(method, column, scale)
        )
        for method, column, scale in ANCHORS
    },
    "anchors_close": lambda run: abs(
        concatenate(*(deviate_from_anchor(run, cell) for cell in ANCHORS))
    ),
    "table6_psnr_y": lambda run: run.asr(
        ("set14", "urban100"), (BASE, NOLE, NF96_NOLE), "4", "psnr_y"
    ),
    "asr_bandwidth": lambda run: span(run.bandwidth(BASE)),
}
for column, metric in product(ASR_SETS, WINNERS):
    QUALITY |= {
        f"{metric}_{column}": partial(read_cells, column=column, metric=metric),
        f"{metric}_{column}_std": partial(read_spreads, column=column, metric=metric),
        f"{metric}_{column}_best": partial(lead_at_every_scale, column=column, metric=metric),
    }


# --- speed ----------------------------------------------------------------------------------------

REFERENCES = {"liif": LIIF_RDN, "swinir": LTE_SWINIR}  # by their names in ids
SHOWN = tuple(name for name in TIMED if name != "b100")  # Table 6 has no column of B100


def compare_production_ratios(run: Measured) -> Estimate:
    """Return the furthest factor between speed ratios by this package's clock and the paper's."""
    here, paper = (
        concatenate(*(speeds(run, BASE, rival, timing) for rival in RIVALS))
        for timing in (PAPERS._replace(clock=FAST), PAPERS)
    )
    return maximum(concatenate(here / paper, paper / here))


def repeat(run: Measured, method: str) -> Estimate:
    """Return the spread of a method's times over seeds, in percent, on each of the three sets."""
    return relative_deviations(run.asr_time(TIMED, method))


SPEED: Measures = {
    "speed_one_run": lambda run: concatenate(
        *(geometric_mean_speed(run, BASE, reference) for reference in REFERENCES.values())
    ),
    "production_ratios": compare_production_ratios,
    **{f"repeat_{method}": partial(repeat, method=method) for method in (BASE, NOLE, NF96_NOLE)},
}
for short, reference in REFERENCES.items():
    SPEED[f"speed_{short}"] = partial(geometric_mean_speed, method=BASE, reference=reference)
    SPEED[f"speed_{short}_cells"] = partial(speeds, method=BASE, reference=reference)
for method in (*RIVALS, BASE, NOLE, NF96_NOLE):
    SPEED[f"ms_{method}"] = partial(Measured.asr_time, datasets=SHOWN, method=method)
    for short, reference in REFERENCES.items():
        if method not in (BASE, reference):
            SPEED[f"speed_{short}_{method}"] = partial(
                geometric_mean_speed, method=method, reference=reference
            )


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
        *(mean_psnr_gap(run, NF96_NOLE, BASE, cells) for cells in (TRAINED, UNTRAINED))
    ),
    "delta_worst_is_set5_x2": compare_worst_cell,
    "nole_negligible": lambda run: abs(mean_psnr_gap(run, NOLE, BASE, TRAINED)),
    "nf48_cost_urban100_x4": lambda run: psnr_gaps(run, NF48_NOLE, BASE, [("urban100", "4")]),
    "nf48_slower_than_nole": lambda run: (
        mean_speed(run, NF48_NOLE, BASE) - mean_speed(run, NOLE, BASE)
    ),
    "urban100_most_demanding": compare_demands,
}
for method in FOUR:
    VARIANTS[f"peak_{method}"] = partial(
        Measured.asr_time, datasets="urban100", method=method, metric=PEAK
    )
for method in (NOLE, NF96_NOLE, NF48_NOLE):
    for name, compare, part in (
        ("delta_id", mean_psnr_gap, TRAINED),
        ("delta_ood", mean_psnr_gap, UNTRAINED),
        ("delta_worst", lowest_psnr_gap, GRID),
    ):
        VARIANTS[f"{name}_{method}"] = partial(compare, method=method, reference=BASE, cells=part)
    VARIANTS[f"speedup_{method}"] = partial(mean_speed, method=method, reference=BASE)
    VARIANTS[f"memory_{method}"] = partial(memory_saved, method=method, reference=BASE)
for method in (NOLE, NF96_NOLE):
    for short, reference in {"base": BASE, **REFERENCES}.items():
        VARIANTS[f"cells_{short}_{method}"] = partial(speeds, method=method, reference=reference)

MEASURES = QUALITY | SPEED | VARIANTS
