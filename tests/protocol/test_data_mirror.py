"""The mirror's super-resolution sets, as their publisher made them."""

import csv

import made
import numpy as np
import pytest
from PIL import Image

from gblsr_repro.config import load, merge
from gblsr_repro.data import datasets, fetch, sources

SETS = ("set5", "set14", "b100", "urban100")
FOLDERS = {"set5": "Set5", "set14": "Set14", "b100": "BSD100", "urban100": "Urban100"}


@pytest.fixture(scope="module")
def config(shared, tmp_path_factory):
    local = {
        "mirror": str(shared / "data"),
        "resources": str(tmp_path_factory.mktemp("resources")),
        "accept_partial": ["urban100"],
    }
    whole = merge(load(), local)
    for dataset in SETS:
        fetch.fetch(dataset, whole)
    return whole


def folder(shared, dataset, scale):
    return shared / "data" / "selfexsr" / "data" / FOLDERS[dataset] / f"image_SRF_{scale}"


def test_manifests_agree_with_the_mirrors_own(shared, config):
    with (shared / "data" / "MANIFEST.csv").open(newline="") as stream:
        listed = {row["path"]: row for row in csv.DictReader(stream)}
    for dataset in SETS:
        for path, entry in datasets.read_manifest(fetch.fetch(dataset, config)).items():
            row = listed[path]
            assert entry.sha256 == row["sha256"]
            found = (entry.bytes, entry.width, entry.height, entry.mode)
            assert [str(value) for value in found] == [
                row[key] for key in ("bytes", "width", "height", "mode")
            ]


@pytest.mark.parametrize("dataset", ["set5", "set14"])
@pytest.mark.parametrize("scale", [2, 3, 4])
def test_each_published_scale_has_its_own_images(dataset, scale, shared, config):
    images = sources.sources(dataset, config, scale)
    files = sorted(folder(shared, dataset, scale).glob("*_HR.png"))
    assert [image.name for image in images] == [path.name[:7] for path in files]
    for image, path in zip(images, files, strict=True):
        np.testing.assert_array_equal(image.load(), np.asarray(Image.open(path)))
    low = sorted(folder(shared, dataset, scale).glob("*_LR.png"))
    for image, path in zip(images, low, strict=True):
        height, width = image.load().shape[:2]
        assert Image.open(path).size == (width // scale, height // scale)


@pytest.mark.parametrize("dataset", SETS)
@pytest.mark.parametrize("scale", [6, 8])
def test_unpublished_scales_use_the_largest_image(dataset, scale, config):
    images = sources.sources(dataset, config, scale)
    assert [image.file for image in images] == made.located(dataset, config)


def test_one_gray_image_stays_gray(config):
    shapes = {i.name: i.load().ndim for i in sources.sources("set14", config, 2)}
    assert [name for name, dimensions in shapes.items() if dimensions == 2] == ["img_003"]


@pytest.mark.parametrize("scale", [2, 3, 4])
def test_urban100_uses_its_whole_images(scale, config):
    images = sources.sources("urban100", config, scale)
    assert len(images) == 30
    assert all(image.file.name.endswith("SRF_4_HR.png") for image in images)
    assert images[0].load().shape == (644, 1024, 3)


def test_b100_at_three_has_one_more_line(shared, config):
    lines = np.asarray(Image.open(shared / "data/selfexsr/data/BSD100/srf3_hr_extra_line.png"))
    double = sources.sources("b100", config, 2)
    triple = sources.sources("b100", config, 3)
    assert len(triple) == 100
    assert {image.load().shape for image in triple} == {(321, 480, 3), (480, 321, 3)}
    for number, (two, three) in enumerate(zip(double, triple, strict=True)):
        small, large = two.load(), three.load()
        assert two.name == three.name == f"img_{number + 1:03d}"
        height, width = small.shape[:2]
        np.testing.assert_array_equal(large[:height, :width], small)
        added = large[-1] if width == 480 else large[:, -1]
        np.testing.assert_array_equal(added, lines[number])
