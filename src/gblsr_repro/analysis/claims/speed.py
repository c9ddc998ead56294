"""Claims about the speed of super-resolution at x4, by the paper's clock."""

from __future__ import annotations

from functools import partial

from ...config import read_methods
from ...evaluation import OURS
from ..derived import geometric_mean_speed, speeds
from ..estimates import Estimate, concatenate, maximum, relative_deviations
from ..measured import Measured
from ..provenance import Scope
from ..subjects import BASE, LIIF_RDN, LTE_SWINIR, NF96_NOLE, NOLE, RIVALS, TIMED
from .published import Tabled, look_up_printed
from .registry import Topic
from .rules import RATIO, TIME, Bound, Equals, Spread

topic = Topic("Super-resolution: size and speed", Scope.ASR_LATENCY, RATIO)
SHOWN = tuple(name for name in TIMED if name != "b100")  # Table 6 has no column of B100


def repeats(run: Measured, method: str) -> Estimate:
    """Return the spread of a method's times over seeds, in percent, on each of the three sets."""
    return relative_deviations(run.asr_time(TIMED, method))


# --- the base method ------------------------------------------------------------------------------

REFERENCES = {"liif": LIIF_RDN, "swinir": LTE_SWINIR}  # by their names in ids
FASTER = {  # the geometric mean and the three ratios that A.7 prints, and how others print it
    "liif": ("1.442", "1.385 / 1.461 / 1.483", "Printed as 1.44 everywhere but in A.7."),
    "swinir": (
        "3.253",
        "3.267 / 3.096 / 3.401",
        "Printed as 3.25 everywhere but in A.7; the three printed ratios give 3.252.",
    ),
}

for short, (middle, three, note) in FASTER.items():
    reference = REFERENCES[short]
    title = read_methods()[reference].name
    topic.add(
        f"speed_{short}",
        "Abstract, Contribution 2, §5.5, §7, A.7, Table 6",
        f"GB-LSR-ASR is faster than {title} at x4 (geometric mean over Set14, B100, Urban100)",
        partial(geometric_mean_speed, method=BASE, reference=reference),
        published=middle,
        unit="×",
        note=note,
    )
    topic.add(
        f"speed_{short}_cells",
        "A.7",
        f"The speed ratios to {title} on Set14, B100, Urban100",
        partial(speeds, method=BASE, reference=reference),
        published=three,
        unit="×",
    )


# --- Table 6 --------------------------------------------------------------------------------------


def printed_speed(method: str, short: str) -> str:
    """Return the speed of a method in units of a reference as Table 6 prints it."""
    return look_up_printed(
        "asr_latency_main", method, f"vs {read_methods()[REFERENCES[short]].name}"
    )


topic.add(
    "speed_one_run",
    "A.7",
    "GB-LSR-ASR's speed over LIIF-RDN and LTE-SwinIR from the times of one run alone "
    "(geometric means)",
    lambda run: concatenate(
        *(geometric_mean_speed(run, BASE, reference) for reference in REFERENCES.values())
    ),
    published=" / ".join(printed_speed(BASE, short) for short in REFERENCES),
    unit="×",
    note="Here every method is timed in one run.",
)


for method in (*RIVALS, BASE, NOLE, NF96_NOLE):
    name = read_methods()[method].name
    topic.add(
        f"ms_{method}",
        "Table 6",
        f"Time per image of {name} at x4 on Set14 and Urban100",
        partial(Measured.asr_time, datasets=SHOWN, method=method),
        rule=TIME,
        published=Tabled(2),
        unit="ms",
    )
    for short, reference in REFERENCES.items():
        if method not in (BASE, reference):  # the base's speeds are above, with a digit more
            topic.add(
                f"speed_{short}_{method}",
                "Table 6",
                f"Speed of {name} in units of {read_methods()[reference].name}'s "
                "(geometric mean of three sets)",
                partial(geometric_mean_speed, method=method, reference=reference),
                published=printed_speed(method, short),
                unit="×",
            )


# --- repeats --------------------------------------------------------------------------------------

REPEATS = {
    BASE: "<= 0.14 / 0.12 / 0.09",
    NOLE: "<= 0.04 / 0.35 / 0.05",
    NF96_NOLE: "<= 0.17 / 0.09 / 0.45",
}

for method, published in REPEATS.items():
    topic.add(
        f"repeat_{method}",
        "A.7",
        "Standard deviation over seeds of the time per image of "
        f"{read_methods()[method].name} on Set14, B100, Urban100",
        partial(repeats, method=method),
        rule=Spread(),
        published=published,
        unit="%",
    )

topic.add(
    "retiming",
    "A.7, Table 6",
    "The base row repeats between two timing runs within 0.5 ms",
    None,
    rule=Bound(),
    published="<= 0.5",
    unit="ms",
    note="the workflow times every method once",
)


def production_ratios(run: Measured) -> Estimate:
    base = (BASE,) * len(RIVALS)
    ours = run.asr_time(TIMED, RIVALS, clock=OURS) / run.asr_time(TIMED, base, clock=OURS)
    theirs = run.asr_time(TIMED, RIVALS) / run.asr_time(TIMED, base)
    return maximum(concatenate(ours / theirs, theirs / ours))


topic.add(
    "production_ratios",
    "A.7",
    "A faster call of all four methods leaves GB-LSR-ASR's speed ratios to the three "
    "baselines about as they are (furthest of nine cells, as the factor between this package's own "
    "path and the paper's clock)",
    production_ratios,
    rule=Equals(0.1, "the paper says approximately preserved, without a number"),
    published="1.0",
    unit="×",
    note="The paper expects it of batches, mixed precision and compiled graphs; tested here is the "
    "fast path under inference mode.",
)
