"""Every image of super-resolution is scored and timed by its rule, under recorded conditions."""

import sys

import made
import numpy as np
import pytest
import torch
from PIL import Image

from gblsr_repro import config as configuration
from gblsr_repro.config import find_method, tables
from gblsr_repro.data.fetch import fetch_dataset
from gblsr_repro.data.images import convert_to_rgb, convert_to_tensor
from gblsr_repro.data.sources import list_source_images
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation import asr, asr_latency, compute_border, exemplars, luma, timing
from gblsr_repro.files import compute_sha256
from gblsr_repro.models.asr.model import ASRModel


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    overlay = {
        "resources": str(tmp_path_factory.mktemp("resources")),
        "preset": "demo",
        "latency": {"warmup": 1, "passes": 2},
        "asr": {"timing": {"size_divisor": 8, "images_per_set": 2, "datasets": ["set14"]}},
    }
    found = configuration.merge(configuration.load(), configuration.merge(made.SMALL, overlay))
    found["asr"]["evaluate"] = {"set5": "demo_set5", "set14": "demo_set14"}
    found["asr"]["scales"] = [3, 6]
    found["asr"]["shave_extra"] = {"set14": 6}
    for dataset in found["asr"]["evaluate"].values():
        fetch_dataset(dataset, found)
    return found


@pytest.mark.parametrize(
    ("side", "said"),
    [(24, "black of set5 equals its upsampled image"), (12, "black has 12x12 pixels, and SSIM-Y")],
)
def test_an_image_that_cannot_be_scored_is_named(config, monkeypatch, tmp_path, side, said):
    black = np.zeros((side, side, 3), np.uint8)
    pair = asr.ImagePair("black", black[::3, ::3], black)
    monkeypatch.setattr(asr, "build_pair", lambda *_: pair)
    with pytest.raises(UserError, match=said):
        asr.score_set(asr.enlarge_bicubically, "set5", 3, config, tmp_path, {})


def test_every_set_and_scale_of_a_run_is_scored(config, tmp_path):
    run = made.run(tmp_path / "run", "gblsr_asr_nole", config)
    output = tmp_path / "metrics"
    method = find_method("gblsr_asr_nole")
    asr.evaluate_run(config, method, 0, run, output, tmp_path / "state")
    sets = ("demo_set5", "demo_set14")
    expected = {f"{d}_x{s}.{e}" for d in sets for s in (3, 6) for e in ("csv", "json")}
    assert {path.name for path in output.glob("[!.]*")} == expected
    rows = made.rows(output / "demo_set14_x3.csv")
    names = [image.name for image in list_source_images("demo_set14", config, 3)]
    assert [row["image"] for row in rows] == names
    assert all(0 < float(row["ssim_y"]) < 1 and 0 < float(row["psnr_y"]) < 60 for row in rows)
    shaved = {p.name: made.record(p)["shaved"] for p in output.glob("*.json")}
    assert shaved["demo_set14_x3.json"] == 9  # the scale and the column's own 6
    assert shaved["demo_set5_x6.json"] == 6
    assert compute_border("set5", 2.5, config) == 3
    record = made.record(output / "demo_set14_x3.json")
    assert record["datasets"][0]["stands_in_for"] == "set14"
    assert record["weights_sha256"] == compute_sha256(run / "weights.safetensors")


def test_scores_are_those_of_the_images_that_the_row_now_names(config, tmp_path, monkeypatch):
    """And not those that were kept of the set's other files."""
    rows, names = configuration.read_datasets(), []
    config = configuration.merge(config, {"resources": str(tmp_path), "asr": {}})
    config["asr"]["evaluate"] = {"own": "own"}
    for name in "ab":
        (tmp_path / name).mkdir()
        Image.fromarray(made.noise(60, 60, 3)).save(tmp_path / name / f"{name}.png")
    for files in (("a/*.png", "b/*.png"), ("b/*.png", "a/*.png")):
        own = made.changed(rows["demo_set5"], dataset="own", kind="files", urls=(), files=files)
        monkeypatch.setattr(tables, "read_datasets", lambda own=own: {**rows, "own": own})
        fetch_dataset("own", config)
        asr.evaluate_bicubic(config, tmp_path / "scores", tmp_path / "state")
        names += [row["image"] for row in made.rows(tmp_path / "scores" / "own_x3.csv")]
    assert names == ["a", "b"]


