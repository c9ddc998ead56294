"""Numbers in the prose of README and docs/results.md are those of docs/record, or have a source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import ceil
from statistics import mean, stdev

import made
import pages
import pytest
from scipy.stats import ttest_ind

SETS = ("kodak", "set14", "urban100")
ASR_SETS = ("set5", "set14", "b100", "urban100")
BASELINES = ("liif", "lte", "wire")
LINEAR = ("gblsr_full_linear", "gblsr_bandwidth_linear")
DIAGNOSED = (*LINEAR, "gblsr_full", "gblsr_bandwidth")
WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
ORDER = ("LTE", "Scalar", "Fixed", "Full", "LIIF", "Fourier-MLP", "WIRE")
OUTSIDE = {  # numbers that no file of the record has, and where they come from
    "0.4.0": "a version",
    "0.12 to 0.17 dB below GB-LSR at x2 and within 0.11 dB": "git, e3372b35",
    "level within 0.06 dB but at x3, where it was 0.07 to 0.50 dB": "git, e3372b35",
    "costs up to 0.01 dB": "git, 0146837",
    "published SRCNN, with a network for each scale, 36.66 / 32.75 / 30.48 dB": "Dong et al., 2016",
    "level: 0.006 dB below on average at x2 to x4, and 0.031 dB at worst": "the paper's Table 7",
    "within 0.02 dB for Scalar's seed 1": "git, 1ff62c3b",
    "0.30 / 0.34 / 0.30 dB for Scalar's seed 2": "git, 1ff62c3b",
    "0.33 / 0.15 / 0.22 dB and 0.44 / 0.37 / 0.17 dB for Full's": "git, c1106103",
    "0.06 / 0.01 / 0.03 dB and 0.43 / 0.27 / 0.31 dB for Fixed's": "git, ce615b2e",
    "up to 0.16 dB lower": "the picture, and git, 955f00fd",
    "0.3.0": "a version",
    "Python 3.11": "a version",
    "5.5 GB": "the size of the environment",
    "--scale 3.7": "a command",
}
Values = dict[tuple[str, ...], list[float]]


def read_rows(name: str) -> list[dict[str, str]]:
    return made.rows(pages.ROOT / name)


def read_values() -> Values:
    """Every seed's number, by setup, data set, arm or method, scale, and metric or statistic."""
    values: Values = {}
    for row in read_rows("docs/record/values.csv"):
        if row["clock"] in ("", "paper"):
            subject, measure = row["arm"] or row["method"], row["metric"] or row["statistic"]
            key = (row["setup"], row["aggregate"], row["dataset"], subject, row["scale"], measure)
            values.setdefault(key, []).append(float(row["value"]))
    return values


VALUES = read_values()
PAPER = {
    (row["dataset"], row["arm"], row["metric"]): row for row in read_rows("config/paper/native.csv")
}
PAPER_ASR = {
    (row["dataset"], row["method"], row["scale"]): float(row["mean"])
    for row in read_rows("config/paper/asr_quality.csv")
    if row["metric"] == "psnr_y"
}
PAPER_STEPS = {
    (row["arm"], row["metric"]): float(row["mean"])
    for row in read_rows("config/paper/ablation.csv")
}
RUNS = read_rows("docs/record/runs.csv")


def seeds(arm: str, metric: str, setup: str = "main") -> list[list[float]]:
    return [VALUES[setup, "native", name, arm, "", metric] for name in SETS]


def here(arm: str, metric: str, setup: str = "main") -> list[float]:
    return [mean(numbers) for numbers in seeds(arm, metric, setup)]


def published(arm: str, metric: str, column: str = "mean") -> list[float]:
    return [float(PAPER[name, arm, metric][column]) for name in SETS]


def subtract(first: Sequence[float], second: Sequence[float]) -> list[float]:
    return [a - b for a, b in zip(first, second, strict=True)]


def differ(arm: str, metric: str) -> list[float]:
    return subtract(here(arm, metric), published(arm, metric))


