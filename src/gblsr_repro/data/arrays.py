"""Write, memory-map and verify arrays of 8-bit images with their index and description."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import UserError
from ..files import compute_sha256, read_csv, write_atomically, write_csv, write_json
from ..metadata import read_metadata
from .images import Pixels


def write_array(
    path: Path,
    shape: tuple[int, ...],
    parts: Iterable[Pixels],
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    facts: Mapping[str, Any],
) -> None:
    """Write uint8 `parts` one after the other as one array (N, *shape), part by part.

    Beside `path` (.npy) stand the index (.csv), with `columns` and one of the `rows` per image, and
    the description (.json): `facts`, the checksums of the other two files and the number of images.
    `rows` are read after the last part is written, so producing the parts may add to them. The
    files have the same bytes on every machine.
    """
    count, size = 0, math.prod(shape)
    with write_atomically(path) as temporary, temporary.open("w+b") as out:
        _write_header(out, 0, shape)
        for part in parts:
            out.write(np.ascontiguousarray(part).data)
            count += part.size // size
        _write_header(out, count, shape)
    index = path.with_suffix(".csv")
    write_csv(index, columns, rows)
    checksums = {"sha256": compute_sha256(path), "index_sha256": compute_sha256(index)}
    write_json(path.with_suffix(".json"), {**facts, **checksums, "images": len(rows)})


def _write_header(out: BinaryIO, count: int, shape: tuple[int, ...]) -> None:
    """Write the .npy header; its length does not depend on `count`, the size of the first axis."""
    out.seek(0)
    header = {"descr": "|u1", "fortran_order": False, "shape": (count, *shape)}
    np.lib.format.write_array_header_1_0(out, header)


def open_array(path: Path) -> tuple[NDArray[np.uint8], list[dict[str, str]], dict[str, Any]]:
    """Memory-map an array of `write_array`; return it, the rows of its index, its description.

    The map is copy-on-write, because torch needs a writable buffer; the file is never written. The
    whole array is read once to verify its checksum. Raises `UserError` when one of the three files
    is missing or damaged, or when they do not belong together.
    """
    index = path.with_suffix(".csv")
    description = read_metadata(path.with_suffix(".json"))
    for file, key in ((path, "sha256"), (index, "index_sha256")):
        if not file.is_file():
            raise UserError(f"{file} does not exist; run the step that makes it first.")
        if compute_sha256(file) != description.get(key):
            raise UserError(
                f"{file} is damaged or belongs to another run; delete the array and its .csv and "
                ".json and standardize again."
            )
    pixels = np.load(path, mmap_mode="c", allow_pickle=False)
    return pixels, read_csv(index), description


@dataclass(frozen=True)
class ImageArray:
    """A standardized array of images with its index and description.

    `images` is uint8 (N, S, S, 3) RGB, memory-mapped. `index` has one row per image with the keys
    position, dataset, name, width, height, sha256 (the last three of the source file: pixels before
    standardizing, and its checksum), all as text. `description` is the content of the .json beside
    the array.
    """

    images: NDArray[np.uint8]
    index: list[dict[str, str]]
    description: dict[str, Any]

    @classmethod
    def open(cls, path: Path) -> ImageArray:
        """Open the array at `path` (.npy), its index (.csv) and its description (.json).

        Raises `UserError` as `open_array` does.
        """
        return cls(*open_array(path))

    def __len__(self) -> int:
        return len(self.images)

    @property
    def size(self) -> int:
        """Height and width of every image, in pixels."""
        return int(self.images.shape[1])

    @property
    def names(self) -> list[str]:
        """Names of the images, in the order of the array."""
        return [row["name"] for row in self.index]

    def load_images(
        self, indices: Sequence[int] | NDArray[np.int64] | slice, device: torch.device | str = "cpu"
    ) -> Tensor:
        """Load the images at `indices` as float32 (B, 3, S, S) in [0, 1] on `device`."""
        selected = np.array(self.images[indices])
        return convert_to_float(torch.from_numpy(selected).to(device))


def convert_to_float(images: Tensor) -> Tensor:
    """Convert uint8 (B, S, S, 3) in [0, 255] to contiguous float32 (B, 3, S, S) in [0, 1]."""
    return images.permute(0, 3, 1, 2).contiguous().float() / 255
