"""The mirror's super-resolution sets, as their publisher made them."""

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gblsr_repro.config import load, merge
from gblsr_repro.data import fetch, manifest, sources
from gblsr_repro.data.datasets import dataset_row
from gblsr_repro.data.layout import expand, layout_of

SETS = ("set5", "set14", "b100", "urban100")
FOLDERS = {"set5": "Set5", "set14": "Set14", "b100": "BSD100", "urban100": "Urban100"}


@pytest.fixture(scope="module")
def config(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    local = {
        "mirror": str(shared / "data"),
        "resources": str(tmp_path_factory.mktemp("resources")),
        "accept_partial": ["urban100"],
    }
    whole = merge(load(), local)
    for dataset in SETS:
        fetch.fetch(dataset, whole)
    return whole


def folder(shared: Path, dataset: str, scale: int) -> Path:
    return shared / "data" / "selfexsr" / "data" / FOLDERS[dataset] / f"image_SRF_{scale}"


def test_manifests_agree_with_the_mirrors_own(shared: Path, config: dict) -> None:
    with (shared / "data" / "MANIFEST.csv").open(newline="") as stream:
        listed = {row["path"]: row for row in csv.DictReader(stream)}
    for dataset in SETS:
        for path, entry in manifest.read(fetch.fetch(dataset, config)).items():
            row = listed[path]
            assert entry.sha256 == row["sha256"]
            found = (entry.bytes, entry.width, entry.height, entry.mode)
            assert [str(value) for value in found] == [
                row[key] for key in ("bytes", "width", "height", "mode")
            ]


@pytest.mark.parametrize("dataset", ["set5", "set14"])
def test_located_images_are_the_largest(dataset: str, shared: Path, config: dict) -> None:
    for path in sources.locate(dataset, config):
        largest = np.array(Image.open(path).size)
        for scale in (3, 4):
            other = path.name.replace("SRF_2", f"SRF_{scale}")
            assert (
                np.array(Image.open(folder(shared, dataset, scale) / other).size) <= largest
            ).all()


@pytest.mark.parametrize("dataset", ["set5", "set14"])
@pytest.mark.parametrize("scale", [2, 3, 4])
def test_each_published_scale_has_its_own_images(
    dataset: str, scale: int, shared: Path, config: dict
) -> None:
    images = sources.high_resolution(dataset, scale, config)
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
def test_unpublished_scales_use_the_largest_image(dataset: str, scale: int, config: dict) -> None:
    images = sources.high_resolution(dataset, scale, config)
    assert [image.source.file for image in images] == sources.locate(dataset, config)


def test_one_gray_image_stays_gray(config: dict) -> None:
    shapes = {i.name: i.load().ndim for i in sources.high_resolution("set14", 2, config)}
    assert [name for name, dimensions in shapes.items() if dimensions == 2] == ["img_003"]


@pytest.mark.parametrize("scale", [2, 3, 4])
def test_urban100_uses_its_whole_images(scale: int, config: dict) -> None:
    images = sources.high_resolution("urban100", scale, config)
    assert len(images) == 30
    assert all(image.source.file.name.endswith("SRF_4_HR.png") for image in images)
    assert images[0].load().shape == (644, 1024, 3)


def test_b100_at_three_has_one_more_line(shared: Path, config: dict) -> None:
    lines = np.asarray(Image.open(shared / "data/selfexsr/data/BSD100/srf3_hr_extra_line.png"))
    double = sources.high_resolution("b100", 2, config)
    triple = sources.high_resolution("b100", 3, config)
    assert len(triple) == 100
    assert {image.load().shape for image in triple} == {(321, 480, 3), (480, 321, 3)}
    for number, (two, three) in enumerate(zip(double, triple, strict=True)):
        small, large = two.load(), three.load()
        assert two.name == three.name == f"img_{number + 1:03d}"
        height, width = small.shape[:2]
        np.testing.assert_array_equal(large[:height, :width], small)
        added = large[-1] if width == 480 else large[:, -1]
        np.testing.assert_array_equal(added, lines[number])


def test_a_publishers_image_goes_before_the_line(
    shared: Path, config: dict, tmp_path: Path
) -> None:
    """With the files that the publisher has, x3 reads them; both ways give the same pixels."""
    through_line = sources.high_resolution("b100", 3, config)
    root = tmp_path / "mirror" / "selfexsr" / "data" / "BSD100"
    (root / "image_SRF_2").mkdir(parents=True)
    (root / "image_SRF_3").mkdir()
    for image in through_line[:3]:
        source = image.source.file
        (root / "image_SRF_2" / source.name).write_bytes(source.read_bytes())
        own = root / "image_SRF_3" / source.name.replace("SRF_2", "SRF_3")
        Image.fromarray(image.load()).save(own)
    local = config | {
        "mirror": str(tmp_path / "mirror"),
        "resources": str(tmp_path / "resources"),
        "accept_partial": ["b100"],
    }
    fetch.fetch("b100", local)
    direct = sources.high_resolution("b100", 3, local)
    assert len(direct) == 3
    for one, other in zip(direct, through_line, strict=False):
        assert one.line is None
        np.testing.assert_array_equal(one.load(), other.load())


def test_mirror_has_every_file_that_the_table_names(shared: Path) -> None:
    for dataset in ("kodak", "set5", "set14"):
        row = dataset_row(dataset)
        for pattern in layout_of(row).downloads():
            for path in expand(pattern):
                assert (shared / "data" / path).is_file(), path
