"""Arrays of images: what they hold, and that they are read only when they are whole."""

import numpy as np
import pytest
import torch

from gblsr_repro.config import load, merge
from gblsr_repro.data import fetch
from gblsr_repro.data.arrays import ImageArray
from gblsr_repro.data.standardize import standardize_images
from gblsr_repro.errors import UserError

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


def test_unknown_arrays_and_unfetched_sets_are_named(config, tmp_path):
    with pytest.raises(UserError, match="No array is named 'kodac'; name one of train, validation"):
        standardize_images("kodac", config, tmp_path / "kodac.npy")
    with pytest.raises(UserError, match="gblsr-repro fetch demo_kodak"):
        standardize_images("kodak", config, tmp_path / "kodak.npy")
