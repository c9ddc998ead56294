"""Tables rendered from the published numbers equal the paper's own, cell for cell, bold for bold.

The oracle is the paper's LaTeX source, read by a comparison script that shares no code with the
renderer.
"""

import re
import subprocess
import sys
from statistics import fmean, stdev

import made
import pytest
from scipy import stats

from gblsr_repro import files
from gblsr_repro.analysis import aggregate
from gblsr_repro.analysis.aggregate import DERIVED
from gblsr_repro.analysis.budget import compare_with_anchor
from gblsr_repro.analysis.paper_aggregates import read_paper_aggregates
from gblsr_repro.analysis.reader import Aggregates
from gblsr_repro.analysis.schemas import SCHEMAS
from gblsr_repro.analysis.statistics import Summary, compute_pooled_p, mark_bold
from gblsr_repro.config import load, read_arms, read_items, read_methods
from gblsr_repro.reporting.tables import build
from gblsr_repro.reporting.tables.published import build_published

EXACT = (
    "main_kodak",
    "main_set14",
    "main_urban100",
    "lse",
    "gates",
    "asr_quality_x2_x3_x4_main",
    "asr_quality_x6_x8_appendix",
    "asr_full_all_scales_appendix",
    "asr_latency_main",
    "asr_pareto_main",
    "asr_pareto_appendix",
    "locality",
)


@pytest.fixture(scope="module")
def config():
    return load()


@pytest.fixture(scope="module")
def rendered(shared, config, tmp_path_factory):
    """Every table, from the published numbers."""
    root = tmp_path_factory.mktemp("published")
    published_aggregates(shared / "paper" / "targets", root / "aggregates")
    for name in DERIVED:
        aggregate.write(name, root, config, root / "aggregates" / f"{name}.csv")
    build.write(root / "aggregates", root / "tables", config)
    return root / "tables"