def test_pictures_are_of_the_named_image_as_it_is_scored(config, tmp_path):
    """Those of the run and of bicubic have, but for 8 bits, the scores of the CSV."""
    config = configuration.merge(config, {"asr": {"exemplars": {"demo_set14": "coffee"}}})
    config["asr"]["trained_scales"] = [3]
    run = made.run(tmp_path / "run", "gblsr_asr_nole", config, spread=0.1)
    asr.evaluate_run(config, find_method("gblsr_asr_nole"), 0, run, tmp_path, tmp_path / "state")
    asr.evaluate_bicubic(config, tmp_path / "bicubic", tmp_path / "state")
    exemplars.write_enlarged(config, [run], tmp_path / "pictures")
    files = {f"demo_{column}_x{scale}.png" for column in ("set5", "set14") for scale in (3, 6)}
    for name in ("ground_truth", "nearest", "bicubic", "gblsr_asr_nole"):
        assert {path.name for path in (tmp_path / "pictures" / name).iterdir()} == files
    for column, name in (("set14", "coffee"), ("set5", "chelsea")):
        (image,) = [i for i in list_source_images(f"demo_{column}", config, 3) if i.name == name]
        pair = asr.build_pair(image, 3, "matlab")
        shown = {
            folder.name: np.asarray(Image.open(folder / f"demo_{column}_x3.png"))
            for folder in (tmp_path / "pictures").iterdir()
        }
        high, low = convert_to_rgb(pair.high), convert_to_rgb(pair.low)
        np.testing.assert_array_equal(shown["ground_truth"], high)
        np.testing.assert_array_equal(shown["nearest"], low.repeat(3, 0).repeat(3, 1))
        for subject, folder in (("bicubic", tmp_path / "bicubic"), ("gblsr_asr_nole", tmp_path)):
            rows = {row["image"]: row for row in made.rows(folder / f"demo_{column}_x3.csv")}
            output = convert_to_tensor(shown[subject]) / 255
            border = compute_border(column, 3, config)
            score = luma.score_image(output, convert_to_tensor(pair.high), border)
            assert score.psnr_y == pytest.approx(float(rows[name]["psnr_y"]), abs=0.02)


# --- timing -------------------------------------------------------------------------------------


def test_every_image_is_timed_by_every_clock(config, tmp_path, monkeypatch):
    asked, render = set(), ASRModel.render

    def watch(model, images, height, width, tile, path=None):
        asked.add((height / images.shape[2], width / images.shape[3], tile, path))
        return render(model, images, height, width, tile, path)

    monkeypatch.setattr(ASRModel, "render", watch)
    asr_latency.time_method(config, find_method("gblsr_asr"), 0, tmp_path, tmp_path / "state")
    output = tmp_path / "demo_set14.csv"
    rows = made.rows(output)
    assert tuple(rows[0]) == asr_latency.ASR_LATENCY_COLUMNS
    images = list_source_images("demo_set14", config, 4)[:2]
    names = [image.name for image in images]
    sizes = [tuple(str(side // 8 // 4) for side in i.load().shape[:2]) for i in images]
    assert [(r["image"], r["clock"]) for r in rows] == [
        (name, clock) for clock in ("paper", "fast") for name in names
    ]
    assert all(float(row["mean_ms"]) > 0 for row in rows)
    assert [(r["height"], r["width"]) for r in rows[:2]] == sizes
    whole, parts = sys.maxsize, config["asr"]["tile_pixels"]
    assert asked == {(4, 4, whole, "plain"), (4, 4, parts, None)}
    record = made.record(output.with_suffix(".json"))
    assert record["sizes_only"] is False
    assert record["datasets"][0]["stands_in_for"] == "set14"
    assert record["gradients_recorded"] is True
    assert record["decoder_paths"] == {"paper": ["plain"], "fast": ["folded"]}
    assert record["not_timed"] == {}


def test_at_a_fractional_scale_an_image_is_timed_at_the_size_that_is_reported(config):
    settings = {"scale": 2.4, "size_divisor": 1}
    config = configuration.merge(config, {"asr": {"timing": settings}})
    for image in asr_latency.list_timed_images("demo_set5", config):
        low = image.load_low(config, torch.device("cpu"))
        assert low.shape[2:] == image.compute_low_size(settings)


def test_the_plain_path_saves_what_the_published_peaks_say(config):
    """Published peaks of Urban100 (MiB): linear in the bytes saved for 1280x960 pixels."""
    published = {"gblsr_asr": 43763.6, "gblsr_asr_nole": 28213.8, "gblsr_asr_nf96_nole": 30145.2,
                 "gblsr_asr_nf48_nole": 27261.7}  # fmt: skip
    low = torch.zeros(1, 3, 8, 8)
    for method, peak in published.items():
        model = ASRModel.build(find_method(method), configuration.load(), 0).eval()
        saved = timing.count_saved_bytes(
            lambda x, model=model: model.render(x, 32, 32, 1 << 20, "plain"), low, model
        )
        mebibytes = saved * (320 * 240 / 8**2) / 2**20
        assert 1.252 * mebibytes + 2300 == pytest.approx(peak, rel=0.02)


def test_absent_images_are_timed_blank_by_their_sizes(config, tmp_path):
    settings = configuration.merge(
        config, {"latency": {"clocks": ["fast"]}, "asr": {"timing": {"datasets": ["urban100"]}}}
    )
    asr_latency.time_method(settings, find_method("liif_rdn"), 0, tmp_path, tmp_path / "state")
    output = tmp_path / "urban100.csv"
    rows = made.rows(output)
    # img_001 is 1024x644; divided by 8 and by the scale of 4.
    assert (rows[0]["image"], rows[0]["height"], rows[0]["width"]) == ("img_001", "20", "32")
    record = made.record(output.with_suffix(".json"))
    assert record["sizes_only"] is True
    assert record["datasets"] == []


def test_the_sets_of_the_paper_are_timed_whole(config):
    settings = configuration.merge(config, {"asr": {"timing": {"images_per_set": None}}})
    for column, count in {"set14": 14, "b100": 100, "urban100": 100}.items():
        images = asr_latency.list_timed_images(column, settings)
        assert len(images) == count
        assert all(image.source is None for image in images)
    with pytest.raises(UserError, match=r"sizes\.tsv"):
        asr_latency.list_timed_images("kodak", config)