def lead(
    scores: Callable[[str, str], list[float]], metric: str, own: list[float] | None = None
) -> list[float]:
    """How far Scalar is ahead of the best baseline, by set."""
    best = max if metric == "psnr" else min
    rivals = [best(column) for column in zip(*(scores(x, metric) for x in BASELINES), strict=True)]
    own = own or scores("gblsr_scalar", metric)
    return [abs(gap) for gap in subtract(own, rivals)]


def show(numbers: Iterable[float], digits: int = 2) -> str:
    return " / ".join(f"{abs(number):.{digits}f}" for number in numbers)


def span(numbers: Iterable[float], digits: int = 2) -> str:
    low, *_, high = sorted(abs(number) for number in numbers)
    return f"{low:.{digits}f} to {high:.{digits}f}"


def round_up(gaps: Iterable[float], digits: int = 2) -> str:
    """The least distance within which all of these lie of zero."""
    widest = max(map(abs, gaps))
    return f"{ceil(widest * 10**digits) / 10**digits:.{digits}f}"


def bound(arms: Iterable[str], metric: str, digits: int = 3) -> str:
    """The least distance within which all means of these arms lie of the paper's."""
    return round_up((gap for arm in arms for gap in differ(arm, metric)), digits)


def asr(method: str, scales: Iterable[int]) -> list[float]:
    keys = product(ASR_SETS, scales)
    return [
        mean(VALUES["asr_narrow", "asr_quality", name, method, str(scale), "psnr_y"])
        for name, scale in keys
    ]


def asr_gaps(method: str, *scales: int) -> list[float]:
    return subtract(asr(method, scales), asr("gblsr_asr", scales))


def paper_gaps(method: str, *scales: int) -> list[float]:
    keys = product(ASR_SETS, map(str, scales))
    return [PAPER_ASR[name, method, s] - PAPER_ASR[name, "gblsr_asr", s] for name, s in keys]


def asr_gap(method: str, *scales: int) -> str:
    return span(asr_gaps(method, *scales))


def paper_gap(method: str, *scales: int) -> str:
    return span(paper_gaps(method, *scales))


def count_told_apart(method: str) -> int:
    """In how many cells the seeds of a method and of the base method differ, by a pooled t-test."""
    own, base = (
        [
            VALUES["asr_narrow", "asr_quality", name, each, scale, "psnr_y"]
            for name, scale in product(ASR_SETS, "23468")
        ]
        for each in (method, "gblsr_asr")
    )
    return sum(ttest_ind(a, b).pvalue < 0.05 for a, b in zip(own, base, strict=True))


def enlarge_set5(setup: str, method: str) -> list[float]:
    return [VALUES[setup, "asr_quality", "set5", method, s, "psnr_y"][0] for s in "234"]


def time_on_kodak(arm: str) -> float:
    """Milliseconds by the paper's clock."""
    return VALUES["main", "native", "kodak", arm, "", "inference_ms"][0]


def diagnose(arm: str, statistic: str) -> float:
    return mean(VALUES["main", "locality", "", arm, "", statistic])


def misses(threshold: float, *statistics: str) -> tuple[str, str]:
    """The least and greatest factor by which an arm of the diagnostic misses a threshold."""
    values = [diagnose(arm, statistic) for arm in DIAGNOSED for statistic in statistics]
    factors = [max(value / threshold, threshold / value) for value in values]
    return WORDS[round(min(factors))], WORDS[round(max(factors))]


def ablate(arm: str, metric: str) -> float:
    control = VALUES["main", "ablation", "", "gblsr_scalar", "", metric]
    return mean(VALUES["main", "ablation", "", arm, "", metric]) - mean(control)


def count_seeds(setup: str, *arms: str) -> str:
    """The number of seeds that each of these arms has."""
    (count,) = {len(numbers) for arm in arms for numbers in seeds(arm, "psnr", setup)}
    return WORDS[count]


def show_lead(arm: str, setup: str) -> str:
    psnr, lpips = (lead(here, metric, here(arm, metric, setup)) for metric in ("psnr", "lpips"))
    return f"{show(psnr)} dB, and by {show(lpips, 3)} in LPIPS"


