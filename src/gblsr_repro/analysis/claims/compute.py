"""Claims about training time: Tables 16 and 17, and how inference compares with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ...config import load_protocol, read_datasets, read_published_times
from ...progress import format_duration
from ..estimates import Estimate, concatenate, count, maximum, minimum, total
from ..measured import Measured, Names
from ..provenance import Scope
from ..subjects import ARMS, LTE_RDN, LTE_SWINIR, SETS, TIMED
from ..training_time import compute_time
from .registry import Topic
from .rules import COUNT, TRAINING_TIME, Criterion

native = Topic("Compute", Scope.COST, TRAINING_TIME)
asr = Topic("Compute", Scope.ASR_COST, TRAINING_TIME)
HOUR = 3600

GROUPS = {  # the rows of config/paper/compute.csv by their first arm or method: id, names
    "liif": ("time_baselines", "LIIF, LTE and WIRE", "the nine baseline runs"),
    "gblsr_fixed": (
        "time_main", "the GB-LSR arms and the Global Fourier-MLP", "these twelve runs"),
    "gblsr_full_linear": ("time_linear", "the two linear arms", "these six runs"),
    "gblsr_bandwidth": (
        "time_log", "the three ablation arms besides GB-LSR-Scalar", "these nine runs"),
    "liif_rdn": ("hours_rdn", "LIIF-RDN, LTE-RDN and GB-LSR-ASR", "these nine runs"),
    "lte_swinir": ("hours_swinir", "LTE-SwinIR", "its three runs"),
    "gblsr_asr_nole": ("hours_variants", "the five GB-LSR-ASR variants", "their fifteen runs"),
}  # fmt: skip
# The paper trained Fixed and Full again for the ablation; here both tables use the same runs.
TRAINED_AGAIN = {"gblsr_bandwidth": ("gblsr_fixed", "gblsr_bandwidth", "gblsr_full")}


def runs(run: Measured, groups: Sequence[Names]) -> Estimate:
    """Count the training runs of groups of arms or methods."""
    return concatenate(*(count(run.seconds(subjects)) for subjects in groups))


def longest_of_each(run: Measured, subjects: Names, unit: int) -> Estimate:
    """Return the longest training run of each arm or method, in a unit of seconds."""
    return concatenate(*(compute_time(run, subject, maximum, unit) for subject in subjects))


def members(row: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arms or methods whose runs stand for a row of the paper's table."""
    subjects = tuple(row["subjects"].split())
    return TRAINED_AGAIN.get(subjects[0], subjects)


def claim_times(row: Mapping[str, str]) -> None:
    """Claim the range and the total of the training times of a row of the paper's table."""
    name, title, of_all = GROUPS[row["subjects"].split()[0]]
    in_hours = row["benchmark"] == "asr"
    topic, where = (asr, "Table 17") if in_hours else (native, "Table 16")
    shortest, longest, together = (
        int(row[f"{column}_seconds"]) for column in ("shortest", "longest", "total")
    )
    in_range = f"{format_duration(shortest)} to {format_duration(longest)}"
    sum_up = partial(compute_time, summarize=total)
    for ending, sentence, measure, seconds in (
        ("", f"Training runs of {title} take {in_range} (longest)", longest_of_each, longest),
        ("_total", f"Training time of {of_all} together", sum_up, together),
    ):
        topic.add(
            name + ending,
            where,
            sentence,
            partial(measure, subjects=members(row), unit=HOUR if in_hours else 1),
            published=f"<= {seconds / HOUR:.2f}" if in_hours else f"<= {seconds}",
            unit="h" if in_hours else "s",
            note=f"{format_duration(seconds)} in the paper.",
        )


TABLE16, TABLE17 = map(read_published_times, ("native", "asr"))

for row in (*TABLE16, *TABLE17):
    claim_times(row)

native.add(
    "runs_native",
    "Table 16",
    "Training runs of the baselines, the main arms, the linear arms and the ablation "
    "besides GB-LSR-Scalar",
    partial(runs, groups=[*map(members, TABLE16)]),
    rule=COUNT,
    published=" / ".join(row["runs"] for row in TABLE16),
    unit="runs",
    note="The paper trained GB-LSR-Fixed and GB-LSR-Full twice, for the main tables and for the "
    "ablation; here both use the same runs.",
)

