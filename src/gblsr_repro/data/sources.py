"""The source images: the data sets, where their files come from, and their verified use.

A data set is a row of config/datasets.tsv. Its columns:

- `dataset` the name used in the config; `title` the name that tables show; `role` train, evaluate
  or weights; `license` the terms in short; `homepage` where they are stated; `note` remarks.
- `kind` archive (one tar or zip to unpack), files (many single downloads), file (one download) or
  package (photographs inside an installed Python package).
- `url` of an archive or file: its address; of files: an address with `{path}` for the file's path
  below its first folder; of a package: its name and the folder in it. Empty: only a mirror has it.
- `files` the files' paths, as `gblsr_repro.data.layout` reads them. A member of an archive has the
  name that its path has below its first folder.
- `images` how many images a complete copy gives to the runs (0: the files are not images).
- `bytes` what is downloaded in all; half as much again is refused.
- `checksum` of an archive or file, `sha256:...` or `md5:...`, where one is known.
- `stands_in_for` the data set that it replaces in the demo or with a mirror.

Files lie in one of three places: the config's `resources` (downloads), its `mirror` (used as it
is, never written to), or a package. At the first `fetch` every file is read, decoded and recorded
under resources/manifests. From then on files must be the recorded ones: `sources` and `locate`
compare sizes, `Source.read` and a later `fetch` compare contents.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from ..config import Config
from .datasets import DataSet, data_set
from .images import Pixels, decode_native
from .manifest import Entry


@dataclass(frozen=True)
class Source:
    """One recorded source image: its data set and its manifest entry."""

    data: DataSet
    record: Entry

    @property
    def dataset(self) -> str:
        """The data set's name."""
        return self.data.name

    @property
    def file(self) -> Path:
        """The image's file."""
        return self.data.root / self.record.path

    @property
    def name(self) -> str:
        """The image's name, as `name_of` makes it from the file's."""
        return name_of(self.file)

    def read(self) -> bytes:
        """Return the file's bytes; `UserError` unless they are the recorded ones."""
        content = self.file.read_bytes() if self.file.is_file() else b""
        if hashlib.sha256(content).hexdigest() != self.record.sha256:
            raise self.data.changed(self.record.path)
        return content

    def load(self) -> Pixels:
        """Decode the image to uint8: (H, W) when it is greyscale, else (H, W, 3)."""
        return decode_native(self.read(), self.file)


def name_of(path: str | Path) -> str:
    """Return an image's name: the file's stem less a trailing `_SRF_<scale>_HR` or `_LR`."""
    return re.sub(r"_SRF_\d+_[HL]R$", "", PurePosixPath(path).stem)


def sources(dataset: str, config: Config) -> list[Source]:
    """Return the images of a fetched data set, each at its largest, in the order of use.

    The order is that of the data set's own list, where it has one, else that of the paths. Raises
    `UserError` when the data set was not fetched, a file is missing or has another size than
    recorded, or images are missing and the config's `accept_partial` does not name the data set.
    """
    data = data_set(dataset, config)
    entries = data.entries()
    return [Source(data, entries[path]) for path in data.images(list(entries))]


def locate(dataset: str, config: Config) -> list[Path]:
    """Return the files of the images that `sources` gives, in the same order."""
    return [source.file for source in sources(dataset, config)]


def selection_of(dataset: str, config: Config) -> str:
    """Say in words which files of a data set are its images, and in what order."""
    data = data_set(dataset, config)
    listed = data.layout.selection
    if listed and (data.root / listed).is_file():
        return f"those that {listed} names, in its order"
    return "all, in the order of their names"


# --- super-resolution -----------------------------------------------------------------------------


@dataclass(frozen=True)
class HighRes:
    """A high-resolution image at one scale: a source and, for B100 at x3, a line to add to it.

    `line` is an image of such lines, one a row, and the row that belongs to the source.
    """

    source: Source
    line: tuple[Source, int] | None = None

    @property
    def name(self) -> str:
        """The image's name, the same at every scale."""
        return self.source.name

    def load(self) -> Pixels:
        """Decode to uint8, (H, W) when greyscale, else (H, W, 3); not yet cropped to the scale."""
        pixels = self.source.load()
        if self.line is None:
            return pixels
        lines, row = self.line
        line = lines.load()[row]
        axis = 0 if pixels.shape[1] == len(line) else 1
        return np.concatenate([pixels, np.expand_dims(line, axis)], axis=axis)


def high_resolution(dataset: str, scale: float, config: Config) -> list[HighRes]:
    """Return the high-resolution images of a data set at one scale, in the order of `sources`.

    That is the set's own image for the scale, where it has one, else the largest. B100 at x3 is
    the x3 image, or the x2 image with the line that a mirror gives in its place (the bottom row of
    an image as wide as the line is long, the right-hand column of others). The caller crops to
    multiples of the scale. Raises `UserError` as `sources` does.
    """
    data = data_set(dataset, config)
    entries = data.entries()

    def at_scale(source: Source) -> HighRes:
        own = re.sub(r"SRF_\d+", f"SRF_{scale:g}", source.record.path)
        if own in entries:
            return HighRes(Source(data, entries[own]))
        folder = PurePosixPath(source.record.path).parent.parent
        extra = str(folder / f"srf{scale:g}_hr_extra_line.png")
        if extra in entries:
            number = int(source.name.rpartition("_")[2])
            return HighRes(source, (Source(data, entries[extra]), number - 1))
        return HighRes(source)

    images = data.images(list(entries))
    return [at_scale(Source(data, entries[path])) for path in images]
