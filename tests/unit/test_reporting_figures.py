"""Figures show their numbers, no texts collide, and the same data give the same bytes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from made_up_runs import build_demo_run, build_local_run, build_paper_run, build_sparse_run
from matplotlib.collections import LineCollection
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from gblsr_repro.analysis.reader import Aggregates
from gblsr_repro.config import load, read_items
from gblsr_repro.errors import UserError
from gblsr_repro.files import write_json
from gblsr_repro.reporting import figures
from gblsr_repro.reporting.captions import compose_caption
from gblsr_repro.reporting.figures import style
from gblsr_repro.reporting.items import build_item, describe_differences
from results import Results


def build_drawable_paper_run(root: Path) -> Results:
    run = build_paper_run(root)
    run.write_fields()
    run.write_exemplars()
    return run


def build_wide_run(root: Path) -> Results:
    """Build a run of many data sets with long names, and scales, timed on a device with another."""
    run = Results(root).record()
    sets = ["kodak", "set14", "b100", "div2k_valid", "demo_urban100", "urban100_center256"]
    run.config["native"]["data"]["evaluate"] = dict(zip(sets, sets, strict=True))
    run.set_native(columns=sets)
    run.config["asr"]["scales"] = scales = [2, 3, 4, 6, 12, 18, 24, 30]
    run.add_quality(["liif_rdn", "gblsr_asr"], scales=scales)
    run.change("*", device={"name": "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz"})
    return run


FIGURES = {name: item for name, item in read_items().items() if item.kind == "figure"}
NAMES = list(FIGURES)
RUNS = {
    "paper": build_drawable_paper_run,
    "demo": build_demo_run,
    "sparse": build_sparse_run,
    "local": build_local_run,
    "wide": build_wide_run,
}
COMMAND = [sys.executable, "-m", "gblsr_repro"]
PRINTED = {style.TEXT_WIDTH: 6.75, style.COLUMN_WIDTH: 3.25}  # inches, across two columns or one
LEAST = 6.0  # points of the smallest text, printed so

Draw = Callable[[str, str], Figure]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Aggregates]:
    return {name: build(tmp_path_factory.mktemp(name)).read() for name, build in RUNS.items()}


@pytest.fixture(scope="module")
def draw(sources: dict[str, Aggregates]) -> Iterator[Draw]:
    """Draw a figure of a run, laid out as it is saved, once for all tests."""
    drawn: dict[tuple[str, str], Figure] = {}

    def draw_once(run: str, name: str) -> Figure:
        if (run, name) not in drawn:
            source, item = sources[run], FIGURES[name]
            differences = describe_differences(source.provenance, item)
            drawn[run, name] = build_item(item, source, differences)
        return drawn[run, name]

    with style.apply_style():
        yield draw_once


def list_drawn_texts(figure: Figure, monkeypatch: pytest.MonkeyPatch) -> list[Text]:
    """List the texts that drawing the figure really puts on it."""
    texts: list[Text] = []
    original = Text.draw

    def record(self: Text, renderer: object) -> None:
        if self.get_visible() and self.get_text().strip():
            texts.append(self)
        original(self, renderer)

    with monkeypatch.context() as patch:
        figure.draw_without_rendering()  # legends move once more after a first pass
        patch.setattr(Text, "draw", record)
        figure.draw_without_rendering()
    return texts


def read_words(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.findobj(Text))


# Pixels that boxes of texts may share. Before 3.11 matplotlib leaves less between rows of axes:
# boxes touch there, letters do not.
SLACK = 1.0 if matplotlib.__version_info__ >= (3, 11) else 5.0


def list_collisions(texts: list[Text]) -> list[tuple[str, str]]:
    """List pairs of texts whose boxes share more than `SLACK` pixels both ways."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    return [
        (first, second)
        for (first, a), (second, b) in combinations(boxes, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > SLACK and min(a.y1, b.y1) - max(a.y0, b.y0) > SLACK
    ]


