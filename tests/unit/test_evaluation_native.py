"""A run is evaluated, timed and shown image by image with the numbers of its own images."""

import made
import numpy as np
import pytest
import torch
from PIL import Image

from gblsr_repro import cli
from gblsr_repro import config as configuration
from gblsr_repro.data.arrays import ImageArray
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation import (
    exemplars,
    fields,
    locality,
    metrics,
    native,
    native_latency,
    regions,
)
from gblsr_repro.evaluation.perceptual import PerceptualDistance
from gblsr_repro.models.native import NativeModel
from gblsr_repro.runs import load_run
from gblsr_repro.runtime import prepare_for_inference

SIZE = 64
CPU = torch.device("cpu")
ARM = "gblsr_full"
COUNTS = {"kodak": 2, "set14": 11, "validation": 5}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a config, arrays, region thresholds and one untrained run of `ARM`."""
    root = tmp_path_factory.mktemp("native")
    overlay = {
        "resources": str(root / "resources"),
        "native": {
            "data": {
                "image_size": SIZE,
                "evaluate": {"urban100": None},
                "exemplars": {"kodak": "kodak_1", "set14": "set14_0"},
            },
            "model": {"features": 8, "hidden": 8},
            "metrics": {"region_patches": 10},
        },
        "latency": {"warmup": 1, "passes": 2, "images_per_set": 1},
        "diagnostics": {"images": 4},
    }
    small = {name: made.SMALL[name] for name in ("device", "threads")}
    config = configuration.merge(configuration.load(), small | overlay)
    configuration.write_resolved(config, root / "config.yaml")
    random = np.random.default_rng(0)
    for name, count in COUNTS.items():
        coarse = random.integers(0, 256, (count, 8, 8, 3), dtype=np.uint8)
        made.array(root / f"{name}.npy", coarse.repeat(SIZE // 8, 1).repeat(SIZE // 8, 2))
    made.run(root / "run", ARM, config, seed=3, spread=0.3)
    return root


def command(place, verb, *options):
    return cli.main(["native", verb, "--config", str(place / "config.yaml"), *map(str, options)])


@pytest.fixture(scope="module")
def thresholds(place):
    output = place / "validation_regions.json"
    assert command(place, "regions", "--array", place / "validation.npy", "--output", output) == 0
    return regions.RegionThresholds.read(output)


@pytest.fixture(scope="module")
def evaluated(place, thresholds):
    run = ["--arm", ARM, "--seed", 3, "--run", place / "run", "--arrays", place]
    written = ["--output", place / "metrics", "--state", place / "state"]
    assert command(place, "evaluate", *run, *written) == 0
    return place / "metrics"


def config_at(place):
    return configuration.load([place / "config.yaml"])


@pytest.fixture(scope="module")
def model(place):
    return prepare_for_inference(load_run(place / "run", NativeModel, config_at(place)), CPU)


def test_every_image_has_a_row_with_its_own_numbers(place, model, evaluated, thresholds):
    settings = metrics.MetricConstants.from_config(config_at(place))
    perceptual = PerceptualDistance()
    assert thresholds.patches == 10  # of three images, each of four
    for name, count in (COUNTS | {"validation": 4}).items():
        rows = made.rows(evaluated / f"{name}.csv")
        assert [row["image"] for row in rows] == [f"{name}_{i}" for i in range(count)]
        assert tuple(rows[0]) == native.SCORE_COLUMNS
        arrays = ImageArray.open(place / f"{name}.npy")
        for i, row in enumerate(rows):
            truth = arrays.load_images([i])
            with torch.no_grad():
                images = model(truth).clamp(0, 1)
            psnr = metrics.compute_psnr(images, truth, settings).item()
            assert float(row["psnr"]) == pytest.approx(psnr, rel=1e-5)
            distance = perceptual.measure_lpips(images, truth).item()
            assert float(row["lpips"]) == pytest.approx(distance, rel=1e-4)
            mask = metrics.compute_edge_mask(truth, settings)
            distance = perceptual.measure_edge_lpips(images, truth, mask).item()
            assert float(row["edge_lpips"]) == pytest.approx(distance, rel=1e-4)
            labels = regions.label_patches(truth, thresholds, settings)[0]
            patch = metrics.compute_patch_ssim(images, truth, settings)[0]
            for code, region in enumerate(metrics.REGIONS):
                cell, part = row[f"ssim_{region}"], patch[labels == code]
                assert (cell == "") == (part.numel() == 0)
                if cell:
                    assert float(cell) == pytest.approx(part.mean().item(), rel=1e-4, abs=1e-6)


def test_what_was_measured_from_the_same_is_kept(place, evaluated, monkeypatch):
    """And what was measured from other images is not, nor lost."""
    run = ["--arm", ARM, "--seed", 3, "--run", place / "run", "--arrays", place]
    words = ["evaluate", *run, "--output", evaluated, "--state", place / "state"]
    table = evaluated / "kodak.csv"
    before = table.read_bytes()
    measured, score_image = [], native.score_image

    def note(*given):
        measured.append(given)
        return score_image(*given)

    monkeypatch.setattr(native, "score_image", note)

    def evaluate(array):
        table.unlink()
        made.array(place / "kodak.npy", array)
        assert command(place, *words, "--only", "kodak") == 0

    images = ImageArray.open(place / "kodak.npy").images.copy()
    evaluate(255 - images)
    assert len(measured) == COUNTS["kodak"]
    assert table.read_bytes() != before
    monkeypatch.setattr(torch, "get_num_threads", lambda: 7)
    evaluate(images)
    assert len(measured) == COUNTS["kodak"]
    assert table.read_bytes() == before


def test_exemplars_are_the_named_images(place, model):
    output = place / "exemplars"
    words = ["--runs", place / "run", "--arrays", place, "--output", output]
    assert command(place, "exemplars", *words) == 0
    for name, position in {"kodak": 1, "set14": 0}.items():
        arrays = ImageArray.open(place / f"{name}.npy")
        shown = np.asarray(Image.open(output / "ground_truth" / f"{name}.png"))
        np.testing.assert_array_equal(shown, arrays.images[position])
        with torch.no_grad():
            image = model(arrays.load_images([position]))[0].clamp(0, 1)
        drawn = np.asarray(Image.open(output / ARM / f"{name}.png"))
        np.testing.assert_allclose(drawn, 255 * image.permute(1, 2, 0), atol=0.51)


def test_exemplar_that_the_set_lacks_is_one_sentence(place):
    config = config_at(place)
    config["native"]["data"]["exemplars"] = {"kodak": "kodim01"}
    with pytest.raises(UserError, match=r"exemplars\.kodak is 'kodim01', which is no image"):
        exemplars.write_exemplars(config, [], place, place / "never")
    assert not (place / "never").exists()


def test_another_run_is_refused(place, thresholds, capsys):
    code = command(
        place, "evaluate", "--arm", ARM, "--seed", 4, "--run", place / "run",
        "--arrays", place, "--output", place / "never", "--state", place / "never",
    )  # fmt: skip
    assert code == 2
    assert f"holds {ARM}, seed 3, not {ARM}, seed 4; name" in capsys.readouterr().err
    assert not (place / "never").exists()


def test_fields_are_the_models_for_the_first_images(place, model, thresholds):
    code = command(
        place, "fields", "--runs", place / "run", "--array", place / "validation.npy",
        "--regions", place / "validation_regions.json", "--output", place / "fields",
    )  # fmt: skip
    assert code == 0
    output, config = place / "fields" / ARM / "seed3.npz", config_at(place)
    stored = fields.BandwidthFields.read(output)
    assert stored.names.tolist() == [f"validation_{i}" for i in range(4)]
    kinds = [str(values.dtype) for values in (stored.bandwidth, stored.order, stored.region)]
    assert kinds == ["float32", "float32", "int8"]
    images = ImageArray.open(place / "validation.npy").load_images(slice(0, 4))
    with torch.no_grad():
        bandwidth, order = model.decoder.predict_fields(model.encode(images))
    np.testing.assert_allclose(stored.bandwidth, bandwidth, rtol=1e-5)
    np.testing.assert_allclose(stored.order, order, rtol=1e-5)
    labels = regions.label_patches(images, thresholds, metrics.MetricConstants.from_config(config))
    np.testing.assert_array_equal(stored.region, labels)
    found = locality.compute_statistics_of_file(output, config)
    assert found["var_within"] > 0
    with pytest.raises(UserError, match="does not exist; run the fields step"):
        fields.BandwidthFields.read(place / "none.npz")


def test_latency_has_a_row_per_image_and_clock(place):
    output = place / "latency"
    words = ["--arm", ARM, "--seed", 0, "--arrays", place, "--output", output]
    words += ["--state", place / "state"]
    assert command(place, "latency", *words) == 0
    for dataset in ("kodak", "set14"):
        rows = made.rows(output / f"{dataset}.csv")
        assert tuple(rows[0]) == native_latency.LATENCY_COLUMNS
        assert [(r["dataset"], r["image"], r["clock"]) for r in rows] == [
            (dataset, f"{dataset}_0", clock) for clock in ("paper", "fast")
        ]
        assert all(float(row["median_ms"]) > 0 and row["timed_passes"] == "2" for row in rows)
        record = made.record(output / f"{dataset}.json")
        assert (record["arm"], record["seed"]) == (ARM, 0)
        assert record["gradients_recorded"] is False
        assert record["decoder_paths"] == {"paper": ["plain"], "fast": ["fast"]}
        assert record["not_timed"] == {}
