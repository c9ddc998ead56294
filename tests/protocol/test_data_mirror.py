"""The mirror's super-resolution sets, as their publisher made them."""

import made
import numpy as np
import pytest
import torch
from PIL import Image

from gblsr_repro.data import fetch, manifest, pins, sources
from gblsr_repro.data.__main__ import renew_pins
from gblsr_repro.evaluation import asr_latency

SETS = ("set5", "set14", "b100", "urban100")


def test_manifests_agree_with_the_mirrors_own(shared, mirrored):
    listed = {row["path"]: row for row in made.rows(shared / "data" / "MANIFEST.csv")}
    for dataset in ("set5", "set14"):
        for path, entry in manifest.read_manifest(fetch.fetch_dataset(dataset, mirrored)).items():
            row = listed[path]
            assert entry.sha256 == row["sha256"]
            found = (entry.bytes, entry.width, entry.height, entry.mode)
            assert [str(value) for value in found] == [
                row[key] for key in ("bytes", "width", "height", "mode")
            ]


@pytest.mark.parametrize("dataset", [*SETS, "kodak", "urban100_center256"])
def test_every_image_has_the_pixels_of_its_row(dataset, mirrored):
    assert sources.list_read_images(dataset, mirrored).keys() <= pins.read_pins().keys()
    assert sources.find_other_pixels(dataset, mirrored) == []


def test_the_command_for_checksums_of_pixels_writes_the_rows_that_are_there(
    shared, repository, tmp_path, monkeypatch
):
    table = repository / "config" / "pixels.tsv"
    lines = table.read_text().splitlines(keepends=True)
    kept = [line for line in lines if "/Set5/" not in line and "/BSD100/image_SRF_3/" not in line]
    assert len(lines) - len(kept) == 15 + 100
    copy = tmp_path / "pixels.tsv"
    copy.write_text("".join(kept))
    monkeypatch.setattr(pins, "_locate_table", lambda: copy)
    pins.read_pins.cache_clear()
    renew_pins(str(shared / "data"), ["set5", "b100"])
    pins.read_pins.cache_clear()
    assert copy.read_text() == table.read_text()


@pytest.mark.parametrize("dataset", ["set5", "set14"])
@pytest.mark.parametrize("scale", [2, 3, 4])
def test_each_published_scale_has_its_own_images(dataset, scale, shared, mirrored):
    images = sources.list_source_images(dataset, mirrored, scale)
    folder = shared / "data/selfexsr/data" / dataset.title() / f"image_SRF_{scale}"
    files = sorted(folder.glob("*_HR.png"))
    assert [image.name for image in images] == [path.name[:7] for path in files]
    for image, path in zip(images, files, strict=True):
        np.testing.assert_array_equal(image.load(), np.asarray(Image.open(path)))


@pytest.mark.parametrize("dataset", SETS)
@pytest.mark.parametrize("scale", [3.3, 6, 8])
def test_unpublished_scales_use_the_largest_image(dataset, scale, mirrored):
    images = sources.list_source_images(dataset, mirrored, scale)
    assert [image.file for image in images] == made.located(dataset, mirrored)
    assert not any(image.extra_line for image in images)


def test_the_one_gray_image_stays_gray(mirrored):
    shapes = {
        image.name: image.load().ndim for image in sources.list_source_images("set14", mirrored, 2)
    }
    assert [name for name, dimensions in shapes.items() if dimensions == 2] == ["img_003"]


@pytest.mark.parametrize("scale", [2, 3, 4])
def test_urban100_uses_its_whole_images(scale, mirrored):
    images = sources.list_source_images("urban100", mirrored, scale)
    assert len(images) == 30
    assert all(image.file.name.endswith("SRF_4_HR.png") for image in images)
    assert images[0].load().shape == (644, 1024, 3)


def test_b100_at_three_has_one_more_line(shared, mirrored):
    lines = np.asarray(Image.open(shared / "data/selfexsr/data/BSD100/srf3_hr_extra_line.png"))
    double = sources.list_source_images("b100", mirrored, 2)
    triple = sources.list_source_images("b100", mirrored, 3)
    assert len(triple) == 100
    assert {image.load().shape for image in triple} == {(321, 480, 3), (480, 321, 3)}
    for number, (two, three) in enumerate(zip(double, triple, strict=True)):
        small, large = two.load(), three.load()
        assert two.name == three.name == f"img_{number + 1:03d}"
        height, width = small.shape[:2]
        np.testing.assert_array_equal(large[:height, :width], small)
        added = large[-1] if width == 480 else large[:, -1]
        np.testing.assert_array_equal(added, lines[number])


def test_sizes_of_a_mirror_are_those_of_the_table(mirrored):
    for dataset in ("set14", "urban100"):
        for image in asr_latency.list_timed_images(dataset, mirrored):
            if image.source is not None:
                low = image.load_low(mirrored, torch.device("cpu"))
                assert tuple(low.shape[2:]) == (image.height // 4, image.width // 4)
                assert image.source.load().shape[0] in range(
                    image.height // 4 * 4, image.height + 1
                )
