"""Arrays of images: what they hold, and that they are read only when they are whole."""

import shutil

import made
import numpy as np
import pytest
import torch
from PIL import Image

from gblsr_repro.config import find_method, load, merge
from gblsr_repro.data import fetch, sources
from gblsr_repro.data.arrays import ImageArray
from gblsr_repro.data.images import convert_to_rgb
from gblsr_repro.data.standardize import standardize_images
from gblsr_repro.data.superres import PackedImages, pack_training_sets
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation.asr import evaluate_run

DEMO = {
    "native": {
        "data": {
            "image_size": 64,
            "train": ["demo_textures", "demo_photos"],
            "evaluate": {"kodak": "demo_kodak", "set14": "demo_set14", "urban100": "demo_urban100"},
        }
    }
}


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """The protocol at demo size, with the demo's data sets fetched."""
    overlay = DEMO | {"resources": str(tmp_path_factory.mktemp("resources"))}
    whole = merge(load(), overlay)
    for dataset in ("demo_textures", "demo_photos", "demo_set14"):
        fetch.fetch_dataset(dataset, whole)
    return whole


@pytest.fixture
def rows(monkeypatch, repository, tmp_path):
    """Name the files of data sets by patterns, fetch the sets and return a config of them."""
    for folder, seeds in {"one": range(2), "two": range(5, 7), "copies": range(2)}.items():
        (tmp_path / "resources" / folder).mkdir(parents=True)
        for number, seed in enumerate(seeds):
            picture = Image.fromarray(made.noise(70, 70, 3, seed=seed))
            picture.save(tmp_path / "resources" / folder / f"{number}.png")

    def fetch_sets(patterns, train, evaluate):
        table = {
            name: made.dataset(
                dataset=name, title=name, kind="files", files=files, images="2", license="mine"
            )
            for name, files in patterns.items()
        }
        monkeypatch.undo()  # of an earlier table
        config = merge(load([repository / "config" / "config.yaml"]), DEMO)
        data = config["native"]["data"] | {"train": train, "evaluate": evaluate}
        config["native"]["data"] = data | {"holdout_fraction": 0.5}
        config["asr"] |= {"train": train, "evaluate": evaluate}
        config |= {key: str(tmp_path / key) for key in ("resources", "results")}
        config["accept_partial"] = list(patterns)
        monkeypatch.setattr("gblsr_repro.config.tables.read_datasets", lambda: table)
        shutil.rmtree(tmp_path / "resources" / "manifests", ignore_errors=True)
        for name in patterns:
            fetch.fetch_dataset(name, config)
        return config

    return fetch_sets


@pytest.fixture
def array(config, tmp_path):
    """The array of the demo's Set14."""
    standardize_images("set14", config, tmp_path / "arrays" / "set14.npy")
    return tmp_path / "arrays" / "set14.npy"


def test_array_index_and_record(array):
    arrays = ImageArray.open(array)
    assert arrays.images.shape == (2, 64, 64, 3)
    assert arrays.images.dtype == np.uint8
    assert (len(arrays), arrays.size, arrays.names) == (2, 64, ["camera", "coffee"])
    assert arrays.index[1]["width"] == "600"
    (record,) = arrays.description["datasets"]
    assert (record["dataset"], record["images"], record["complete"]) == ("demo_set14", 2, True)
    assert (record["title"], record["stands_in_for"]) == ("Set14 stand-in", "set14")
    # the grayscale photograph has three equal channels
    assert (arrays.images[0] == arrays.images[0][..., :1]).all()


def test_tensors(array):
    arrays = ImageArray.open(array)
    tensor = arrays.load_images([1, 0])
    assert tensor.shape == (2, 3, 64, 64)
    assert tensor.dtype == torch.float32
    expected = arrays.images[1].transpose(2, 0, 1).astype(np.float32) / np.float32(255)
    np.testing.assert_array_equal(tensor[0].numpy(), expected)
    assert torch.equal(arrays.load_images(slice(0, 1)), tensor[1:])


def test_packing_keeps_every_pixel(config, tmp_path):
    """Of grayscale images too."""
    names = ["demo_textures", "demo_photos"]
    pack_training_sets(merge(config, {"asr": {"train": names}}), tmp_path / "packed.npy")
    packed = PackedImages.open(tmp_path / "packed.npy")
    images = [image for name in names for image in sources.list_source_images(name, config)]
    assert packed.names == tuple(image.name for image in images)
    assert {image.entry.mode for image in images} == {"L", "RGB"}
    assert packed.offsets.tolist() == [0, *np.cumsum(packed.heights * packed.widths)[:-1]]
    rest = packed.pixels
    for image, height, width in zip(images, packed.heights, packed.widths, strict=True):
        pixels, rest = np.split(rest, [height * width])
        expected = convert_to_rgb(image.load())
        np.testing.assert_array_equal(pixels.reshape(height, width, 3), expected)
    assert len(rest) == 0


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".json"])
def test_lost_and_foreign_files_are_named(array, config, suffix):
    """Damaged ones: tests/faults."""
    standardize_images("validation", config, array.with_name("validation.npy"))
    file = array.with_suffix(suffix)
    for content in (b"", array.with_name(f"validation{suffix}").read_bytes(), None):
        file.unlink() if content is None else file.write_bytes(content)
        with pytest.raises(UserError, match=r"set14\.(npy|csv|json)") as caught:
            ImageArray.open(array)
        assert "\n" not in str(caught.value)


def test_two_validation_images_of_one_name_are_refused(repository, tmp_path, rows):
    """Their scores would be told apart by nothing; one data set alone: test_data_fetch.py."""
    config = rows({"one": "one/*.png", "two": "two/*.png"}, train=["one", "two"], evaluate={})
    with pytest.raises(UserError, match=r"one/\d\.png and .*two/\d\.png have one name"):
        standardize_images("validation", config, tmp_path / "validation.npy")


def test_a_set_of_one_image_leaves_none_to_train_on(tmp_path, rows):
    config = rows({"one": "one/0.png"}, train=["one"], evaluate={})
    with pytest.raises(UserError, match="The train split of one is empty; name a data set with"):
        standardize_images("train", config, tmp_path / "train.npy")


@pytest.mark.parametrize("name", ["train", "validation", "mine"])
def test_a_training_image_in_an_evaluation_set_is_refused(name, tmp_path, rows):
    """Byte copies, and a narrower pattern of the same folder."""
    for files in ("copies/*.png", "one/0.png"):
        table = {"one": "one/*.png", "copies": files}
        config = rows(table, train=["one"], evaluate={"mine": "copies"})
        with pytest.raises(UserError, match=r"0\.png, of copies, .* is the same file"):
            standardize_images(name, config, tmp_path / f"{name}.npy")
        with pytest.raises(UserError, match=r"same file as .*one/0\.png, of one, which is tr"):
            pack_training_sets(config, tmp_path / "packed.npy")
        method = find_method("gblsr_asr_nole")
        with pytest.raises(UserError, match="the same file"):
            evaluate_run(config, method, 0, tmp_path, tmp_path, tmp_path)
    config = rows({"one": "one/*.png", "other": "two/*.png"}, ["one"], {"mine": "other"})
    standardize_images(name, config, tmp_path / f"{name}.npy")


def test_unknown_arrays_and_unfetched_sets_are_named(config, tmp_path):
    with pytest.raises(UserError, match="No array is named 'kodac'; name one of train, validation"):
        standardize_images("kodac", config, tmp_path / "kodac.npy")
    with pytest.raises(UserError, match="gblsr-repro fetch demo_kodak"):
        standardize_images("kodak", config, tmp_path / "kodak.npy")
