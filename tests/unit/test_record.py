"""A record keeps the values of every seed, grows run by run, and says what follows from them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

import made
import numpy as np
import pytest
from job_files import SCORES, TIMES, leave_run, leave_table
from pandas.testing import assert_frame_equal
from PIL import Image
from scipy import stats

from gblsr_repro.analysis import aggregate
from gblsr_repro.analysis.claims.verdicts import read_claims
from gblsr_repro.analysis.reader import Aggregates
from gblsr_repro.cli import main
from gblsr_repro.config import complete, find_repository_root, load, merge, validate
from gblsr_repro.errors import UserError
from gblsr_repro.files import write_json
from gblsr_repro.record import restoring, writing
from gblsr_repro.record.page import Part
from gblsr_repro.record.sources import collect_sources
from gblsr_repro.record.values import add_tables, collect_tables
from gblsr_repro.reporting.items import select_items

RECORD = find_repository_root() / "docs" / "record"
SETS = ("kodak", "set14", "urban100")
ARMS = ("gblsr_scalar", "gblsr_fixed", "liif")
WITHOUT_LPIPS = ("a,25,0.5,,0.3,4,", "b,26,0.7,,0.4,6,")
TRAINED_ON = [{"dataset": "dtd", "title": "DTD", "images": 3, "expected": 9, "complete": False}]
DEVICE = {"name": "Some CPU"}


def build_config(**changes: object) -> dict:
    overlay = {
        "preset": "mirror",
        "mirror": "/home/someone/images",
        "seeds": [0, 1],
        "native": {"arms": [*ARMS], "training": {"steps": 40}},
    }
    return validate(merge(merge(load(), overlay), changes))


def measure_native(
    results: Path, seeds: Sequence[int], psnr: float = 20.0, arms: Sequence[str] = ARMS
) -> None:
    """Leave runs, scores and times of some arms, as the workflow does."""
    for place, arm in enumerate(arms):
        for seed in seeds:
            git = {"commit": f"c0ffee{seed}", "modified": False}
            leave_run(results, arm, seed, build_config(), device=DEVICE, git=git)
            about = {"arm": arm, "seed": seed}
            value = psnr - place + 0.1 * seed
            rows = (f"a,{value},0.5,0.6,0.3,4.0,", f"b,{value + 1},0.7,0.8,0.4,6.0,")
            for column in (*SETS, "validation"):
                scores = results / f"native/metrics/{arm}/seed{seed}/{column}.csv"
                leave_table(scores, SCORES, *rows, **about)
            rows = (f"kodak,a,{clock},2,{2 + place},0,3,4,100,50" for clock in ("paper", "fast"))
            times = results / f"native/latency/{arm}/seed{seed}/kodak.csv"
            leave_table(times, TIMES, *rows, **about, device=DEVICE)
    write_json(results / "native/arrays/train.json", {"datasets": TRAINED_ON})


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a run with seed 0, and its record beside them."""
    folder = tmp_path_factory.mktemp("record") / "results"
    measure_native(folder, seeds=[0])
    (folder / "native/runs/liif/seed0/weights.safetensors").write_bytes(b"large")
    (folder / "figures").mkdir()
    for name in ("qualitative", "frontier"):
        Image.linear_gradient("L").resize((2400, 600)).save(folder / "figures" / f"{name}.png")
    writing.update(folder, folder.with_name("record"), build_config(seeds=[0]), "main")
    return folder.parent


def draw_no_figures(patch: pytest.MonkeyPatch) -> None:
    """Leave the figures of a record as they are; to draw them takes longer than all else."""

    def name_possible(part: Part, output: Path, drawn: Collection[str]) -> set[str]:
        items = select_items("figure", part.source.config)
        possible = {n for n, item in items.items() if all(map(part.source.has, item.needs))}
        return possible - {*drawn}

    patch.setattr(writing, "draw_figures", name_possible)


