"""Every figure: what it shows, that nothing collides, that the same data give the same bytes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import figure_aggregates as made_up
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import same_color
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from gblsr_repro.cli import main
from gblsr_repro.config import items, load
from gblsr_repro.errors import UserError
from gblsr_repro.reporting import figures
from gblsr_repro.reporting.aggregates import Aggregates
from gblsr_repro.reporting.conditions import Conditions, of_paper
from gblsr_repro.reporting.figures import FIGURES, captions, note, style

NAMES = list(FIGURES)
NEED_FILES = {"cov_hist", "qualitative"}
RUNS = {
    "paper": made_up.paper_run,
    "demo": made_up.demo_run,
    "sparse": made_up.sparse_run,
    "wide": made_up.wide_run,
}

Draw = Callable[[str, str], Figure]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Aggregates]:
    found = {}
    for name, make in RUNS.items():
        run = make(tmp_path_factory.mktemp(name))
        found[name] = Aggregates(run.write(), run.config)
    return found


@pytest.fixture(scope="module")
def draw(sources: dict[str, Aggregates]) -> Iterator[Draw]:
    """Build a figure of a run, laid out as it is saved; each once."""
    known: dict[tuple[str, str], Figure] = {}

    def build(run: str, name: str) -> Figure:
        if (run, name) not in known:
            source = sources[run]
            figure = FIGURES[name].draw(source, note(source.conditions, FIGURES[name].scopes))
            known[run, name] = figure
        return known[run, name]

    with style.styled():
        yield build


def drawn_texts(figure: Figure, monkeypatch: pytest.MonkeyPatch) -> list[Text]:
    """Return the texts that drawing the figure really puts on it."""
    found: list[Text] = []
    original = Text.draw

    def record(self: Text, renderer: object) -> None:
        if self.get_visible() and self.get_text().strip():
            found.append(self)
        original(self, renderer)

    with monkeypatch.context() as patch:
        figure.draw_without_rendering()  # legends move once more after a first pass
        patch.setattr(Text, "draw", record)
        figure.draw_without_rendering()
    return found


def words(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.findobj(Text))


def collisions(texts: list[Text], slack: float = 1.0) -> list[tuple[str, str]]:
    """Return pairs of texts whose boxes share more than `slack` pixels both ways."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    return [
        (first, second)
        for (first, a), (second, b) in combinations(boxes, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > slack and min(a.y1, b.y1) - max(a.y0, b.y0) > slack
    ]


def test_the_papers_figures_are_all_there():
    wanted = {name for name, item in items().items() if item.kind == "figure"}
    assert wanted <= set(NAMES)


def cases() -> list[object]:
    """All figures of all runs; in the quick suite the paper's and what the demo makes different."""
    different = {"frontier", "per_dataset", "cov_hist", "infcost", "asr_quality_latency_x4"}
    found = []
    for run in RUNS:
        for name in NAMES:
            quick = run == "paper" or (run == "demo" and name in different)
            found.append(pytest.param(run, name, marks=[] if quick else [pytest.mark.slow]))
    return found


@pytest.mark.parametrize(("run", "name"), cases())
def test_texts_are_legible_inside_and_apart(run, name, draw, sources, monkeypatch):
    try:
        figure = draw(run, name)
    except UserError:
        assert run in ("sparse", "wide")
        pytest.skip("this run has no data for the figure")
    texts = drawn_texts(figure, monkeypatch)
    assert texts
    assert not collisions(texts)
    width, height = figure.get_size_inches() * figure.dpi
    for text in texts:
        box = text.get_window_extent()
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= width + 1, text
        assert box.y1 <= height + 1, text
    hint = next(iter(note(sources[run].conditions, FIGURES[name].scopes)), None)
    sizes = {t.get_fontsize() for t in texts if hint is None or not t.get_text().startswith(hint)}
    assert sizes <= {7.0, 7.5, 8.0}


def test_collisions_are_found(monkeypatch):
    figure = style.new_figure(2, 2, ())
    for x in (0.2, 0.3, 0.8):
        figure.text(x, 0.5, f"at {x}", fontsize=12)
    assert collisions(drawn_texts(figure, monkeypatch)) == [("at 0.2", "at 0.3")]


@pytest.mark.parametrize("name", ["variance_decomp", "qualitative"])
def test_same_data_same_bytes(name, sources, tmp_path):
    first = figures.render(name, sources["paper"], tmp_path / "a")
    second = figures.render(name, sources["paper"], tmp_path / "b")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert b"CreationDate" not in first[0].read_bytes()
    assert "Software" not in Image.open(first[1]).info


# --- looks ----------------------------------------------------------------------------------------