def describe_native() -> list[str]:
    family, few = ("gblsr_scalar", "gblsr_fixed", "gblsr_full"), "gblsr_8192_pixels"
    psnr, ssim, lpips = (  # by arm: the means on part of the pixels beside those on all
        {arm: subtract(here(arm, metric, few), here(arm, metric)) for arm in family}
        for metric in ("psnr", "ssim", "lpips")
    )
    assert max(gap for gaps in [*psnr.values(), *ssim.values()] for gap in gaps) < 0
    assert max(lpips["gblsr_scalar"] + lpips["gblsr_fixed"]) < 0 < min(lpips["gblsr_full"])
    native, narrow = (
        [row for row in RUNS if (row["setup"], row["benchmark"]) == key]
        for key in (("main", "native"), ("asr_narrow", "asr"))
    )
    changed = [
        [row["arm"] for row in runs if row["commit"].endswith("+")] for runs in (native, narrow)
    ]
    assert {*changed[0]} == {"gblsr_bandwidth", *LINEAR}
    full, full_there = (
        subtract(scores("gblsr_full", "psnr"), scores("gblsr_scalar", "psnr"))
        for scores in (here, published)
    )
    pairs = zip(SETS, seeds("gblsr_full", "psnr"), seeds("gblsr_scalar", "psnr"), strict=True)
    told_apart = [name.capitalize() for name, *pair in pairs if ttest_ind(*pair).pvalue < 0.05]
    spread = [stdev(numbers) for numbers in seeds("gblsr_full", "psnr")]
    plateau = [
        number - there
        for numbers, there in zip(seeds("wire", "psnr"), published("wire", "psnr"), strict=True)
        for number in numbers[:2]
    ]
    mlp = seeds("global_fourier_mlp", "psnr")
    first, *others = mlp[0]
    nearest = subtract([numbers[0] for numbers in mlp], published("global_fourier_mlp", "psnr"))
    return [
        f"{len(changed[0])} of the {len(native)} native runs and {len(changed[1])} of the "
        f"{len(narrow)} on the narrow RDN come from checkouts with changes",
        f"The {len(changed[0])} are of Bandwidth, Full-Linear and Bandwidth-Linear",
        f"It is {show(lead(here, 'psnr'))} dB above the best baseline on Kodak, Set14 and Urban100 "
        f"(paper: {show(lead(published, 'psnr'))}), and {show(lead(here, 'lpips'), 3)} below the "
        f"best baseline in LPIPS (paper: {show(lead(published, 'lpips'), 3)})",
        f"Trained on 8,192 pixels like the baselines, {count_seeds(few, *family)} seeds each, "
        f"Scalar leads by {show_lead('gblsr_scalar', few)}; Full by "
        f"{show_lead('gblsr_full', few)}; Fixed by {show_lead('gblsr_fixed', few)}",
        f"PSNR is within {round_up(psnr['gblsr_scalar'])} dB for Scalar, "
        f"{round_up(psnr['gblsr_fixed'])} dB for Fixed and {round_up(psnr['gblsr_full'])} dB for "
        "Full",
        f"SSIM is {span((gap for gaps in ssim.values() for gap in gaps), 3)} lower",
        f"LPIPS is {span(lpips['gblsr_scalar'] + lpips['gblsr_fixed'], 3)} lower for Scalar and "
        f"Fixed, and up to {max(lpips['gblsr_full']):.3f} higher for Full",
        f"**Scalar, Fixed and Full** are within {bound(family, 'psnr', 2)} dB, "
        f"{bound(family, 'ssim')} of SSIM and {bound(family, 'lpips')} of LPIPS",
        f"Full ends {show(full)} dB below Scalar, in the paper {show(full_there)} dB above. The "
        f"seeds tell the two apart on {' and '.join(told_apart)} (p < 0.05).",
        f"Full's seeds spread by {show(spread)} dB, in the paper by "
        f"{show(published('gblsr_full', 'psnr', 'std'))}",
        f"**LTE** is within {bound(['lte'], 'psnr', 2)} dB, {bound(['lte'], 'ssim')} of SSIM and "
        f"{bound(['lte'], 'lpips')} of LPIPS",
        "**LIIF** ends {} dB above the paper. Its LPIPS is {:.3f} below, {:.3f} above and {:.3f} "
        "below".format(show(differ("liif", "psnr")), *map(abs, differ("liif", "lpips"))),
        f"its SSIM {show(differ('liif', 'ssim'), 3)} below",
        f"edge-LPIPS on Urban100 ({differ('global_fourier_mlp', 'edge_lpips')[2]:.3f} above)",
        f"Fixed's LSE on Urban100 ({-differ('gblsr_fixed', 'lse')[2]:.2f} below)",
        f"**WIRE** ends {show(differ('wire', 'psnr'))} dB below",
        "seed 2 leaves it and ends "
        + show(subtract([x[2] for x in seeds("wire", "psnr")], published("wire", "psnr")))
        + f" dB above the paper, seeds 0 and 1 stay on it and end {span(plateau)} dB below",
        f"**Fourier-MLP** ends {show(differ('global_fourier_mlp', 'psnr'))} dB below in PSNR and "
        f"{span(differ('global_fourier_mlp', 'ssim'), 3)} below in SSIM. Its LPIPS is "
        f"{show(differ('global_fourier_mlp', 'lpips'), 3)} below",
        f"Seed 0 is within {max(map(abs, nearest)):.2f} dB of the paper's PSNR, seeds 1 and 2 end "
        f"{span([first - other for other in others])} dB below seed 0 on Kodak",
    ]