@pytest.fixture(scope="module")
def grown(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same record after a second machine added seed 1, and the results of both beside it."""
    folder = tmp_path_factory.mktemp("grown")
    shutil.copytree(measured / "record", folder / "record")
    measure_native(folder / "other", seeds=[1])
    with pytest.MonkeyPatch.context() as patch:
        draw_no_figures(patch)
        writing.update(folder / "other", folder / "record", build_config(seeds=[1]), "main")
    measure_native(folder / "results", seeds=[0, 1])
    return folder


@pytest.fixture
def results(measured: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(measured / "results", tmp_path / "results"))


@pytest.fixture
def record(measured: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(measured / "record", tmp_path / "record"))


def find_line(record: Path, file: str, **keys: str) -> dict[str, str]:
    (line,) = [line for line in made.rows(record / file) if keys.items() <= line.items()]
    return line


def find_value(record: Path, aggregate: str, **keys: str) -> float:
    return float(find_line(record, "values.csv", aggregate=aggregate, **keys)["value"])


# --- one run --------------------------------------------------------------------------------------


def test_holds_what_was_measured_and_not_where(measured: Path) -> None:
    record = measured / "record"
    files = {str(path.relative_to(record)) for path in record.rglob("*") if path.is_file()}
    assert {"README.md", "values.csv", "runs.csv", "claims.csv"} <= files
    assert {"provenance.json", "overlays/main.yaml", "figures/frontier.png"} <= files
    assert not any("weights" in name or "sha256" in name for name in files)
    assert not any(b"someone" in (record / name).read_bytes() for name in files)
    assert {path.name for path in measured.iterdir()} == {"results", "record"}

    on_kodak = partial(find_value, record, "native", dataset="kodak", seed="0")
    assert on_kodak(arm="gblsr_scalar", metric="psnr") == pytest.approx(20.5)
    assert on_kodak(arm="gblsr_scalar", metric="lpips") == pytest.approx(0.7)
    assert on_kodak(arm="liif", metric="inference_ms") == 4.0
    assert find_line(record, "runs.csv", arm="liif")["commit"] == "c0ffee0"

    page = (record / "README.md").read_text(encoding="utf-8")
    assert "| Scalar | 1 | 20.500\N{NO-BREAK SPACE}/\N{NO-BREAK SPACE}22.312 |" in page
    assert "steps: 40 (paper: 2,000)" in page
    assert "trained on 3 of 9 images of DTD" in page
    assert "--configfile docs/record/overlays/main.yaml --config mirror=FOLDER -- native" in page


def test_figures_are_drawn_from_values_and_pictures_copied(record: Path) -> None:
    with Image.open(record / "figures" / "qualitative.png") as image:
        assert (image.mode, image.size) == ("RGB", (1200, 300))  # of the run's own file, smaller
    with Image.open(record / "figures" / "frontier.png") as image:
        assert image.size != (1200, 300)  # of the values


def test_values_make_the_same_aggregates(grown: Path) -> None:
    config = build_config()
    restored = restoring.restore(grown / "record", "main")
    for name in ("native", "ablation", "runs"):
        aggregate.write_all([name], grown / "results", config, grown / "aggregates")
        one, other = (
            run.frame(name).sort_values([*run.frame(name)], ignore_index=True)
            for run in (Aggregates(grown / "aggregates", config), restored)
        )
        assert_frame_equal(one, other, check_dtype=False, check_exact=True)
    assert restored.cell("native", "kodak", "liif", "psnr").n == 2


def test_the_overlay_makes_the_same_config() -> None:
    config = build_config(native={"data": {"evaluate": {"set14": None}}})
    overlay = writing.build_overlay(config)
    assert overlay["native"]["data"]["evaluate"] == {"set14": None}
    completed = complete(overlay)
    assert completed == config | {name: completed[name] for name in writing.LOCAL}


def test_of_released_weights_the_name_is_kept_and_not_the_folder(tmp_path: Path) -> None:
    named = {"liif": "/home/someone/weights.pth", "gblsr_fixed": "hf://authors/released"}
    config = build_config(released=named, seeds=[0])
    expected = named | {"liif": "weights.pth"}
    assert writing.build_overlay(config)["released"] == expected
    measure_native(tmp_path, seeds=[0])
    for arm, address in named.items():
        origin = {"by": "the authors", "address": address}
        identity = {"released": {arm: address}}
        leave_run(tmp_path, arm, released=origin, identity=identity)
    sources = collect_sources(tmp_path, config)
    for arm, address in expected.items():
        run = sources[f"native/runs/{arm}/seed0/run.json"]
        assert run["released"]["address"] == run["identity"]["released"][arm] == address


# --- more runs ------------------------------------------------------------------------------------


def test_a_second_machine_adds_its_seeds(grown: Path) -> None:
    record = grown / "record"
    page = (record / "README.md").read_text(encoding="utf-8")
    p = stats.ttest_ind_from_stats(20.55, 0.1 / 2**0.5, 2, 22.312, 0.204, 3).pvalue
    pair = "20.550 ± 0.071 / 22.312".replace(" ", "\N{NO-BREAK SPACE}")
    assert f"| Scalar | 2 | {pair} | {p:.3f} |" in page
    assert {row["commit"] for row in made.rows(record / "runs.csv")} == {"c0ffee0", "c0ffee1"}
    conditions = {row.differences for row in read_claims(record / "claims.csv") if row.differences}
    assert any("seeds: 0, 1" in text for text in conditions)


def test_what_a_later_run_leaves_out_is_still_compared(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_no_figures(monkeypatch)
    evaluate = {"set14": None, "urban100": None}
    changes = {"arms": ["liif"], "data": {"evaluate": evaluate}, "training": {"steps": 2000}}
    config = build_config(native=changes)
    measure_native(tmp_path / "other", seeds=[0], arms=["liif"])
    leave_run(tmp_path / "other", "liif", 0, config)
    writing.update(tmp_path / "other", record, config, "main")
    (claim,) = (row for row in read_claims(record / "claims.csv") if row.id == "fixed_psnr_loss")
    assert "steps of Fixed and Scalar: 40 (paper: 2,000)" in claim.differences
    assert "| Fixed | 1 | 19.5" in (record / "README.md").read_text(encoding="utf-8")


def test_a_run_measured_again_replaces_its_values_whole(record: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    measure_native(again, seeds=[0], psnr=25.0)
    leave_table(again / "native/metrics/liif/seed0/kodak.csv", SCORES, *WITHOUT_LPIPS)
    before = made.rows(record / "values.csv")
    add_tables(record, collect_tables(again, build_config(), "main"))
    after = made.rows(record / "values.csv")
    scalar = find_value(record, "native", dataset="kodak", arm="gblsr_scalar", metric="psnr")
    assert scalar == pytest.approx(25.5)
    lost = {key(line) for line in before} - {key(line) for line in after}
    assert lost == {("native", "kodak", "liif", "lpips")}


def test_times_measured_alone_leave_the_scores(record: Path, tmp_path: Path) -> None:
    leave_table(
        tmp_path / "native/latency/liif/seed0/kodak.csv",
        TIMES,
        "kodak,a,paper,2,9,0,3,4,100,50",
        arm="liif",
        seed=0,
        device=DEVICE,
    )
    before = made.rows(record / "values.csv")
    add_tables(record, collect_tables(tmp_path, build_config(), "main"))
    after = made.rows(record / "values.csv")
    find = partial(find_value, record, "native", dataset="kodak", arm="liif")
    assert find(metric="inference_ms") == 9
    lost = {key(line) for line in before} - {key(line) for line in after}
    assert lost == {("native", "kodak", "liif", "fast_ms")}


def key(line: dict[str, str]) -> tuple[str, ...]:
    return tuple(line[name] for name in ("aggregate", "dataset", "arm", "metric"))


def test_other_conditions_stand_beside_and_are_not_judged(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_no_figures(monkeypatch)
    claims = (record / "claims.csv").read_bytes()
    other = tmp_path / "other"
    measure_native(other, seeds=[0], psnr=25.0)
    writing.update(other, record, build_config(), "fewer_pixels")
    assert (record / "claims.csv").read_bytes() == claims
    page = (record / "README.md").read_text(encoding="utf-8")
    assert "| Scalar (fewer_pixels) | 1 | 25.500\N{NO-BREAK SPACE}/" in page


def test_a_figure_has_the_conditions_of_the_setup_that_it_is_drawn_from(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here of one with times, beside a main setup that has scores alone."""
    values = record / "values.csv"
    values.write_text(re.sub(r".*,(inference|fast)_ms,.*\n", "", values.read_text()))
    sources = record / "provenance.json"
    sources.write_text(re.sub(r'"native/latency/.*\n', "", sources.read_text()))
    (record / "figures" / "infcost.png").touch()
    timed = {"infcost"}
    monkeypatch.setattr(
        writing, "draw_figures", lambda part, *_: timed if part.setup == "timed" else set()
    )
    measure_native(tmp_path / "timed", seeds=[0])
    writing.update(tmp_path / "timed", record, build_config(seeds=[0]), "timed")
    page = (record / "README.md").read_text(encoding="utf-8")
    assert re.search(r"\| Timed on Some CPU, .* \| Figure 7 \|", page)


def test_bicubic_alone_is_measured_again_by_the_target_of_its_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_no_figures(monkeypatch)
    scores = tmp_path / "results/asr/metrics/bicubic/set5_x2.csv"
    leave_table(scores, "image,psnr_y,ssim_y", "a,33,0.9", shaved=2)
    writing.update(tmp_path / "results", tmp_path / "record", build_config(), "main")
    page = (tmp_path / "record" / "README.md").read_text(encoding="utf-8")
    assert "--config mirror=FOLDER -- asr_eval\n" in page


# --- refusals -------------------------------------------------------------------------------------


def test_a_damaged_score_is_named_and_the_record_stays(results: Path, record: Path) -> None:
    before = {path: path.read_bytes() for path in record.rglob("*") if path.is_file()}
    scores = results / "native/metrics/liif/seed0/kodak.csv"
    scores.write_text(scores.read_text().replace("0.5", "0,5"))
    with pytest.raises(UserError, match=r"kodak\.csv has a row of more or fewer cells"):
        writing.update(results, record, build_config(), "main")
    assert before == {path: path.read_bytes() for path in record.rglob("*") if path.is_file()}


def test_a_record_without_its_values_is_not_emptied(record: Path) -> None:
    (record / "values.csv").unlink()
    page = (record / "README.md").read_bytes()
    with pytest.raises(UserError, match=f"^{record / 'values.csv'} does not exist"):
        writing.rebuild(record)
    assert (record / "README.md").read_bytes() == page


def test_runs_that_were_added_meanwhile_are_not_lost(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by two trainings that end at once: the later to finish says so, and can be repeated."""
    draw_no_figures(monkeypatch)
    runs = {seed: tmp_path / f"seed{seed}" for seed in (1, 2)}
    for seed, folder in runs.items():
        measure_native(folder, seeds=[seed])
    derive = writing.derive_files

    def add_another(folder: Path, *pictures: Path | None) -> None:
        monkeypatch.setattr(writing, "derive_files", derive)
        writing.update(runs[2], record, build_config(seeds=[2]), "main")
        derive(folder, *pictures)

    monkeypatch.setattr(writing, "derive_files", add_another)
    with pytest.raises(UserError, match=r"changed meanwhile; run the same command again"):
        writing.update(runs[1], record, build_config(seeds=[1]), "main")
    assert {row["seed"] for row in made.rows(record / "runs.csv")} == {"0", "2"}
    writing.update(runs[1], record, build_config(seeds=[1]), "main")
    assert {row["seed"] for row in made.rows(record / "runs.csv")} == {"0", "1", "2"}


@pytest.mark.parametrize(
    ("output", "setup", "complaint"),
    [("results", "main", "is no record"), ("record", "../main", "must be a name")],
)
def test_no_other_folder_is_written_to(
    output: str, setup: str, complaint: str, results: Path, record: Path, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=complaint):
        writing.update(results, tmp_path / output, build_config(), setup)


@pytest.mark.parametrize(
    ("option", "complaint"), [([], "no numbers"), (["--rebuild"], "no record")]
)
def test_an_empty_folder_is_one_sentence(
    option: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["record", "--results", str(tmp_path), "--output", str(tmp_path / "x"), *option]
    assert main(words) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


# --- the record of this project -------------------------------------------------------------------


def test_claims_and_page_follow_from_the_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_no_figures(monkeypatch)
    copy = tmp_path / "record"
    shutil.copytree(RECORD, copy)
    monkeypatch.chdir(copy)
    assert main(["record", "--rebuild", "--output", "."]) == 0
    for name in ("claims.csv", "README.md"):
        same = read_rounded(copy / name) == read_rounded(RECORD / name)
        assert same, f"{name}: run gblsr-repro record --rebuild --output docs/record"


def read_rounded(path: Path) -> str:
    """Read a file without the last digits of its numbers, which depend on the version of pandas."""
    return re.sub(r"(\.\d{9})\d+", r"\1", path.read_text("utf-8"))


def test_the_count_by_arm_is_that_of_t_tests_on_the_seeds() -> None:
    """Seeds of values.csv against the printed means and deviations, with scipy's own t-test."""
    margins = {"psnr": 0.5, "ssim": 0.015, "lpips": 0.02, "edge_lpips": 0.02, "lse": 0.25}
    seeds: dict[tuple[str, ...], list[float]] = {}
    for line in made.rows(RECORD / "values.csv"):
        if (line["setup"], line["aggregate"]) == ("main", "native"):
            key = (line["dataset"], line["arm"], line["metric"])
            seeds.setdefault(key, []).append(float(line["value"]))
    counts: dict[str, list[int]] = {}
    for line in made.rows(find_repository_root() / "config" / "paper" / "native.csv"):
        own = seeds.get((line["dataset"], line["arm"], line["metric"]), [])
        if line["metric"] in margins and own:
            here = (np.mean(own), np.std(own, ddof=1), len(own))
            theirs = (float(line["mean"]), float(line["std"]), int(line["n"]))
            margin = margins[line["metric"]]
            not_lower, not_higher, differs = (
                stats.ttest_ind_from_stats(
                    theirs[0] + shift, *theirs[1:], *here, alternative=side
                ).pvalue
                < 0.05
                for shift, side in ((-margin, "less"), (margin, "greater"), (0, "two-sided"))
            )
            same = not_lower and not_higher
            found = 0 if same else 2 if differs else 1
            counts.setdefault(line["arm"], [0, 0, 0])[found] += 1
    page = (RECORD / "README.md").read_text("utf-8")
    table = page.partition("## Published scores by arm")[2].partition("##")[0]
    shown = [tuple(map(int, row)) for row in re.findall(r"\| (\d+) \| (\d+) \| (\d+) \|", table)]
    assert sorted(shown[: len(counts)]) == sorted(map(tuple, counts.values()))


def test_every_score_names_a_run_and_its_commit() -> None:
    runs = {(row["setup"], row["arm"], row["seed"]) for row in made.rows(RECORD / "runs.csv")}
    assert all(row["commit"] for row in made.rows(RECORD / "runs.csv"))
    scored = {
        (line["setup"], line["arm"] or line["method"], line["seed"])
        for line in made.rows(RECORD / "values.csv")
        if line["aggregate"] != "asr_latency" and line["method"] != "bicubic"
    }
    assert scored <= runs
    overlays = {path.stem for path in (RECORD / "overlays").glob("*.yaml")}
    assert {row[0] for row in runs} <= overlays == made.record(RECORD / "provenance.json").keys()