def test_no_two_native_arms_or_methods_share_a_look(sources):
    source = sources["paper"]
    drawn = [name for name, arm in source.arms.items() if arm.group != "reading"]
    for table in (drawn, [*source.methods, "bicubic"]):
        chosen = style.looks(table)
        for first, second in combinations(chosen.values(), 2):
            assert first.colour != second.colour
            assert first.marker != second.marker
            assert first.hatch != second.hatch or first.dash != second.dash


def test_a_new_arm_takes_the_next_free_look_and_moves_no_other():
    before = style.looks(["gblsr_scalar", "first_new", "lte"])
    after = style.looks(["gblsr_scalar", "first_new", "lte", "second_new"])
    assert before["first_new"] == style.FREE_LOOKS[0]
    assert after["second_new"] == style.FREE_LOOKS[1]
    assert all(after[name] == look for name, look in before.items())


# --- what is shown --------------------------------------------------------------------------------


def test_frontier_shows_every_arm_and_set_with_lpips_downwards(draw, sources):
    axes = draw("paper", "frontier").axes[0]
    assert axes.yaxis_inverted()
    small = [line for line in axes.lines if line.get_markersize() == 4.5 and len(line.get_xdata())]
    points = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
        for line in small
        if line.get_marker() not in ("None", None) and len(line.get_xdata()) == 1
    }
    native = sources["paper"].cells("native")
    for arm in sources["paper"].benchmark:
        for column in sources["paper"].evaluate:
            assert (native[column, arm, "psnr"].mean, native[column, arm, "lpips"].mean) in points
    assert "GB-LSR-Scalar (main)" in words(draw("paper", "frontier"))


def test_an_arm_without_all_sets_gets_no_mean(draw):
    axes = draw("sparse", "frontier").axes[0]
    large = [line for line in axes.lines if line.get_markersize() == 9.0]
    assert [float(line.get_xdata()[0]) for line in large] == [14.0]


@pytest.mark.parametrize("name", ["frontier", "per_dataset", "logspace_metrics", "qualitative"])
def test_unmeasured_lpips_is_said_with_its_reason(name, draw):
    text = " ".join(words(draw("demo", name)).split())
    assert "LPIPS not measured: no AlexNet trunk" in text


def test_per_dataset_has_a_bar_with_its_spread_per_arm_and_set(draw, sources):
    figure = draw("paper", "per_dataset")
    source = sources["paper"]
    psnr = figure.axes[0]
    heights = sorted(bar.get_height() for bar in psnr.patches)
    wanted = [s.mean for key, s in source.cells("native").items() if key[2] == "psnr"]
    assert heights == pytest.approx(sorted(wanted))
    spans = [
        (path.vertices[1, 1] - path.vertices[0, 1]) / 2
        for collection in psnr.findobj(LineCollection)
        for path in collection.get_paths()
    ]
    deviations = [s.std for key, s in source.cells("native").items() if key[2] == "psnr"]
    assert sorted(spans) == pytest.approx(sorted(deviations), abs=1e-9)


@pytest.mark.parametrize("name", ["per_dataset", "asr_quality_latency_x4", "asr_psnr_vs_scale"])
def test_one_seed_has_no_error_bars(name, draw):
    for axes in draw("sparse", name).axes:
        bars = [c for c in axes.containers if isinstance(c, ErrorbarContainer)]
        for lines in (line for bar in bars for line in bar.lines[2]):
            for path in lines.get_paths():
                assert not np.isfinite(path.vertices).all()


def test_times_over_a_wide_range_are_logarithmic(draw):
    assert draw("wide", "infcost").axes[0].get_xscale() == "log"
    assert draw("paper", "infcost").axes[0].get_xscale() == "linear"
    assert "NVIDIA H200" in draw("paper", "infcost").axes[0].get_xlabel()


def test_cov_hist_marks_threshold_and_the_mean_of_the_seeds_medians(draw, sources):
    figure = draw("paper", "cov_hist")
    assert len(figure.axes) == 2
    for axes, arm in zip(figure.axes, ("gblsr_full_linear", "gblsr_bandwidth_linear"), strict=True):
        medians = []
        for seed in range(3):
            path = sources["paper"].results / "native" / "fields" / arm / f"seed{seed}.npz"
            field = np.load(path)["bandwidth"].astype(np.float64).reshape(64, 64)
            medians.append(np.median(field.std(axis=1) / field.mean(axis=1)))
        marks = {line.get_color(): float(line.get_xdata()[0]) for line in axes.lines}
        assert marks[style.THRESHOLD] == 0.05
        assert marks["black"] == pytest.approx(np.mean(medians))
        assert sum(bar.get_height() for bar in axes.patches) == 3 * 64