def describe_diagnostics() -> list[str]:
    bandwidth, full = (ablate(arm, "psnr") for arm in ("gblsr_bandwidth", "gblsr_full"))
    scalar, *others = (
        VALUES["main", "ablation", "", arm, "", "psnr"]
        for arm in ("gblsr_scalar", "gblsr_full", "gblsr_bandwidth")
    )
    p = [float(ttest_ind(other, scalar).pvalue) for other in others]
    steps = {
        metric: [PAPER_STEPS[arm, f"delta_{metric}"] for arm in ("gblsr_bandwidth", "gblsr_full")]
        for metric in ("psnr", "lpips")
    }
    published = [value + steps["psnr"][1] for value in scalar]
    of_means = ttest_ind(others[0], published, equal_var=False)
    low, high = of_means.confidence_interval(0.9)
    assert low < -0.5
    assert of_means.pvalue < 0.05
    lpips = [ablate(arm, "lpips") for arm in ("gblsr_bandwidth", "gblsr_full")]
    once, _ = misses(0.5, "t2")
    least, most = misses(0.05, "t1", "t3")
    return [
        f"Bandwidth ends {-bandwidth:.2f} dB below Scalar here and {-steps['psnr'][0]:.2f} dB "
        f"below in the paper, Full {-full:.2f} dB below and {steps['psnr'][1]:.2f} dB above",
        f"Full's step from zero, not Bandwidth's (p {p[0]:.3f} and {p[1]:.3f})",
        "by {:.3f} and {:.3f} (paper: {:.3f} and {:.3f})".format(*lpips, *steps["lpips"]),
        f"would not be reproduced ({-high:.2f} to {-low:.2f} dB below the paper's, margin 0.5)",
        f"T2 is missed by a factor of {once}, T1 and T3 by {least} to {most}.",
        f"0.0086 for Full-Linear stands beside {diagnose('gblsr_full_linear', 't3'):.4f} here; "
        f"the absolute gap is {diagnose('gblsr_full_linear', 'gap'):.4f}",
        f"within images ({show(diagnose(arm, 't4') for arm in LINEAR)}; paper: 0.73 / 0.79)",
    ]


