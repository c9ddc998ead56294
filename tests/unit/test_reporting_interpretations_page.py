"""Interpretations of the baselines stand below the published numbers."""

import pytest

from gblsr_repro import config as configuration
from gblsr_repro.analysis import aggregate
from gblsr_repro.errors import UserError
from gblsr_repro.files import write_csv
from gblsr_repro.reporting import interpretations_page

METRICS = ("psnr", "ssim", "lpips", "edge_lpips", "lse", "border_step", "center_step")
NUMBERS = {
    "lte": (16.0, 0.32, 0.94, 0.38, 5, 1.2, 0.7),
    "lte_nearest": (16.3, 0.31, 0.80, 0.39, 5, 19.0, 1.3),
}


@pytest.fixture(scope="module")
def config(repository):
    overlay = repository / "config" / "interpretations.yaml"
    return configuration.load([repository / "config" / "config.yaml", overlay])


def write_scores(root, arm, numbers):
    folder = root / "native" / "metrics" / arm / "seed0"
    write_csv(folder / "urban100.csv", ("image", *METRICS), [("a", *numbers)])


def test_each_interpretation_stands_below_the_published_numbers(tmp_path, config):
    for arm, numbers in NUMBERS.items():
        write_scores(tmp_path, arm, numbers)
    write_scores(tmp_path, "gblsr_scalar", NUMBERS["lte"])  # no baseline, so no row
    aggregate.write("interpretations", tmp_path, config, tmp_path / "interpretations.csv")
    interpretations_page.write(
        tmp_path / "interpretations.csv", config, tmp_path / "interpretations.md"
    )
    lines = (tmp_path / "interpretations.md").read_text().splitlines()
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    assert [row[0] for row in cells[2:]] == [
        "**LTE, published**",
        "LTE (matched-budget amortized)",
        "LTE, nearest cell, relative coordinates",
    ]
    assert cells[2][1:] == ["15.819 ± 0.023", "0.3155 ± 0.0011", "0.9457 ± 0.0065",
                            "0.3836 ± 0.0014", "—", "—", "2.57"]  # fmt: skip
    assert cells[4][1:] == ["16.300", "0.3100", "0.8000", "0.3900", "19.00", "1.30", "—"]


def test_a_run_without_baselines_is_one_sentence(tmp_path, config):
    write_csv(tmp_path / "interpretations.csv", ("dataset", "arm", "metric", "mean", "std", "n"),
              [("kodak", "gblsr_scalar", "psnr", 20, "", 1)])  # fmt: skip
    with pytest.raises(
        UserError, match=r"no interpretation of a baseline; name some under native\.arms"
    ):
        interpretations_page.write(tmp_path / "interpretations.csv", config, tmp_path / "out.md")


def test_the_overlay_runs_every_interpretation_of_a_baseline(config):
    rows = configuration.read_arms()
    baselines = {name for name, row in rows.items() if row.group == "baseline"}
    interpretations = {name for name, row in rows.items() if row.group == "interpretation"}
    every = baselines | {name for name in interpretations if name.partition("_")[0] in baselines}
    assert every == set(config["native"]["arms"]) - {"gblsr_scalar"}