def test_variance_bars_carry_the_share_and_the_floor(draw):
    figure = draw("paper", "variance_decomp")
    axes = figure.axes[0]
    heights = sorted(bar.get_height() for bar in axes.patches)
    across = [1.07 * (1 / 0.73 - 1), 0.9 * (1 / 0.79 - 1)]
    assert heights == pytest.approx(sorted([1.07, 0.9, *across]))
    assert "within: 0.73" in words(figure)
    assert "within: 0.79" in words(figure)
    assert "T4 floor 10⁻³: 8.65× the highest bar" in words(figure)
    assert "×10⁻⁴" in axes.get_ylabel()
    assert "T4 floor 10⁻³\n" in words(draw("wide", "variance_decomp")) + "\n"


def test_logspace_metrics_shows_the_steps(draw):
    text = words(draw("paper", "logspace_metrics"))
    for step in ("+2.096", "+0.234", "−0.091", "+0.069"):
        assert step in text


def test_t4_is_not_met_where_only_its_ratio_clears(draw):
    figure = draw("paper", "logspace_loctests")
    titles = [axes.get_title() for axes in figure.axes]
    share = figure.axes[titles.index("T4: share within images (needs ≥ 0.25)")]
    floor = figure.axes[titles.index("T4: variance within (needs ≥ 10⁻³)")]
    for axes in (share, floor):
        assert all(same_color(bar.get_facecolor(), style.NOT_MET) for bar in axes.patches)
        assert all(bar.get_hatch() for bar in axes.patches)
    assert min(bar.get_width() for bar in share.patches) > 0.25
    assert "3.7·10⁻⁵ not met" in words(figure)
    assert "0.660 not met" not in words(figure)


def test_met_tests_look_different(draw):
    figure = draw("wide", "logspace_loctests")
    bars = figure.axes[0].patches
    assert all(same_color(bar.get_facecolor(), style.MET) for bar in bars)
    assert not any(bar.get_hatch() for bar in bars)
    assert "0.404 met" in words(figure)


def test_a_test_without_a_statistic_is_a_dash(sources, tmp_path):
    made = made_up.Aggregates(tmp_path)
    made.locality()
    made.rows["locality"] = [
        row for row in made.rows["locality"] if not row["statistic"].startswith("t3")
    ]
    source = Aggregates(made.write(), made.config)
    with style.styled():
        figure = FIGURES["logspace_loctests"].draw(source, ())
    figure.draw_without_rendering()
    panel = next(axes for axes in figure.axes if axes.get_title().startswith("T3"))
    assert [t.get_text() for t in panel.child_axes[0].get_yticklabels()] == ["—", "—"]


def test_qualitative_names_the_best_arms(draw, sources):
    text = words(draw("paper", "qualitative"))
    for line in ("Main arm\nGB-LSR-Scalar", "Best PSNR\nGB-LSR-Full", "Best LPIPS\nGB-LSR-Fixed"):
        assert line in text
    assert "22.31 dB / 0.642" in text
    assert "kodim01" in text
    assert "Set14\nbaboon" in text


def test_best_arms_that_differ_are_named_in_the_tags(draw, sources):
    native = sources["demo"].cells("native")
    tags = words(draw("demo", "qualitative"))
    for column in sources["demo"].evaluate:
        best = max(sources["demo"].benchmark, key=lambda arm: native[column, arm, "psnr"].mean)
        name = sources["demo"].label(best)
        assert f"{name}\n{native[column, best, 'psnr'].mean:.2f} dB / —" in tags


def test_scales_beyond_training_are_shaded(draw):
    figure = draw("paper", "asr_psnr_vs_scale")
    for axes in figure.axes:
        (span,) = axes.patches
        assert span.get_x() == 5.0
        assert span.get_x() + span.get_width() == 8.5
    assert sum(bool(axes.containers) for axes in figure.axes) == 10
    assert {len(axes.containers) for axes in figure.axes} == {4}  # as in Tables 11 and 13 to 15
    titles = [axes.get_title() for axes in figure.axes[:5]]
    assert titles == ["Set5", "Set14", "B100", "Urban100", "DIV2Kval"]


def test_differences_are_to_the_base_method(draw, sources):
    figure = draw("paper", "asr_psnr_vs_scale")
    quality = sources["paper"].cells("asr_quality")
    lower = figure.axes[5 + 3]
    line = next(c.lines[0] for c in lower.containers if c.lines[0].get_marker() == "s")
    wanted = [
        quality["urban100", "lte_swinir", scale, "psnr_y"].mean
        - quality["urban100", "gblsr_asr", scale, "psnr_y"].mean
        for scale in ("2", "3", "4", "6", "8")
    ]
    assert line.get_ydata() == pytest.approx(wanted)