def describe_superres() -> list[str]:
    bundled, bicubic = enlarge_set5("bundled", "gblsr_asr"), enlarge_set5("asr_narrow", "bicubic")
    sizes = {row["arm"]: int(row["parameters"]) for row in RUNS if row["setup"] == "asr_narrow"}
    larger = [sizes[name] / sizes["gblsr_asr"] for name in ("liif_rdn", "lte_rdn")]
    count = Counter(row["arm"] for row in RUNS if row["setup"] == "asr_narrow")
    minutes = [float(row["wall_seconds"]) / 60 for row in RUNS if row["setup"] == "asr_narrow"]
    ahead = subtract(paper_gaps("lte_rdn", 6, 8), paper_gaps("liif_rdn", 6, 8))
    return [
        f"each on one core in {span(minutes, 0)} minutes, by what ran beside.",
        f"Each has {WORDS[min(count.values())]} seeds.",
        f"LIIF and LTE have {larger[0]:.1f} and {larger[1]:.1f} times the parameters of GB-LSR",
        f"**LTE is the best**: above GB-LSR by {asr_gap('lte_rdn', 4)} dB at x4 and by "
        f"{asr_gap('lte_rdn', 6, 8)} dB at x6 and x8. The paper has it "
        f"{paper_gap('lte_rdn', 4, 6, 8)} dB above at x4 to x8.",
        f"At x2 it is {asr_gap('lte_rdn', 2)} dB above here, and "
        f"{paper_gap('lte_rdn', 2)} dB below in the paper",
        f"LIIF at x2 to x4, and LTE by at most {max(ahead):.2f} dB at x6 and x8.",
        f"**LIIF is above GB-LSR**: by {asr_gap('liif_rdn', 2)} dB at x2, {asr_gap('liif_rdn', 4)} "
        f"dB at x4 and {asr_gap('liif_rdn', 6, 8)} dB at x6 and x8. The paper has it above by "
        f"{paper_gap('liif_rdn', 2)} dB at x2 and by {paper_gap('liif_rdn', 4, 6, 8)} dB at x4 to "
        "x8.",
        *(
            f"{WORDS[count[method]].capitalize()} seeds of {title} and {WORDS[count['gblsr_asr']]} "
            f"of GB-LSR tell the two apart in {count_told_apart(method)} of 20 cells (p < 0.05)."
            for method, title in (("liif_rdn", "LIIF"), ("lte_rdn", "LTE"))
        ),
        f"**Without its ensemble GB-LSR is better**: by {asr_gap('gblsr_asr_nole', 2)} dB at x2, "
        f"{asr_gap('gblsr_asr_nole', 4)} dB at x4 and {asr_gap('gblsr_asr_nole', 6, 8)} dB at x6 "
        "and x8.",
        f"{WORDS[count['gblsr_asr_nole']].capitalize()} seeds of each tell the two apart in "
        f"{count_told_apart('gblsr_asr_nole')} of 20 cells (p < 0.05).",
        f"On Set5 it has {show(bundled)} dB at x2 / x3 / x4. Bicubic has {show(bicubic)} dB",
    ]


def describe_times() -> list[str]:
    scalar, liif, wire, lte = map(time_on_kodak, ("gblsr_scalar", "liif", "wire", "lte"))
    seconds = [
        VALUES["asr_timing", "asr_latency", "set14", method, "4", "mean_ms"][0] / 1000
        for method in ("gblsr_asr", "lte_rdn", "lte_swinir", "liif_rdn")
    ]
    return [
        f"GB-LSR-Scalar {scalar:.0f} ms by the paper's clock and LIIF {liif:.0f} ms: "
        f"{scalar / liif:.2f} times as long. The paper has 0.247 times",
        f"WIRE takes {wire:.0f} ms and LTE {lte:.0f} ms on Kodak, in the paper "
        f"{published('wire', 'inference_ms')[0]} and {published('lte', 'inference_ms')[0]} ms",
        "{:.1f} s for GB-LSR-ASR, {:.1f} s for LTE-RDN, {:.1f} s for LTE-SwinIR and {:.1f} s for "
        "LIIF-RDN".format(*seconds),
    ]


def read_record() -> str:
    return (pages.ROOT / "docs/record/README.md").read_text(encoding="utf-8")