asr.add(
    "runs_asr",
    "Table 17",
    "Training runs of the RDN methods, of LTE-SwinIR and of the variants",
    partial(runs, groups=[*map(members, TABLE17)]),
    rule=COUNT,
    published=" / ".join(row["runs"] for row in TABLE17),
    unit="runs",
)


# --- what the workflow does not train -------------------------------------------------------------

NO_TABLE = "no table needs these runs; the workflow does not train them"
EXPLORED = (
    "13 of the 40 runs are calibration and exploration that no table needs; the workflow does not "
    "train them"
)
UNTRAINED = {  # by id: topic, where, sentence, published, unit, why nothing is measured
    "time_reruns": (
        native, "Table 16", "Robustness reruns, 36 runs, take this long together", "<= 48.05",
        "min", NO_TABLE),
    "time_pilots": (
        native, "Table 16",
        "Earlier pilot variants and smoke runs, 21 runs, take this long together", "<= 10.12",
        "min", NO_TABLE),
    "time_sweep": (
        asr, "Table 17", "LIIF-RDN's calibration sweep, 8 runs, take this long together",
        "<= 14.43", "h", NO_TABLE),
    "time_scouts": (
        asr, "Table 17", "GB-LSR-Scalar-ASR's scouts, 5 runs, take this long together",
        "<= 181.80", "h", NO_TABLE),
    "runs_native_total": (
        native, "A.8, Table 16", "Native training runs in all", "93", "runs",
        "57 of the 93 runs are reruns and pilots that no table needs, and six repeat arms of the "
        "main tables; the workflow does not train them"),
    "native_total": (
        native, "A.8, Table 16", "All 93 native training runs take 2h02m", "<= 122", "min",
        "57 of the 93 runs are reruns and pilots that no table needs; the workflow does not train "
        "them"),
    "runs_asr_total": (
        asr, "A.8, Table 17", "Super-resolution training runs in all", "40", "runs", EXPLORED),
    "asr_total": (
        asr, "A.8, Table 17", "All 40 super-resolution training runs take 1,428h18m",
        "<= 1428.30", "h", EXPLORED),
    "project_total": (
        asr, "A.8", "The whole project took about 1,430 GPU-hours", "<= 1430", "h",
        "includes runs that no table needs; see the two totals above"),
}  # fmt: skip

for name, (topic, where, sentence, published, unit, why) in UNTRAINED.items():
    rule = COUNT if unit == "runs" else TRAINING_TIME
    topic.add(name, where, sentence, None, rule=rule, published=published, unit=unit, note=why)


# --- inference beside training --------------------------------------------------------------------


def images(column: str, half: str) -> int:
    """Return how many images the paper's evaluation set has."""
    section = load_protocol()["native"]["data"] if half == "native" else load_protocol()["asr"]
    return int(read_datasets()[section["evaluate"][column]].images)


def inference_native(run: Measured) -> Estimate:
    first, *others = (
        images(column, "native") * run.native(column, ARMS, "inference_ms") for column in SETS
    )
    rendering = maximum(sum(others, first))
    return rendering / 1000 / minimum(run.seconds(ARMS))


native.add(
    "inference_native",
    "A.8",
    "Inference is an order of magnitude shorter than training: rendering the 138 native "
    "images once over the shortest training run, highest of the seven arms",
    inference_native,
    rule=Criterion(why="an order of magnitude"),
    published="<= 0.1",
    note="Rendering alone; the time of computing metrics is not recorded.",
)


def inference_asr(run: Measured) -> Estimate:
    slowest = (LTE_SWINIR, LTE_RDN)
    first, *others = (images(column, "asr") * run.asr_time(column, slowest) for column in TIMED)
    rendering = maximum(sum(others, first))
    return rendering / (1000 * HOUR) / minimum(run.seconds(slowest) / HOUR)


asr.add(
    "inference_asr",
    "A.8",
    "The same for super-resolution: the 214 timed images once over the shortest training "
    "run, slower of LTE-SwinIR and LTE-RDN",
    inference_asr,
    rule=Criterion(why="an order of magnitude"),
    published="<= 0.1",
    note="Rendering at x4 alone; the time of computing metrics is not recorded.",
)
