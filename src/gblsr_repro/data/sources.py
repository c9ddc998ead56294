"""The recorded images of a data set, as training and evaluation use them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ..config import Config
from .datasets import DatasetFiles, ManifestEntry, locate_dataset
from .images import Pixels, decode_image


@dataclass(frozen=True)
class SourceImage:
    """One recorded source image: its data set and its manifest entry.

    `line`, at B100's x3 alone, is what is still to be added: an image of lines, one a row, and the
    row that belongs to this image.
    """

    dataset: DatasetFiles
    entry: ManifestEntry
    extra_line: tuple[SourceImage, int] | None = None

    @property
    def file(self) -> Path:
        """The image's file."""
        return self.dataset.root / self.entry.path

    @property
    def name(self) -> str:
        """The image's name, as `name_of` makes it from the file's; the same at every scale."""
        return derive_image_name(self.file)

    def read_bytes(self) -> bytes:
        """Return the file's bytes; `UserError` unless they are the recorded ones."""
        content = self.file.read_bytes() if self.file.is_file() else b""
        if hashlib.sha256(content).hexdigest() != self.entry.sha256:
            raise self.dataset.build_changed_error(self.entry.path)
        return content

    def load(self) -> Pixels:
        """Decode the image to uint8: (H, W) when it is greyscale, else (H, W, 3)."""
        pixels = decode_image(self.read_bytes(), self.file)
        if self.extra_line is None:
            return pixels
        lines, row = self.extra_line
        line = lines.load()[row]
        axis = 0 if pixels.shape[1] == len(line) else 1
        return np.concatenate([pixels, np.expand_dims(line, axis)], axis=axis)


def derive_image_name(path: str | Path) -> str:
    """Return an image's name: the file's stem less a trailing `_SRF_<scale>_HR` or `_LR`."""
    return re.sub(r"_SRF_\d+_[HL]R$", "", PurePosixPath(path).stem)


def list_source_images(
    dataset: str, config: Config, scale: float | None = None
) -> list[SourceImage]:
    """Return the images of a fetched data set, each at its largest, in the order of use.

    The order is that of the data set's own list, where it has one, else that of the paths. With
    `scale` they are the high-resolution images of super-resolution by it, not yet cropped to its
    multiples: the set's own image for the scale, where it has one, else the largest. B100 at x3 is
    the x3 image, or the x2 image with the line that a mirror gives in its place (the bottom row of
    an image as wide as the line is long, the right-hand column of others).

    Raises `UserError` when the data set was not fetched, a file is missing or has another size than
    recorded, or images are missing and the config's `accept_partial` does not name the data set.
    """
    data = locate_dataset(dataset, config)
    entries = data.read_entries()
    largest = [SourceImage(data, entries[path]) for path in data.select_images(list(entries))]
    if scale is None:
        return largest

    def at_scale(source: SourceImage) -> SourceImage:
        own = re.sub(r"SRF_\d+", f"SRF_{scale:g}", source.entry.path)
        if own in entries:
            return SourceImage(data, entries[own])
        folder = PurePosixPath(source.entry.path).parent.parent
        extra = entries.get(str(folder / f"srf{scale:g}_hr_extra_line.png"))
        if extra is None:
            return source
        number = int(source.name.rpartition("_")[2])
        return SourceImage(data, source.entry, (SourceImage(data, extra), number - 1))

    return [at_scale(source) for source in largest]


def describe_dataset(dataset: str, config: Config) -> dict[str, Any]:
    """Describe a data set as it was used, for captions and reports.

    Keys: dataset, title, images (used), expected (of a complete copy), complete, stands_in_for
    (None unless it replaces another), selection (which files are its images, in words).
    """
    data = locate_dataset(dataset, config)
    row, images, expected = data.row, len(list_source_images(dataset, config)), data.published_count
    return {
        "dataset": dataset,
        "title": row.title,
        "images": images,
        "expected": expected,
        "complete": images == expected,
        "stands_in_for": row.stands_in_for or None,
        "selection": data.selection_rule,
    }