def test_measured_equal_to_published_lies_on_the_diagonal(draw):
    figure = draw("paper", "measured_vs_published")
    psnr = figure.axes[0]
    assert psnr.get_title() == "PSNR (dB)\n21/21, |Δ| 0"
    for line in psnr.lines:
        assert list(line.get_xdata()) == list(line.get_ydata())


def test_missing_cells_are_counted(draw):
    figure = draw("sparse", "measured_vs_published")
    assert figure.axes[0].get_title().startswith("PSNR (dB)\n3/21")
    assert "not measured" in words(figure)


# --- what is missing ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_asked_for_by_name_says_what_is_missing(name, tmp_path):
    (tmp_path / "aggregates").mkdir()
    source = Aggregates(tmp_path / "aggregates", load())
    with pytest.raises(UserError, match=str(tmp_path)):
        figures.render(name, source, tmp_path)
    assert not list(tmp_path.glob("*.p*"))


def test_all_draws_what_it_can_and_lists_the_rest(tmp_path, capsys):
    made = made_up.Aggregates(tmp_path)
    made.ablation()
    folder = made.write()
    assert main(["figures", "--aggregates", str(folder), "--output", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert str(tmp_path / "out" / "logspace_metrics.png") in lines
    skipped = {line.split()[1].rstrip(":") for line in lines if line.startswith("skipped")}
    assert skipped == set(NAMES) - {"logspace_metrics", "measured_vs_published"}
    assert any("native.csv does not exist" in line for line in lines)


def test_nothing_at_all_and_wrong_names_are_one_sentence(tmp_path, capsys):
    (tmp_path / "aggregates").mkdir()
    arguments = ["figures", "--aggregates", str(tmp_path / "aggregates"), "--output", str(tmp_path)]
    assert main(arguments) == 2
    assert "holds nothing that a figure can be drawn from" in capsys.readouterr().err
    assert main([*arguments, "--only", "fronteer"]) == 2
    assert "did you mean 'frontier'?" in capsys.readouterr().err


def test_a_missing_or_broken_picture_is_named(sources, tmp_path):
    source = sources["paper"]
    shutil.copytree(source.results, tmp_path / "run")
    picture = tmp_path / "run/native/exemplars/gblsr_full/seed0/set14.png"
    copy = Aggregates(tmp_path / "run/aggregates", source.config)
    picture.write_bytes(b"no picture")
    with pytest.raises(UserError, match=r"set14\.png is not a readable image"):
        figures.render("qualitative", copy, tmp_path)
    picture.unlink()
    with pytest.raises(UserError, match=r"set14\.png does not exist"):
        figures.render("qualitative", copy, tmp_path)


# --- notes and captions ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_papers_own_run_has_no_note_and_others_say_what_they_are(name):
    assert note(of_paper(), FIGURES[name].scopes) == []
    assert "Unlike in the paper" not in captions(name, of_paper())
    demo = made_up.demo_conditions(2)
    said = note(demo, FIGURES[name].scopes)
    assert said[0] == "preset demo"
    assert "Not the paper's experiment" in captions(name, demo)
    assert "conditions not recorded" in note(Conditions(), FIGURES[name].scopes)
    assert "not recorded" in captions(name, Conditions())


def test_a_half_that_was_not_run_is_no_unrecorded_one():
    run = replace(of_paper(), asr=None)
    assert note(run, FIGURES["measured_vs_published"].scopes) == []
    assert "not recorded" not in captions("measured_vs_published", run)


def test_a_note_is_one_line_and_says_what_it_leaves_out():
    words = [f"difference {k}" for k in range(20)]
    (text,) = style.new_figure(style.COLUMN_WIDTH, 2, words).texts
    assert text.get_text().startswith("difference 0 · difference 1 · ")
    assert text.get_text().endswith("more in the caption")
    assert text.get_window_extent().width <= style.COLUMN_WIDTH * text.figure.dpi


def test_different_single_seeds_have_no_error_bars():
    seeds = {"liif": [0], "wire": [1], "gblsr_scalar": [2]}
    native = replace(of_paper().native, seeds=seeds)
    caption = captions("per_dataset", replace(of_paper(), native=native))
    assert "One training seed, so there are no error bars" in caption


def test_a_figure_needs_a_folder_only(tmp_path: Path):
    made = made_up.Aggregates(tmp_path / "run")
    made.ablation()
    folder = made.write()
    assert not (folder / "conditions.json").exists()
    pdf, png = figures.render("logspace_metrics", Aggregates(folder, made.config), tmp_path)
    assert pdf.is_file()
    assert png.is_file()
