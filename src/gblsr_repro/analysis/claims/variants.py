"""Claims about the variants of the super-resolution method: quality, speed and memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product

from ...config import read_methods
from ..derived import (
    PEAK,
    lowest_psnr_gap,
    mean_psnr_gap,
    mean_speed,
    memory_saved,
    psnr_gaps,
    speeds,
)
from ..estimates import Estimate, concatenate
from ..measured import Measured
from ..provenance import Scope
from ..subjects import (
    ASR_SETS,
    BASE,
    LIIF_RDN,
    LTE_SWINIR,
    NF48_NOLE,
    NF96_NOLE,
    NOLE,
    SCALES,
    TIMED,
    TRAINED_SCALES,
)
from .published import Tabled, look_up_printed
from .registry import Topic
from .rules import MEMORY, RATIO, AgreementRule, Bound, Equals, Ordering

quality = Topic("Super-resolution: variants", Scope.ASR_QUALITY)
cost = Topic("Super-resolution: variants", Scope.ASR_LATENCY, RATIO)
CELLS = [*product(ASR_SETS, SCALES)]
TRAINED = [*product(ASR_SETS, TRAINED_SCALES)]
UNTRAINED = [cell for cell in CELLS if cell not in TRAINED]
FOUR = (BASE, NOLE, NF96_NOLE, NF48_NOLE)


def peak(run: Measured, variant: str) -> Estimate:
    """Return the peak memory on the most demanding cell."""
    return run.asr_time("urban100", variant, PEAK)


# --- Tables 7 and 12 ------------------------------------------------------------------------------


TABLES = {  # the table that a variant stands in, its name in printed.csv
    NOLE: ("Table 7", "asr_pareto_main"),
    NF96_NOLE: ("Table 7", "asr_pareto_main"),
    NF48_NOLE: ("Table 12", "asr_pareto_appendix"),
}
ELSEWHERE = {  # where else its numbers are printed
    ("delta_id", NOLE): "§5.5, §7, ",
    ("delta_id", NF96_NOLE): "§5.5, §7, ",
    ("delta_ood", NF96_NOLE): "§5.5, ",
    ("delta_worst", NOLE): "§5.5, ",
    ("speedup", NOLE): "Abstract, Contribution 2, §5.5, §7, A.7, ",
    ("speedup", NF96_NOLE): "Abstract, Contribution 2, §5.5, §7, A.7, ",
    ("memory", NOLE): "Abstract, Contribution 2, §5.5, §7, ",
    ("memory", NF96_NOLE): "Abstract, Contribution 2, §5.5, §7, ",
}
NOTES = {
    ("speedup", NOLE): "Printed as 1.77 outside A.7 and Table 7.",
    ("speedup", NF96_NOLE): "Printed as 1.58 outside A.7 and Table 7.",
    ("memory", NOLE): "Printed as 35 % outside Table 7.",
    ("memory", NF96_NOLE): "Printed as 31 % outside Table 7.",
}
Column = tuple[Topic, str, str, AgreementRule, str, Callable[..., Estimate]]
COLUMNS: dict[str, Column] = {  # by the beginning of ids: column of the table, sentence, rule, unit
    "delta_id": (
        quality, "ID ↑", "PSNR-Y of {} minus base, mean over the 15 in-distribution cells",
        Equals(), "dB", partial(mean_psnr_gap, reference=BASE, cells=TRAINED),
    ),
    "delta_ood": (
        quality, "OOD ↑", "PSNR-Y of {} minus base, mean over the 10 cells at x6 and x8",
        Equals(), "dB", partial(mean_psnr_gap, reference=BASE, cells=UNTRAINED),
    ),
    "delta_worst": (
        quality, "Δ (dB)", "PSNR-Y of {} minus base, lowest of the 25 cells",
        Equals(), "dB", partial(lowest_psnr_gap, reference=BASE, cells=CELLS),
    ),
    "speedup": (
        cost, "vs base ↑", "Speed of {} in units of base at x4 (arithmetic mean of three sets)",
        RATIO, "×", partial(mean_speed, reference=BASE),
    ),
    "memory": (
        cost, "reduction ↑",
        "Peak memory that {} saves over base at x4 (arithmetic mean of three sets)",
        MEMORY, "%", partial(memory_saved, reference=BASE),
    ),
}  # fmt: skip

for variant, (table, key) in TABLES.items():
    short = read_methods()[variant].name.rpartition("ASR-")[2]
    for start, (topic, column, sentence, rule, unit, measure) in COLUMNS.items():
        text = look_up_printed(key, variant, column)
        topic.add(
            f"{start}_{variant}",
            ELSEWHERE.get((start, variant), "") + table,
            sentence.format(short),
            partial(measure, method=variant),
            rule=rule,
            published=text.lstrip("+") if start == "memory" else text,
            unit=unit,
            note=NOTES.get((start, variant), ""),
        )
    cost.add(
        f"peak_{variant}",
        table,
        f"Peak memory of {short} on Urban100 x4",
        partial(peak, variant=variant),
        rule=MEMORY,
        published=Tabled(1),
        unit="MiB",
    )

cost.add(
    "peak_gblsr_asr",
    "Table 7",
    "Peak memory of base on Urban100 x4",
    lambda run: peak(run, BASE),
    rule=MEMORY,
    published=Tabled(1),
    unit="MiB",
)


# --- orders ---------------------------------------------------------------------------------------

quality.add(
    "shift_up_gblsr_asr_nf96_nole",
    "§5.5, §7, Table 7",
    "nf96+noLE shifts PSNR-Y upwards: mean difference to base in distribution and at x6 "
    "and x8 (lower of the two)",
    lambda run: concatenate(
        *(mean_psnr_gap(run, NF96_NOLE, BASE, cells) for cells in (TRAINED, UNTRAINED))
    ),
    rule=Ordering(),
    unit="dB",
)


def delta_worst_is_set5_x2(run: Measured) -> Estimate:
    others = [cell for cell in CELLS if cell != ("set5", "2")]
    set5 = psnr_gaps(run, NOLE, BASE, [("set5", "2")])
    return set5 - psnr_gaps(run, NOLE, BASE, others)


quality.add(
    "delta_worst_is_set5_x2",
    "§5.5",
    "noLE loses most PSNR-Y on Set5 x2: its difference to base there minus that of the "
    "other 24 cells (highest)",
    delta_worst_is_set5_x2,
    rule=Ordering(),
    published="< 0",
    unit="dB",
)

quality.add(
    "nole_negligible",
    "Abstract, §5.5, Table 7",
    "noLE changes PSNR-Y negligibly: its mean difference to base in distribution, without "
    "sign, stays below the lowest cell of Table 7",
    lambda run: abs(mean_psnr_gap(run, NOLE, BASE, TRAINED)),
    rule=Bound(),
    published="<= 0.031",
    unit="dB",
    note="The paper gives no limit; its lowest cell, -0.031 dB, is part of the same sentence.",
)

quality.add(
    "nf48_cost_urban100_x4",
    "Table 12",
    "nf48+noLE loses PSNR-Y to base on Urban100 x4, measurably: beyond seed noise (its "
    "difference to base)",
    lambda run: psnr_gaps(run, NF48_NOLE, BASE, [("urban100", "4")]),
    rule=Ordering(),
    published="< 0",
    unit="dB",
)

cost.add(
    "nf48_slower_than_nole",
    "Tables 7, 12",
    "nf48+noLE, with the narrowest encoder, is no faster than noLE: its mean speed in "
    "units of base's minus that of noLE",
    lambda run: mean_speed(run, NF48_NOLE, BASE) - mean_speed(run, NOLE, BASE),
    rule=Ordering(),
    published="< 0",
    unit="×",
)


def urban100_most_demanding(run: Measured) -> Estimate:
    urban100 = run.asr_time("urban100", FOUR, PEAK)
    margins = [urban100 - run.asr_time(name, FOUR, PEAK) for name in TIMED if name != "urban100"]
    return concatenate(*margins) / run.asr_time("urban100", BASE, PEAK)


cost.add(
    "urban100_most_demanding",
    "Table 7",
    "Urban100 takes the most memory of the three sets for base and every variant (least "
    "margin, in base's peak on Urban100)",
    urban100_most_demanding,
    rule=Ordering(),
)


# --- speeds on each set ---------------------------------------------------------------------------

SPEEDS = {  # by variant and reference: its speed on Set14, B100 and Urban100
    (NOLE, BASE, "base"): "1.773 / 1.465 / 2.064",
    (NOLE, LIIF_RDN, "liif"): "2.455 / 2.140 / 3.060",
    (NOLE, LTE_SWINIR, "swinir"): "5.792 / 4.537 / 7.019",
    (NF96_NOLE, BASE, "base"): "1.510 / 1.309 / 1.917",
    (NF96_NOLE, LIIF_RDN, "liif"): "2.092 / 1.912 / 2.842",
    (NF96_NOLE, LTE_SWINIR, "swinir"): "4.934 / 4.053 / 6.519",
}

for (variant, reference, name), published in SPEEDS.items():
    short = read_methods()[variant].name.rpartition("ASR-")[2]
    title = "base" if reference == BASE else read_methods()[reference].name
    cost.add(
        f"cells_{name}_{variant}",
        "A.7",
        f"Speed of {short} in units of {title} on Set14, B100, Urban100",
        partial(speeds, method=variant, reference=reference),
        published=published,
        unit="×",
    )