OF_A_DEMO = ("frontier", "per_dataset", "cov_hist", "infcost", "asr_quality_latency_x4")
CASES = [("paper", name) for name in NAMES]
CASES += [("demo", name) for name in OF_A_DEMO]  # whose near-equal numbers look unlike the paper's
CASES += [("wide", "infcost"), ("wide", "asr_psnr_vs_scale")]


@pytest.mark.parametrize(("run", "name"), CASES)
def test_texts_are_legible_inside_and_apart(run, name, draw, monkeypatch):
    figure = draw(run, name)
    texts = list_drawn_texts(figure, monkeypatch)
    assert texts
    assert not list_collisions(texts)
    width, height = figure.get_size_inches() * figure.dpi
    for text in texts:
        box = text.get_window_extent()
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= width + 1, text
        assert box.y1 <= height + 1, text
    printed = PRINTED[figure.get_figwidth()] / figure.get_figwidth()
    assert min(text.get_fontsize() for text in texts) * printed >= LEAST


def test_differences_that_do_not_fit_are_counted():
    differences = [f"difference {number} from the paper" for number in range(9)]
    (text,) = style.create_figure(style.TEXT_WIDTH, 3.0, differences[:3]).texts
    assert text.get_text() == "; ".join(differences[:3])
    (text,) = style.create_figure(style.TEXT_WIDTH, 3.0, differences).texts
    assert text.get_text() == "9 conditions unlike the paper's, listed in the report"
    assert text.get_window_extent().x1 <= style.TEXT_WIDTH * text.figure.dpi


def test_the_caption_counts_the_seeds_of_the_arms_that_are_drawn():
    run = Results(Path("nowhere")).record()
    run.forget("native/runs/liif/seed[12]/*", "native/runs/gblsr_full_linear/seed[12]/*")
    caption = compose_caption(FIGURES["per_dataset"], run.compare()).text
    assert "LIIF 1" in caption
    assert "Full-Linear" not in caption  # an arm of the diagnostic alone


def test_same_data_same_bytes(sources, tmp_path):
    first = figures.draw("variance_decomp", sources["paper"], tmp_path / "a")
    second = figures.draw("variance_decomp", sources["paper"], tmp_path / "b")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert b"CreationDate" not in first[0].read_bytes()
    assert "Software" not in Image.open(first[1]).info


# --- what is shown --------------------------------------------------------------------------------


def test_frontier_shows_every_arm_and_set_with_lpips_downwards(draw, sources):
    axes = draw("paper", "frontier").axes[0]
    assert axes.yaxis_inverted()
    lines = [line for line in axes.lines if line.get_markersize() == 4.5]
    points = {
        tuple(map(float, line.get_xydata()[0])) for line in lines if len(line.get_xydata()) == 1
    }
    source = sources["paper"]
    for arm in source.benchmark_arms:
        for column in source.evaluate:
            point = (source.mean("native", column, arm, m) for m in ("psnr", "lpips"))
            assert tuple(point) in points
    assert "GB-LSR-Scalar (main)" in read_words(draw("paper", "frontier"))


def test_an_arm_without_all_sets_gets_no_mean(draw):
    axes = draw("sparse", "frontier").axes[0]
    large = [line for line in axes.lines if line.get_markersize() == 9.0]
    assert [float(line.get_xdata()[0]) for line in large] == [14.0]


def test_per_dataset_has_a_bar_with_its_spread_per_arm_and_set(draw, sources):
    psnr = draw("paper", "per_dataset").axes[0]
    cells = [s for key, s in sources["paper"].cells("native").items() if key[2] == "psnr"]
    heights = sorted(bar.get_height() for bar in psnr.patches)
    assert heights == pytest.approx(sorted(cell.mean for cell in cells))
    paths = [path for c in psnr.findobj(LineCollection) for path in c.get_paths()]
    spans = sorted((path.vertices[1, 1] - path.vertices[0, 1]) / 2 for path in paths)
    assert spans == pytest.approx(sorted(cell.std for cell in cells), abs=1e-9)


