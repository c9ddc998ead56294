"""List and load the source images of a fetched data set."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ..config import Config, find_dataset
from ..errors import UserError
from .datasets import DatasetFiles, derive_image_name, locate_dataset
from .images import Pixels, decode_image, read_content
from .manifest import ManifestEntry
from .pins import digest_pixels, read_pins


@dataclass(frozen=True)
class SourceImage:
    """One source image: its data set and its manifest entry.

    `extra_line` is needed for B100 at x3 alone: another image, whose rows are lines of pixels, and
    the number of the row to append to this image.
    """

    dataset: DatasetFiles
    entry: ManifestEntry
    extra_line: tuple[SourceImage, int] | None = None

    @property
    def file(self) -> Path:
        """Path of the image file."""
        return self.dataset.root / self.entry.path

    @property
    def name(self) -> str:
        """Name of the image, the same at every scale (see `derive_image_name`)."""
        return derive_image_name(self.file)

    def read_bytes(self) -> bytes:
        """Read the bytes of the file; `UserError` unless they match the manifest."""
        content = read_content(self.file)
        if hashlib.sha256(content).hexdigest() != self.entry.sha256:
            raise self.dataset.build_changed_error(self.entry.path)
        return content

    def load(self) -> Pixels:
        """Load the image as uint8: (H, W) when it is grayscale, else (H, W, 3)."""
        pixels = decode_image(self.read_bytes(), self.file)
        if self.extra_line is None:
            return pixels
        lines, row = self.extra_line
        line = lines.load()[row]
        axis = 0 if pixels.shape[1] == len(line) else 1
        return np.concatenate([pixels, np.expand_dims(line, axis)], axis=axis)


def list_source_images(
    dataset: str, config: Config, scale: float | None = None
) -> list[SourceImage]:
    """List the images of a fetched data set in the order of use, at their largest size.

    The order is that of the data set's list of images, else that of the paths. With `scale`, lists
    the high-resolution images for super-resolution by that factor, not yet cropped to its
    multiples: the data set's image for the scale if it has one, else the largest. For B100 at x3
    that is the x3 image, or the x2 image and the extra line that a mirror has instead (the bottom
    row of an image as wide as the line is long, else the right-hand column).

    Raises `UserError` when the data set was not fetched, a file is missing or has another size than
    recorded, or images are missing and the config's `accept_partial` does not name the data set.
    """
    files = locate_dataset(dataset, config)
    entries = files.read_entries()
    largest = [SourceImage(files, entries[path]) for path in files.select_images(list(entries))]
    if scale is None:
        return largest
    return [_select_for_scale(image, scale, entries) for image in largest]


def _select_for_scale(
    image: SourceImage, scale: float, entries: Mapping[str, ManifestEntry]
) -> SourceImage:
    """Select the high-resolution version of an image for super-resolution by `scale`."""
    files, path = image.dataset, image.entry.path
    scaled_path = _name_version(path, scale)
    if scaled_path in entries:
        return SourceImage(files, entries[scaled_path])
    folder = PurePosixPath(path).parent.parent
    lines = entries.get(str(folder / f"srf{scale:g}_hr_extra_line.png"))
    if lines is None:
        return image
    number = int(image.name.rpartition("_")[2])
    return SourceImage(files, image.entry, (SourceImage(files, lines), number - 1))


def _name_version(path: str, scale: float) -> str:
    """Name the publisher's file of the version of an image for a scale."""
    return re.sub(r"SRF_\d+", f"SRF_{scale:g}", path)


def list_read_images(dataset: str, config: Config) -> dict[str, SourceImage]:
    """List all images that a fetched data set is read as, by their paths in the publisher's copy.

    They are the largest, and those for the scales that the data set has images of its own for. One
    that a mirror has as an extra line has the path of the file that the publisher has instead.
    Raises `UserError` as `list_source_images` does.
    """
    scales = sorted(
        {int(scale) for scale in re.findall(r"SRF_(\d+)", " ".join(find_dataset(dataset).files))}
    )
    versions = {}
    for scale in (None, *scales):
        for image in list_source_images(dataset, config, scale):
            path = image.entry.path
            if scale is not None and image.extra_line is not None:
                path = _name_version(path, scale)
            versions[path] = image
    return versions


def refuse_training_images(
    evaluated: Iterable[str], trained: Iterable[str], config: Config
) -> None:
    """Raise `UserError` where a file that is evaluated is one that is trained on, byte for byte.

    `evaluated` and `trained` are data sets. One that is not there, or not whole, is passed over:
    whoever reads its images says so.
    """
    known = {i.entry.sha256: i for dataset in trained for i in _list_fetched(dataset, config)}
    for dataset in evaluated:
        for image in _list_fetched(dataset, config):
            if twin := known.get(image.entry.sha256):
                raise UserError(
                    f"{image.file}, of {dataset}, which is evaluated, is the same file as "
                    f"{twin.file}, of {twin.dataset.name}, which is trained on; evaluate other "
                    "images than those of the training."
                )


def _list_fetched(dataset: str, config: Config) -> list[SourceImage]:
    """List all images that a data set is read as; none where it is not there, or not whole."""
    try:
        return [*list_read_images(dataset, config).values()]
    except UserError:
        return []


def find_other_pixels(dataset: str, config: Config) -> list[str]:
    """Find the images of a fetched data set whose pixels differ from those of config/pixels.tsv.

    Returns the names of their files, without endings; images without a row there are not decoded.
    Raises `UserError` as `SourceImage.load` does.
    """
    pins = read_pins()
    return [
        PurePosixPath(path).stem
        for path, image in list_read_images(dataset, config).items()
        if path in pins and digest_pixels(image.load()) != pins[path]
    ]


def describe_dataset(dataset: str, config: Config) -> dict[str, Any]:
    """Describe a data set as it is used, for captions and reports.

    Keys: dataset, title, images (used), expected (of a complete copy), complete, stands_in_for
    (None unless it replaces another). No image is decoded.
    """
    files = locate_dataset(dataset, config)
    images, expected = len(list_source_images(dataset, config)), files.row.images
    return {
        "dataset": dataset,
        "title": files.row.title,
        "images": images,
        "expected": expected,
        "complete": images == expected,
        "stands_in_for": files.row.stands_in_for or None,
    }


def describe_pixels(dataset: str, config: Config) -> dict[str, Any]:
    """Describe a data set whose pixels numbers depend on, with `find_other_pixels` beside."""
    others = find_other_pixels(dataset, config)
    return {**describe_dataset(dataset, config), "other_pixels": others}
