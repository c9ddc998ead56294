"""Standardize source images to one size and write the arrays of the native benchmark.

An array has the same bytes on every machine: the split, the order and the crops come from
generators seeded by the config's data seed, and Pillow decodes and resizes on the CPU. Beside
NAME.npy, uint8 (N, S, S, 3) RGB, stand NAME.csv (the source image of each row) and NAME.json (the
data sets and the checksums of the other two files). `gblsr_repro.data.arrays` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from ..config import Config
from ..errors import UserError
from ..progress import show_progress
from .arrays import write_array
from .datasets import refuse_repeated_names
from .images import Pixels, convert_to_rgb
from .sources import (
    SourceImage,
    describe_pixels,
    list_source_images,
    refuse_training_images,
)

SPLITS = ("train", "validation")
ARRAY_INDEX_COLUMNS = ("position", "dataset", "name", "width", "height", "sha256")


def split_indices(count: int, fraction: float, seed: int) -> tuple[list[int], list[int]]:
    """Split the indices 0..count-1 of one data set into training and validation.

    A permutation is drawn from a generator seeded with `seed`; its first max(1, int(fraction *
    count)) entries are the validation images, the others the training images, both in the order of
    the permutation. Returns (training, validation).
    """
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed)).tolist()
    held = max(1, int(fraction * count))
    return order[held:], order[:held]


def enlarge_to_fit(pixels: Pixels, size: int) -> Pixels:
    """Enlarge RGB (H, W, 3) until no side is below `size`; larger images are returned unchanged.

    With s = max(size / W, size / H) the result is max(int(W s) + 1, size) wide and max(int(H s) +
    1, size) high, by Pillow's bicubic filter.
    """
    height, width = pixels.shape[:2]
    if min(height, width) >= size:
        return pixels
    scale = max(size / width, size / height)
    wider = max(int(width * scale) + 1, size)
    higher = max(int(height * scale) + 1, size)
    enlarged = Image.fromarray(pixels).resize((wider, higher), Image.Resampling.BICUBIC)
    return np.asarray(enlarged)


def crop_center(pixels: Pixels, size: int) -> Pixels:
    """Crop (size, size, 3) around the center, at column (W-size)//2 and row (H-size)//2."""
    large = enlarge_to_fit(pixels, size)
    top, left = ((side - size) // 2 for side in large.shape[:2])
    return large[top : top + size, left : left + size]


def draw_crop(pixels: Pixels, size: int, seed: int) -> Pixels:
    """Crop (size, size, 3) at a random position drawn from a generator seeded with `seed`.

    The column is drawn first, then the row, both uniformly over all positions that fit.
    """
    large = enlarge_to_fit(pixels, size)
    height, width = large.shape[:2]
    generator = torch.Generator().manual_seed(seed)
    left = int(torch.randint(0, width - size + 1, (1,), generator=generator))
    top = int(torch.randint(0, height - size + 1, (1,), generator=generator))
    return large[top : top + size, left : left + size]


def select_images(name: str, config: Config) -> tuple[list[str], list[SourceImage]]:
    """Select the data sets of an array, and its images in the order of its rows.

    `name` is "train", "validation" or a column of native.data.evaluate. Training and validation
    join the splits of all data sets of native.data.train in that order. Raises `UserError` for
    another name, an incomplete data set, an array without images, or two validation images of one
    name.
    """
    data = config["native"]["data"]
    if name not in SPLITS:
        if name not in data["evaluate"]:
            raise UserError(
                f"No array is named {name!r}; name one of "
                f"{', '.join([*SPLITS, *data['evaluate']])}."
            )
        dataset = data["evaluate"][name]
        return [dataset], list_source_images(dataset, config)
    rows: list[SourceImage] = []
    for dataset in data["train"]:
        images = list_source_images(dataset, config)
        training, validation = split_indices(
            len(images), data["holdout_fraction"], data["data_seed"]
        )
        rows += [images[index] for index in (training if name == "train" else validation)]
    if not rows:
        raise UserError(
            f"The {name} split of {', '.join(data['train'])} is empty; name a data set with more "
            "images under native.data.train."
        )
    if name == "validation":
        refuse_repeated_names(image.file for image in rows)
    return data["train"], rows


def standardize_arrays(names: Iterable[str], config: Config, output: Path) -> None:
    """Standardize the images of several arrays and write them into the folder `output`."""
    for name in names:
        standardize_images(name, config, output / f"{name}.npy")


def standardize_images(name: str, config: Config, output: Path) -> None:
    """Standardize the images of an array and write it to `output` (.npy).

    Its index (.csv) and description (.json) are written beside it. Images are read, verified
    against the manifest, cropped and written one at a time. Raises `UserError` as `select_images`
    and `refuse_training_images` do, when a source file changed, or when the array cannot be
    written.
    """
    data = config["native"]["data"]
    size = data["image_size"]
    datasets, images = select_images(name, config)
    refuse_training_images(data["evaluate"].values(), data["train"], config)
    index = [
        (position, i.dataset.name, i.name, i.entry.width, i.entry.height, i.entry.sha256)
        for position, i in enumerate(images)
    ]

    def crop_all() -> Iterator[Pixels]:
        for position, image in enumerate(show_progress(images, f"standardize {name}", "image")):
            pixels = convert_to_rgb(image.load())
            if name == "train":
                seed = data["data_seed"] * data["crop_seed_stride"] + position
                yield draw_crop(pixels, size, seed)
            else:
                yield crop_center(pixels, size)

    facts = {"datasets": [describe_pixels(dataset, config) for dataset in datasets]}
    write_array(output, (size, size, 3), crop_all(), ARRAY_INDEX_COLUMNS, index, facts)
