"""Tables rendered from the published numbers equal the paper's own, cell for cell, bold for bold.

The oracle is the paper's LaTeX source, read by a comparison script that shares no code with the
renderer.
"""

import math
import re
import subprocess
import sys
from statistics import fmean, stdev

import made
import pytest
from made_up_runs import build_paper_run
from scipy import stats

from gblsr_repro.analysis.metrics import Metric
from gblsr_repro.analysis.reader import Aggregates
from gblsr_repro.analysis.statistics import (
    Summary,
    compare_means,
    compute_pooled_p,
    mark_bold,
)
from gblsr_repro.config import load, read_items
from gblsr_repro.reporting.items import select_items
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
    source = build_paper_run(root).read()
    for item in select_items("table", config).values():
        build.write_table(item, source, root / "tables")
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


def test_winners_differ_in_one_tie(shared, rendered):
    # Fixed and Scalar tie on Set14 by the bold rule.
    _, said = compare(shared, rendered, "winners")
    assert "winners: 27/28 cells equal" in said
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
    built = build_published(Aggregates(shared / "nowhere", config), read_items()[name], [])
    lines = [[cell.replace("*", "") for cell in row.cells if isinstance(cell, str)]
             for sheet in built for row in build.set_table(sheet).rows]  # fmt: skip
    found = {REMARK.sub("", name): cells for name, *cells in lines}
    for row in made.rows(shared / "paper" / "targets" / f"{target}.csv"):
        if row.pop("table", name) == name:
            label = REMARK.sub("", row.pop(key))
            assert found[label][: len(row)] == [typeset(text) for text in row.values()]


# --- statistics ---------------------------------------------------------------------------------


def test_a_deviation_is_pooled_and_a_single_run_takes_that_of_the_papers_seeds():
    seeds = [22.9, 22.3, 22.8]
    t = (22.1 - fmean(seeds)) / (stdev(seeds) * (1 + 1 / 3) ** 0.5)
    published = Summary(fmean(seeds), stdev(seeds), 3)
    p = compare_means(Summary(22.1, n=1), published)
    assert p == pytest.approx(2 * stats.t.sf(abs(t), 2), rel=1e-12)
    assert math.isnan(compute_pooled_p(Summary(22.1, n=1), published))
    three = [22.1, 22.5, 22.4]  # with a deviation of their own, pooled with the other
    p = compute_pooled_p(Summary(fmean(three), stdev(three), 3), published)
    assert p == pytest.approx(stats.ttest_ind(three, seeds).pvalue, rel=1e-12)


def test_threshold_is_the_protocol_s_t_of_2776():
    # Equal spreads s over 3 + 3 seeds: t = d / (s sqrt(2/3)); 4 degrees of freedom, 5 %.
    step = (2 / 3) ** 0.5
    best = Summary(10.0, 1.0, 3)
    inside, outside = Summary(10 - 2.775 * step, 1.0, 3), Summary(10 - 2.778 * step, 1.0, 3)
    metric = Metric("psnr", "PSNR", 6, "↑")
    assert mark_bold([best, inside, outside], metric, alpha=0.05) == [True, True, False]
