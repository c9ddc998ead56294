"""The standardized arrays against the protocol (section 1), recomputed by other means.

Nothing of the package is used to compute what is expected: files are found by their folders and
read with Pillow, splits are numpy indexing, crops are slices.
"""

import made
import numpy as np
import pytest
import torch
from PIL import Image

from gblsr_repro.config import load, merge
from gblsr_repro.data import fetch
from gblsr_repro.data.arrays import ImageArray
from gblsr_repro.data.standardize import split_indices, standardize_images

STRIDE = 1_000_003


def test_permutation_of_the_data_seed():
    """A change of PyTorch's generator would change every split; this one is long known."""
    training, validation = split_indices(10, 0.1, 0)
    assert validation + training == [4, 1, 7, 5, 3, 9, 0, 8, 6, 2]


def expected_split(paths, name):
    generator = torch.Generator()
    generator.manual_seed(0)
    order = torch.randperm(len(paths), generator=generator).numpy()
    count = max(1, len(paths) // 10)
    chosen = np.array(paths, dtype=object)[order]
    return list(chosen[count:] if name == "train" else chosen[:count])


def read_large_enough(path, size):
    image = Image.open(path).convert("RGB")
    if image.width < size or image.height < size:
        scale = max(size / image.width, size / image.height)
        wide, high = int(image.width * scale) + 1, int(image.height * scale) + 1
        image = image.resize((max(wide, size), max(high, size)), Image.BICUBIC)
    return np.array(image)


def expected_crop(path, position, size):
    """Return the training crop of the image at a position, or the center crop for None."""
    pixels = read_large_enough(path, size)
    room_y, room_x = pixels.shape[0] - size, pixels.shape[1] - size
    if position is None:
        x, y = room_x // 2, room_y // 2
    else:
        generator = torch.Generator()
        generator.manual_seed(0 * STRIDE + position)
        x = torch.randint(room_x + 1, size=(1,), generator=generator).item()
        y = torch.randint(room_y + 1, size=(1,), generator=generator).item()
    return pixels[y:, x:][:size, :size]


def check(arrays, paths, training):
    assert [row["position"] for row in arrays.index] == list(map(str, range(len(paths))))
    assert len(arrays) == len(paths)
    for position, path in enumerate(paths):
        wanted = expected_crop(path, position if training else None, arrays.size)
        np.testing.assert_array_equal(arrays.images[position], wanted, err_msg=str(path))


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The protocol's config at its real size on the photographs that scikit-image ships."""
    folder = tmp_path_factory.mktemp("demo")
    overlay = {
        "resources": str(folder),
        "native": {
            "data": {
                "train": ["demo_textures", "demo_photos"],
                "evaluate": {"kodak": "demo_kodak", "set14": "demo_set14"},
            }
        },
    }
    return merge(load(), overlay)


def package_files(dataset, config):
    fetch.fetch_dataset(dataset, config)
    files = made.located(dataset, config)
    assert [path.name for path in files] == sorted(path.name for path in files)
    return files


@pytest.mark.parametrize("name", ["train", "validation"])
def test_demo_splits(name, demo, tmp_path):
    paths = []
    for dataset in ("demo_textures", "demo_photos"):
        paths += expected_split(package_files(dataset, demo), name)
    standardize_images(name, demo, tmp_path / f"{name}.npy")
    arrays = ImageArray.open(tmp_path / f"{name}.npy")
    assert arrays.size == 256
    check(arrays, paths, training=name == "train")


def test_demo_evaluation_is_centered(demo, tmp_path):
    """Of images as large as the crop and, after they are enlarged, of smaller ones."""
    paths = package_files("demo_set14", demo)
    large = merge(demo, {"native": {"data": {"image_size": 512}}})
    standardize_images("set14", large, tmp_path / "set14.npy")
    check(ImageArray.open(tmp_path / "set14.npy"), paths, training=False)


# --- the real images ------------------------------------------------------------------------------


def test_mirror_validation_split(mirrored, shared, tmp_path):
    data = shared / "data"
    dtd = sorted((data / "dtd").rglob("*.jpg"), key=str)
    bsds = sorted((data / "bsds500").rglob("*.jpg"), key=str)
    paths = expected_split(dtd, "validation") + expected_split(bsds, "validation")
    assert len(paths) == 84 + 39
    for dataset in ("dtd", "bsds500"):
        fetch.fetch_dataset(dataset, mirrored)
    standardize_images("validation", mirrored, tmp_path / "validation.npy")
    arrays = ImageArray.open(tmp_path / "validation.npy")
    check(arrays, paths, training=False)
    folders = [path.relative_to(data).parts[0] for path in paths]
    assert [row["dataset"] for row in arrays.index] == folders
    described = [
        (r["images"], r["expected"], r["complete"]) for r in arrays.description["datasets"]
    ]
    assert described == [(840, 1880, False), (399, 399, True)]


def test_kodak_and_set14_are_centered(mirrored, shared, tmp_path):
    data = shared / "data"
    folders = {"kodak": data / "kodak", "set14": data / "selfexsr/data/Set14/image_SRF_2"}
    for name, folder in folders.items():
        paths = sorted([*folder.glob("kodim*.png"), *folder.glob("*_HR.png")], key=str)
        standardize_images(name, mirrored, tmp_path / f"{name}.npy")
        arrays = ImageArray.open(tmp_path / f"{name}.npy")
        check(arrays, paths, training=False)
    assert arrays.names[0] == "img_001"


def test_urban100_crops_are_those_of_the_whole_images(mirrored, shared, tmp_path):
    standardize_images("urban100", mirrored, tmp_path / "urban100.npy")
    arrays = ImageArray.open(tmp_path / "urban100.npy")
    whole = sorted((shared / "data/selfexsr/data/Urban100/image_SRF_4").glob("*_HR.png"))
    assert len(whole) == 30
    for position, path in enumerate(whole):
        np.testing.assert_array_equal(arrays.images[position], expected_crop(path, None, 256))