def test_cov_hist_counts_the_images_of_all_seeds_and_marks_threshold_and_median(draw, sources):
    figure = draw("paper", "cov_hist")
    assert len(figure.axes) == 2
    for axes, arm in zip(figure.axes, ("gblsr_full_linear", "gblsr_bandwidth_linear"), strict=True):
        variations = []
        for seed in range(3):
            path = sources["paper"].results / "native" / "fields" / arm / f"seed{seed}.npz"
            field = np.load(path)["bandwidth"].astype(np.float64).reshape(64, 64)
            variations.append(field.std(axis=1) / field.mean(axis=1))
        edges = [bar.get_x() for bar in axes.patches]
        edges.append(axes.patches[-1].get_x() + axes.patches[-1].get_width())
        counts, _ = np.histogram(np.concatenate(variations), edges)
        assert [bar.get_height() for bar in axes.patches] == counts.tolist()
        marks = {line.get_color(): float(line.get_xdata()[0]) for line in axes.lines}
        assert marks[style.THRESHOLD] == 0.05
        assert marks["black"] == sources["paper"].mean("locality", arm, "t1")


def test_variance_bars_carry_the_share_and_the_floor(draw):
    figure = draw("paper", "variance_decomp")
    axes = figure.axes[0]
    heights = sorted(bar.get_height() for bar in axes.patches)
    across = [1.07e-4 * (1 / 0.73 - 1), 0.9e-4 * (1 / 0.79 - 1)]
    assert heights == pytest.approx(sorted([1.07e-4, 0.9e-4, *across]))
    assert "within: 0.73" in read_words(figure)
    assert "T4's floor: 0.001" in read_words(figure)


def test_logspace_metrics_shows_the_steps(draw):
    text = read_words(draw("demo", "logspace_metrics"))
    for step in ("+2.096", "+0.234", "−0.091", "+0.069"):
        assert step in text


def test_t4_is_not_met_where_only_its_ratio_clears(draw):
    figure = draw("paper", "logspace_loctests")
    titles = [axes.get_title() for axes in figure.axes]
    share = figure.axes[titles.index("T4, one half: share within (needs ≥ 0.25)")]
    floor = figure.axes[titles.index("T4, with variance within (needs ≥ 0.001)")]
    assert all(same_color(bar.get_facecolor(), style.NOT_MET) for bar in floor.patches)
    assert all(bar.get_hatch() for bar in floor.patches)
    assert min(bar.get_width() for bar in share.patches) > 0.25
    for color in (style.MET, style.NOT_MET):  # a verdict on half a test would be none
        assert not any(same_color(bar.get_facecolor(), color) for bar in share.patches)
    assert "3.70e−05 not met" in read_words(figure)
    assert "0.660 see below" in read_words(figure)
    met = draw("local", "logspace_loctests").axes[0].patches
    assert all(same_color(bar.get_facecolor(), style.MET) for bar in met)
    assert not any(bar.get_hatch() for bar in met)


def test_qualitative_names_the_best_arms(draw):
    text = read_words(draw("paper", "qualitative"))
    for tag in ("GB-LSR-Scalar\n22.31 dB / 0.642", "GB-LSR-Full\n22.44", "GB-LSR-Fixed\n20.27"):
        assert tag in text
    assert "Set14\nimg_001" in text


def test_qualitative_is_drawn_where_the_main_arm_was_not_measured(sources, tmp_path):
    source = sources["paper"]
    shutil.copytree(source.results, tmp_path / "run")
    table = tmp_path / "run/aggregates/native.csv"
    rows = table.read_text().splitlines(keepends=True)
    table.write_text("".join(row for row in rows if "gblsr_scalar," not in row))
    figure = build_item(FIGURES["qualitative"], Aggregates(table.parent, source.config), [])
    assert read_words(figure).count("not measured") == 3