def compare(shared, folder, *names):
    script = shared / "tools" / "compare_tables.py"
    paper = shared / "paper" / "gblsr_paper.tex"
    done = subprocess.run(
        [sys.executable, script, paper, folder, *names], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", EXACT)
def test_body_equals_the_paper(shared, rendered, name):
    code, said = compare(shared, rendered, name)
    assert code == 0, said


def test_fairness_differs_in_its_notes_alone(shared, rendered):
    _, said = compare(shared, rendered, "fairness")
    assert "fairness: 25/32 cells equal; first: [(0, 1, 3," in said


def test_winners_differ_where_the_published_numbers_are_rounded(shared, rendered):
    # Gaps of rounded means are off by one unit; Fixed and Scalar tie on Set14 by the bold rule.
    _, said = compare(shared, rendered, "winners")
    assert "winners: 24/28 cells equal" in said
    text = (rendered / "winners.tex").read_text()
    assert r"Fixed $\approx$ Scalar (0.5967)" in text
    assert text.count(r"Full $\approx$ Scalar") == 3


def test_labels_are_the_papers(shared, rendered):
    paper = (shared / "paper" / "gblsr_paper.tex").read_text(encoding="utf-8")
    texts = [path.read_text() for path in rendered.iterdir() if "_vs_paper" not in path.stem]
    ours = {label for text in texts for label in re.findall(r"\\label{(.+?)}", text)}
    ours |= {
        f"fig:{name}" for name, item in read_items().items() if item.paper.startswith("Figure")
    }
    assert ours == set(re.findall(r"\\label{((?:tab|fig):.+?)}", paper))


# --- the paper's numbers in config/paper ----------------------------------------------------------

WIDE = [  # the file of targets, the column of its rows' names, and the table that prints them
    ("winners", "dataset", "winners"),
    ("params", "arm", "fairness"),
    ("ablation", "arm", "locality"),
    ("asr_latency", "method", "asr_latency_main"),
    ("asr_pareto", "variant", "asr_pareto_main"),
    ("asr_pareto", "variant", "asr_pareto_appendix"),
]


REMARK = re.compile(r" \((?:base|main|F1 anchor)\)$")


def typeset(text):
    thousands = f"{int(text):,}" if text.isdigit() and len(text) > 3 else text
    return re.sub(r"x$", "×", thousands.replace(r"\approx", "≈").replace("-", "−"))


@pytest.mark.parametrize(("target", "key", "name"), WIDE, ids=[row[2] for row in WIDE])
def test_the_papers_rows_print_the_targets(shared, config, target, key, name):
    built = build_published(Aggregates(shared / "nowhere", config), read_items()[name])
    lines = [[cell.replace("*", "") for cell in row.cells if isinstance(cell, str)]
             for table in built for row in table.rows]  # fmt: skip
    found = {REMARK.sub("", name): cells for name, *cells in lines}
    for row in made.rows(shared / "paper" / "targets" / f"{target}.csv"):
        if row.pop("table", name) == name:
            label = REMARK.sub("", row.pop(key))
            assert found[label][: len(row)] == [typeset(text) for text in row.values()]


@pytest.mark.parametrize("kind", ["native", "asr_quality"])
def test_config_paper_holds_the_targets(shared, kind):
    published = read_paper_aggregates(load()).frame(kind)
    targets = Aggregates(shared / "paper" / "targets", load()).frame(kind)
    assert len(targets.merge(published)) == len(targets) > 100


# --- aggregates that fit every published number ---------------------------------------------------

LIIF_B100 = 40.0  # ms: any number, ratios alone are printed
SWINIR_OVER_LIIF = 2.258  # printed as 2.26; the printed ratios of the variants narrow it to this
METHODS = {
    "LIIF-RDN": "liif_rdn",
    "LTE-RDN": "lte_rdn",
    "LTE-SwinIR": "lte_swinir",
    "GB-LSR-Scalar-ASR (base)": "gblsr_asr",
    "GB-LSR-Scalar-ASR-noLE": "gblsr_asr_nole",
    "GB-LSR-Scalar-ASR-nf96+noLE": "gblsr_asr_nf96_nole",
    "GB-LSR-Scalar-ASR-nf48+noLE": "gblsr_asr_nf48_nole",
}
PARAMETERS = {"gblsr_asr": 22_023_873, "gblsr_asr_nole": 22_023_873,
              "gblsr_asr_nf96_nole": 24_927_393, "gblsr_asr_nf48_nole": 20_610_513}  # fmt: skip


def latency_rows(targets):
    """Times at x4. The paper does not print those of B100: baselines and base get theirs from one
    printed speed ratio each, the variants from their printed mean speed-up over the base; every
    other printed ratio must then come out by itself.
    """
    published = made.rows(targets / "asr_latency.csv")
    speedups = {METHODS[r["variant"]]: r for r in made.rows(targets / "asr_pareto.csv")}
    liif = {"set14": 37.67, "b100": LIIF_B100, "urban100": 127.42}
    times = {}
    for row in published:
        own = {d: float(row[f"ms_{d}_x4"]) for d in ("set14", "urban100")}
        ratio = float(row["speed_vs_liif_rdn"][:-1])
        if row["method"] == "LTE-SwinIR":
            ratio = 1 / SWINIR_OVER_LIIF
        rest = ratio**3 / (liif["set14"] / own["set14"] * liif["urban100"] / own["urban100"])
        times[METHODS[row["method"]]] = own | {"b100": LIIF_B100 / rest}
    base = times["gblsr_asr"]
    for method in ("gblsr_asr_nole", "gblsr_asr_nf96_nole"):
        own, mean = times[method], float(speedups[method]["mean_speedup"][:-1])
        own["b100"] = base["b100"] / (3 * mean - sum(base[d] / own[d] for d in liif if d != "b100"))
    # The appendix's variant: only its mean speed-up over the three sets is printed.
    times["gblsr_asr_nf48_nole"] = {d: t / 1.702 for d, t in base.items()}
    return [
        [d, m, 4, "paper", "mean_ms", t, 0.1, 3]
        for m, cells in times.items()
        for d, t in cells.items()
    ]


def memory_rows(targets):
    peaks = {METHODS[r["variant"]]: r for r in made.rows(targets / "asr_pareto.csv")}
    base = float(peaks["gblsr_asr"]["urban100_peak_mb"])
    for method, row in peaks.items():
        urban = float(row["urban100_peak_mb"])
        reduction = float(row["mean_memory_reduction"].rstrip("%")) / 100
        rest = 1 - (3 * reduction - (1 - urban / base)) / 2
        for dataset, value in (("set14", rest), ("b100", rest), ("urban100", urban / base)):
            yield [dataset, method, 4, "paper", "peak_memory_mib", value * base, 1, 3]


def quality_rows(targets):
    """The published grid, and variants whose deltas have the printed means, minima and x4 cells."""
    base = {}
    for row in made.rows(targets / "asr_quality.csv"):
        yield [*row.values()]
        if row["method"] == "gblsr_asr" and row["metric"] == "psnr_y":
            base[row["dataset"], int(row["scale"])] = float(row["mean"])
    printed = {METHODS[r["method"]]: r for r in made.rows(targets / "asr_latency.csv")}
    for row in made.rows(targets / "asr_pareto.csv"):
        method = METHODS[row["variant"]]
        if method == "gblsr_asr":
            continue
        deltas = {("set5", 2): float(row["worst_cell_delta"])}
        if method in printed:
            for dataset in ("set14", "urban100"):
                mean = float(printed[method][f"psnr_y_{dataset}_x4"])
                deltas[dataset, 4] = mean - base[dataset, 4]
        inside = [cell for cell in base if cell[1] <= 4 and cell not in deltas]
        left = 15 * float(row["delta_psnr_y_id"]) - sum(deltas.values())
        deltas |= {cell: left / len(inside) for cell in inside}
        deltas |= {c: float(row["delta_psnr_y_ood"]) for c in base if c[1] > 4}
        for (dataset, scale), delta in deltas.items():
            yield [dataset, method, scale, "psnr_y", base[dataset, scale] + delta, 0.01, 3]


def ablation_rows(targets):
    """Rows of the ablation and of the locality tests."""
    named = {arm.name: name for name, arm in read_arms().items()}
    ablation, locality = [], []
    for row in made.rows(targets / "ablation.csv"):
        arm = named[row["arm"]]
        ablation.append([arm, "psnr", row["psnr"], 0.1, 3])
        for column in ("delta_psnr", "delta_lpips"):
            if row[column] != "n/a":
                ablation.append([arm, column, row[column], 0.1, 3])
        if row["tests_met"] != "n/a":
            locality.append([arm, "tests_met", row["tests_met"].split("/")[0], "", 3])
            locality.append([arm, "criterion_a", 0, "", 3])  # 0/4
            ablation.append([arm, "criterion_b", 0, "", 3])
    return ablation, locality


def published_aggregates(targets, folder):
    """Write every aggregate that a table is made from."""
    native = [[*row.values()] for row in made.rows(targets / "native.csv")]
    ablation, locality = ablation_rows(targets)
    runs = {
        "runs": [
            ["native", arm, 0, 2000, 1, 90, 1, 1, "NVIDIA H200", "", "", ""] for arm in read_arms()
        ],
        "asr_runs": [
            ["asr", m, 0, 10**6, PARAMETERS.get(m, ""), 1, 1, 1, "NVIDIA H200", "", "", ""]
            for m in read_methods()
        ],
    }
    tidy = {
        "native": native,
        "ablation": ablation,
        "locality": locality,
        "asr_quality": quality_rows(targets),
        "asr_latency": [*latency_rows(targets), *memory_rows(targets)],
    }
    for name, rows in tidy.items():
        files.write_csv(folder / f"{name}.csv", SCHEMAS[name].header, rows)
    for name, rows in runs.items():
        files.write_csv(folder / f"{name}.csv", SCHEMAS[name].columns, rows)
    counts = {row[1]: float(row[3]) for row in native if row[2] == "params"}
    budget = compare_with_anchor(counts, load())
    files.write_csv(folder / "budget.csv", SCHEMAS["budget"].columns, budget)


# --- statistics ---------------------------------------------------------------------------------


def test_pooled_test_agrees_with_scipy_on_samples():
    a, b = [22.1, 22.5, 22.4], [22.9, 22.3, 22.8]
    expected = stats.ttest_ind(a, b, equal_var=True).pvalue
    found = (Summary(fmean(seeds), stdev(seeds), 3) for seeds in (a, b))
    assert compute_pooled_p(*found) == pytest.approx(expected, rel=1e-12)


def test_threshold_is_the_protocol_s_t_of_2776():
    # Equal spreads s over 3 + 3 seeds: t = d / (s sqrt(2/3)); 4 degrees of freedom, 5 %.
    step = (2 / 3) ** 0.5
    best = Summary(10.0, 1.0, 3)
    inside, outside = Summary(10 - 2.775 * step, 1.0, 3), Summary(10 - 2.778 * step, 1.0, 3)
    assert mark_bold([best, inside, outside], lower=False, digits=6, alpha=0.05) == [
        True,
        True,
        False,
    ]