def count_arms() -> dict[str, list[int]]:
    """By arm: how many of its scores are the same, undecided, different, as the record counts."""
    table = read_record().partition("## Published scores by arm")[2].partition("## ")[0]
    row = re.compile(r"^\| (?:GB-LSR-)?([\w-]+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)
    return {arm: [*map(int, counts)] for arm, *counts in row.findall(table)}


def count_scores() -> list[int]:
    """How many of the scores of all arms are the same, undecided, different."""
    return [*map(sum, zip(*count_arms().values(), strict=True))]


def describe_verdicts() -> list[str]:
    claims = re.search(
        r"Of (\d+) claims .*?, (\d+) are .*?, (\d+) are .*? (\d+) are", read_record()
    )
    assert claims
    same, unclear, differ = count_scores()
    failed = [
        row["id"] for row in read_rows("docs/record/claims.csv") if row["agreement"] == "fails"
    ]
    best_lpips = re.compile(r" liif |^lpips_gain$|^winners \w+ (best_baseline|gap)_lpips$")
    of_liif = sum(bool(best_lpips.search(name)) for name in failed)
    return [
        f"Of the {len(failed)}, {of_liif} are about LIIF: its own scores, and the leads over the "
        f"best baseline's LPIPS, which is LIIF's. The other {len(failed) - of_liif} are",
        "Of {} claims that these runs are about {} are as the paper says, {} are not and {} are "
        "undecided".format(*claims.groups()),
        f"{same} of the {same + unclear + differ} scores that the paper prints with a deviation "
        f"are the same, {unclear} undecided, {differ} differ",
    ]


def describe_readme() -> list[str]:
    bundled, bicubic = enlarge_set5("bundled", "gblsr_asr"), enlarge_set5("asr_narrow", "bicubic")
    ratio = time_on_kodak("gblsr_scalar") / time_on_kodak("liif")
    few = lead(here, "psnr", here("gblsr_scalar", "psnr", "gblsr_8192_pixels"))
    arms = count_arms()
    same, unclear, differ = count_scores()
    by_arm = [f"{arm} {' / '.join(map(str, arms[arm]))}" for arm in ORDER]
    above = [gap for name in ("liif_rdn", "lte_rdn") for gap in asr_gaps(name, 4, 6, 8)]
    paper = [gap for name in ("liif_rdn", "lte_rdn") for gap in paper_gaps(name, 4, 6, 8)]
    return [
        f"| {span(paper)} dB at x4 to x8 on four sets | {span(above)} dB, small networks, three "
        "seeds |",
        f"| {same + unclear + differ} numbers | {same} the same, {unclear} undecided, {differ} "
        "differ |",
        f"same / undecided / differ: {', '.join(by_arm)}.",
        f"{span(lead(published, 'psnr'), 1)} dB | {span(lead(here, 'psnr'), 1)} dB",
        f"on 8,192 leads by {span(few, 1)} dB, too.",
        f"{span(lead(published, 'lpips'))} lower | {span(lead(here, 'lpips'))} lower",
        f"| 0.247 times, on an H200 | {ratio:.2f} times, on a CPU |",
        f"{bundled[-1]:.2f} dB on Set5 at x4, where bicubic has {bicubic[-1]:.2f}",
    ]


STATEMENTS = {
    "docs/results.md": [
        *describe_verdicts(),
        *describe_native(),
        *describe_diagnostics(),
        *describe_superres(),
        *describe_times(),
    ],
    "README.md": describe_readme(),
}


def read_prose(name: str) -> str:
    """A page without blocks of code, tables of other sources and the addresses of its links."""
    text = pages.remove_blocks((pages.ROOT / name).read_text(encoding="utf-8"))
    text = re.sub(r"^  \|.*\n", "", text, flags=re.M)
    return " ".join(re.sub(r"\]\([^)]*\)", "]", text).split())


@pytest.mark.parametrize(
    ("page", "statement"), [(page, each) for page, all_ in STATEMENTS.items() for each in all_]
)
def test_a_statement_has_the_numbers_of_the_record(page: str, statement: str) -> None:
    assert statement in read_prose(page)


@pytest.mark.parametrize("page", STATEMENTS)
def test_no_number_of_the_prose_stands_outside_a_statement(page: str) -> None:
    text = read_prose(page)
    for statement in sorted([*STATEMENTS[page], *OUTSIDE], key=len, reverse=True):
        text = text.replace(statement, "")
    assert not re.findall(r".{0,40}\d\.\d.{0,20}", text)