def test_scales_beyond_training_are_shaded_below_the_differences_to_the_base(draw, sources):
    figure = draw("paper", "asr_psnr_vs_scale")
    quality = sources["paper"].cells("asr_quality")
    measured = {(name, method) for name, method, _, metric in quality if metric == "psnr_y"}
    for axes, name in zip(
        figure.axes, 2 * [*sources["paper"].config["asr"]["evaluate"]], strict=True
    ):
        (span,) = axes.patches
        assert (span.get_x(), span.get_x() + span.get_width()) == (5.0, 8.5)
        assert len(axes.containers) == sum(
            (name, each) in measured for each in sources["paper"].methods
        )
    lines = [container.lines[0] for container in figure.axes[5 + 3].containers]
    (swinir,) = (line for line in lines if line.get_marker() == "s")
    both = [
        [quality["urban100", method, scale, "psnr_y"].mean for scale in "23468"]
        for method in ("lte_swinir", "gblsr_asr")
    ]
    assert swinir.get_ydata() == pytest.approx(np.subtract(*both))


def test_measured_equal_to_published_lies_on_the_diagonal(draw):
    figure = draw("paper", "measured_vs_published")
    psnr = figure.axes[0]
    assert psnr.get_title() == "PSNR (dB)\n21 of 21 measured\nmedian |Δ| 0"
    for line in psnr.lines:
        assert line.get_xdata() == pytest.approx(line.get_ydata(), abs=1e-3)  # as rounded
    sparse = draw("sparse", "measured_vs_published")
    assert sparse.axes[0].get_title().startswith("PSNR (dB)\n3 of 21")


def test_a_figure_is_drawn_where_a_notebook_names_its_own_backend(sources, tmp_path):
    source = sources["paper"]
    write_json(tmp_path / "config.json", source.config)
    places = ["--config", tmp_path / "config.json", "--aggregates", source.folder]
    done = subprocess.run(
        [*COMMAND, "items", "--only", "frontier", *places, "--output", tmp_path],
        env={**os.environ, "MPLBACKEND": "module://a_notebook_that_is.not_installed"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "figures" / "frontier.png").is_file()


# --- what is missing ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_without_its_numbers_says_what_is_missing(name, tmp_path):
    (tmp_path / "aggregates").mkdir()
    source = Aggregates(tmp_path / "aggregates", load())
    with pytest.raises(UserError, match=str(tmp_path)):
        figures.draw(name, source, tmp_path)
    assert not list(tmp_path.glob("*.p*"))


def test_quality_against_time_is_drawn_where_a_set_fitted_by_the_fast_path_alone(sources):
    source = sources["paper"]
    rows = source.table("asr_latency")
    others = [{**row, "clock": "fast"} for row in rows if row["clock"] == "paper"]
    run = Aggregates(source.folder, source.config, tables={"asr_latency": others})
    with style.apply_style():
        figure = build_item(FIGURES["asr_quality_latency_x4"], run, [])
    assert "no method has a time" in " ".join(read_words(figure).split())


def test_a_run_on_images_of_ones_own_alone_says_that_nothing_published_was_measured(results):
    results.set_native(columns=["mine"])
    with style.apply_style():
        figure = build_item(FIGURES["measured_vs_published"], results.read(), [])
    assert "no number of the paper's tables" in " ".join(read_words(figure).split())


def test_a_missing_or_broken_picture_is_named(sources, tmp_path):
    source = sources["paper"]
    shutil.copytree(source.results, tmp_path / "run")
    picture = tmp_path / "run/native/exemplars/seed0/gblsr_full/set14.png"
    copy = Aggregates(tmp_path / "run/aggregates", source.config)
    picture.write_bytes(b"no picture")
    with pytest.raises(UserError, match=r"set14\.png is no picture"):
        figures.draw("qualitative", copy, tmp_path)
    picture.unlink()
    with pytest.raises(UserError, match=r"set14\.png does not exist"):
        figures.draw("qualitative", copy, tmp_path)
