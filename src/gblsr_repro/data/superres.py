"""Pack the training images of super-resolution and draw training batches from them.

The high-resolution images differ in size, so all their pixels lie one after the other in one
array, with an index of where each image starts. A sample is a pure function of (seed, step, place
in the batch), so a resumed run gets the same samples as an uninterrupted one. A few random numbers
per sample are drawn on the CPU. Cropping, flipping, the bicubic reduction and the selection of
targets are one gather and two matrix products per batch; they run on the device if the pixels fit
into its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..config import Config
from ..errors import UserError
from ..progress import show_progress
from .arrays import open_array, write_array
from .images import convert_to_rgb
from .prefetch import Prefetcher
from .resize import PILLOW_BITS, compute_pillow_weights
from .sources import describe_dataset, list_source_images, refuse_training_images

PACKED_INDEX_COLUMNS = ("position", "dataset", "name", "offset", "height", "width")
RESIDENT_SHARE = 0.25
"""The pixels are kept on the device if they take at most this share of its memory."""

# The first number of a random generator's key, so that generators of different uses never coincide.
EPOCH, SAMPLE = 0, 1


def pack_training_sets(config: Config, output: Path) -> None:
    """Write the pixels of the training sets of config asr.train, in its order, to `output` (.npy).

    The array is (pixels, 3) uint8, image after image and row by row. The index beside it (.csv) has
    one row per image with its `offset` in pixels, the description (.json) the data sets and the
    array's checksum. The same images give the same bytes. Raises `UserError` when a set is
    incomplete or one of its files changed, and as `refuse_training_images` does.
    """
    names = config["asr"]["train"]
    images = [image for name in names for image in list_source_images(name, config)]
    refuse_training_images(config["asr"]["evaluate"].values(), names, config)
    rows: list[tuple[int, str, str, int, int, int]] = []

    def load_all() -> Iterator[np.ndarray]:
        offset = 0
        for position, image in enumerate(show_progress(images, "packing", "image")):
            pixels = convert_to_rgb(image.load())
            height, width = pixels.shape[:2]
            rows.append((position, image.dataset.name, image.name, offset, height, width))
            offset += height * width
            yield pixels

    facts = {"datasets": [describe_dataset(name, config) for name in names]}
    write_array(output, (3,), load_all(), PACKED_INDEX_COLUMNS, rows, facts)


@dataclass(frozen=True)
class PackedImages:
    """The packed training images: `pixels` (P, 3) uint8, memory-mapped, and one entry per image.

    `offsets` count pixels; image i is `pixels[offsets[i]:][: heights[i] * widths[i]]`. `sha256` is
    the checksum of the array.
    """

    pixels: np.ndarray
    names: tuple[str, ...]
    offsets: np.ndarray
    heights: np.ndarray
    widths: np.ndarray
    sha256: str

    @classmethod
    def open(cls, path: Path) -> PackedImages:
        """Open an array of `pack_training_sets`; raises `UserError` as `open_array` does."""
        pixels, rows, description = open_array(path)
        numbers = np.array([[r[c] for c in PACKED_INDEX_COLUMNS[3:]] for r in rows], np.int64)
        offsets, heights, widths = numbers.reshape(-1, 3).T
        names = tuple(row["name"] for row in rows)
        return cls(pixels, names, offsets, heights, widths, description["sha256"])


class SampleSpec(NamedTuple):
    """The random choices of one sample.

    The crop is `side` pixels square at (top, left) of image number `image`. It is flipped upside
    down, mirrored and transposed, in this order, if `flip`, `mirror` and `transpose` are set.
    `targets` (Q,) are the target pixels as row * side + column of the crop after that.
    """

    image: int
    scale: float
    side: int
    top: int
    left: int
    flip: bool
    mirror: bool
    transpose: bool
    targets: np.ndarray


class Batch(NamedTuple):
    """One batch of training samples on the device, colors in [0, 1].

    `low` (B, 3, p, p) float32: low-resolution patches. `pixels` (B, Q, 2) int64: (row, column) of
    the target pixels in the high-resolution crops. `sides` (B,) int64: sides of the crops.
    `colors` (B, Q, 3) float32: colors of the target pixels.
    """

    low: Tensor
    pixels: Tensor
    sides: Tensor
    colors: Tensor


class HostBatch(NamedTuple):
    """One batch on the host, before it is assembled on the device.

    `sides` (B,) int64: sides of the crops. `targets` (B, Q): see `SampleSpec`. `crops`: the flipped
    crops, uint8 (B, S, S, 3), or, if the pixels are on the device, the offsets of their rows and
    columns in the packed pixels, int64 (B, 2, S).
    """

    sides: Tensor
    targets: Tensor
    crops: Tensor


class Sampler:
    """Draw training batches from packed images (protocol, section 5).

    A sample takes the next image of a shuffled epoch, a scale s uniform in `scale_range`, a crop of
    round(s * patch) pixels with random flips, its reduction to patch x patch pixels exactly as by
    Pillow's bicubic filter, and `queries` pixels of the crop without replacement.

    Raises `UserError` when an image is smaller than the largest crop, or when the smallest crop has
    fewer than `queries` pixels.
    """

    def __init__(
        self,
        images: PackedImages,
        training: Mapping[str, Any],
        batch_size: int,
        seed: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self.images, self.seed, self.batch_size = images, seed, batch_size
        self.patch, self.queries = training["lr_patch"], training["queries"]
        self.scales = tuple(training["scale_range"])
        self.device = torch.device(device)
        smallest, largest = (round(self.patch * scale) for scale in self.scales)
        self._check_sizes(smallest, largest)
        if self.is_resident:
            self.pixels = torch.from_numpy(images.pixels).to(self.device)
        # The weights that reduce a crop to a patch, for every possible side of the crop.
        weights = np.zeros((largest - smallest + 1, self.patch, largest))
        for side in range(smallest, largest + 1):
            weights[side - smallest, :, :side] = compute_pillow_weights(side, self.patch)
        self.smallest, self.resize_weights = smallest, torch.from_numpy(weights).to(self.device)
        # A batch takes images of one epoch, or of two.
        self._get_order = lru_cache(maxsize=2)(self._shuffle_images)

    @property
    def is_resident(self) -> bool:
        """Whether the pixels are kept on the device: a CUDA device with enough memory."""
        if self.device.type != "cuda":
            return False
        memory = torch.cuda.get_device_properties(self.device).total_memory
        return self.images.pixels.nbytes <= RESIDENT_SHARE * memory

    def _check_sizes(self, smallest: int, largest: int) -> None:
        """Raise `UserError` unless all crops fit their images and hold enough pixels."""
        short = np.minimum(self.images.heights, self.images.widths)
        if short.min() < largest:
            worst = int(short.argmin())
            raise UserError(
                f"Training image {self.images.names[worst]} is only {short[worst]} pixels on a "
                f"side, but crops are up to {largest}; lower asr.training.lr_patch or use larger "
                "images."
            )
        if self.queries > smallest**2:
            raise UserError(
                f"Config: asr.training.queries is {self.queries}, but the smallest crop has only "
                f"{smallest**2} pixels; lower it or raise asr.training.lr_patch."
            )

    def _build_generator(self, *key: int) -> np.random.Generator:
        """Build the random generator of a key, which starts with its use: EPOCH or SAMPLE."""
        sequence = np.random.SeedSequence(self.seed, spawn_key=key)
        return np.random.Generator(np.random.PCG64(sequence))

    def _shuffle_images(self, epoch: int) -> NDArray[np.int64]:
        """Shuffle the numbers of all images for one epoch."""
        return self._build_generator(EPOCH, epoch).permutation(len(self.images.names))

    def draw_sample(self, step: int, place: int) -> SampleSpec:
        """Draw the random choices of the sample at `place` in the batch of `step`."""
        epoch, turn = divmod(step * self.batch_size + place, len(self.images.names))
        image = int(self._get_order(epoch)[turn])
        random = self._build_generator(SAMPLE, step, place)
        scale = random.uniform(*self.scales)
        side = round(self.patch * scale)
        top = int(random.integers(self.images.heights[image] - side + 1))
        left = int(random.integers(self.images.widths[image] - side + 1))
        flip, mirror, transpose = (bool(bit) for bit in random.integers(0, 2, 3))
        targets = random.choice(side * side, self.queries, replace=False, shuffle=False)
        return SampleSpec(image, scale, side, top, left, flip, mirror, transpose, targets)

    def build_batch(self, step: int) -> Batch:
        """Build the batch of `step` on the device."""
        return self.assemble_batch(self.draw_batch(step))

    def prefetch_batches(self) -> Callable[[int], Batch]:
        """Return a function like `build_batch` that draws the next step's batch on a thread."""
        prefetcher = Prefetcher(self.draw_batch)
        return lambda step: self.assemble_batch(prefetcher(step))

    def draw_batch(self, step: int) -> HostBatch:
        """Draw the batch of `step` on the host."""
        samples = [self.draw_sample(step, place) for place in range(self.batch_size)]
        sides = np.array([sample.side for sample in samples])
        size = int(sides.max())
        crops = np.stack([self._compute_line_offsets(sample, size) for sample in samples])
        if not self.is_resident:
            index = crops[:, 0, :, None] + crops[:, 1, None, :]
            crops = self.images.pixels.take(index, axis=0)
        targets = np.stack([sample.targets for sample in samples])
        tensors = [torch.from_numpy(part) for part in (sides, targets, crops)]
        if self.device.type == "cuda":
            # From pinned memory the copy does not wait for the steps queued before it.
            tensors = [tensor.pin_memory() for tensor in tensors]
        return HostBatch(*tensors)

    def assemble_batch(self, batch: HostBatch) -> Batch:
        """Assemble a batch on the device without waiting for the device."""
        sides, targets, crops = (part.to(self.device, non_blocking=True) for part in batch)
        if self.is_resident:
            rows, columns = crops.unbind(1)
            crops = self.pixels[rows[:, :, None] + columns[:, None, :]]
        low = self._reduce_crops(crops, sides)
        row, column = targets // sides[:, None], targets % sides[:, None]
        index = (row * crops.shape[2] + column)[..., None].expand(-1, -1, 3)
        colors = crops.flatten(1, 2).gather(1, index).float() / 255
        return Batch(low, torch.stack([row, column], dim=-1), sides, colors)

    def _compute_line_offsets(self, sample: SampleSpec, size: int) -> np.ndarray:
        """Compute the offsets of a crop's rows and columns in the packed pixels: (2, size).

        Pixel (i, j) of the flipped crop is at offset [0, i] + [1, j]. Beyond the crop its last row
        and column are repeated, so that all crops of a batch have one size; nothing reads them.
        """
        forward = np.arange(size).clip(max=sample.side - 1)
        backward = sample.side - 1 - forward
        width = self.images.widths[sample.image]
        rows = (sample.top + (backward if sample.flip else forward)) * width
        columns = sample.left + (backward if sample.mirror else forward)
        first, second = (columns, rows) if sample.transpose else (rows, columns)
        return np.stack([first + self.images.offsets[sample.image], second])

    def _reduce_crops(self, crops: Tensor, sides: Tensor) -> Tensor:
        """Reduce crops (B, S, S, 3) uint8 as Pillow does: (B, 3, p, p) float32 in [0, 1].

        `sides` (B,) says how many rows and columns of each crop count.
        """
        weights = self.resize_weights[sides - self.smallest, None, :, : crops.shape[1]]
        planes = crops.permute(0, 3, 1, 2).double()
        narrow = _round_sums(planes @ weights.mT)
        return (_round_sums(weights @ narrow) / 255).float()


def _round_sums(sums: Tensor) -> Tensor:
    """Divide sums by Pillow's fixed-point factor and round half up to 0..255."""
    return torch.floor(sums / 2**PILLOW_BITS + 0.5).clamp(0, 255)
