"""Training samples for arbitrary-scale super-resolution: packed images and a sampler.

The high-resolution images differ in size, so all their pixels lie one after the other in one
array; an index says where each image starts. A sample is a pure function of (seed, step, place in
the batch), so a run that goes on at step n sees exactly what it would have seen. A few random
numbers per sample are drawn on the CPU; cropping, turning, the bicubic reduction and the gathering
of targets are one gather and two matrix products per batch, on the device where the pixels fit
there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..config import Config
from ..errors import UserError
from ..progress import show_progress
from .arrays import build_damage_error, open_array, write_array
from .images import convert_to_rgb
from .prefetch import Prefetcher
from .resize import PILLOW_BITS, compute_pillow_weights
from .sources import SourceImage, describe_dataset, list_source_images

INDEX_COLUMNS = ("position", "dataset", "name", "offset", "height", "width")
RESIDENT_SHARE = 0.25
"""The pixels live on the device where they take at most this part of its memory."""

# What a random stream is for; streams of different kinds never coincide.
EPOCH, SAMPLE = 0, 1


def pack_training_sets(config: Config, output: Path | str) -> None:
    """Pack the training sets that config asr.train names, in its order; see `pack`.

    Raises `UserError` when a set is not whole or a file of it changed.
    """
    names = config["asr"]["train"]
    images = {dataset: list_source_images(dataset, config) for dataset in names}
    pack_images(images, output, [describe_dataset(dataset, config) for dataset in names])


def pack_images(
    images: Mapping[str, Sequence[SourceImage]],
    output: Path | str,
    records: Sequence[Mapping[str, Any]],
) -> None:
    """Write the pixels of `images`, by data set, one after the other into `output` (.npy).

    The array is (pixels, 3) uint8, each image row by row; the index beside it (.csv) has a line
    per image with its `offset` counted in pixels; the description (.json) holds `records`, which
    say what the data sets are, and the array's checksum. The same images give the same bytes.
    """
    rows: list[tuple[int, str, str, int, int, int]] = []
    every = [(dataset, image) for dataset, chosen in images.items() for image in chosen]

    def parts() -> Iterator[np.ndarray]:
        offset = 0
        for position, (dataset, image) in enumerate(show_progress(every, "packing", "image")):
            pixels = convert_to_rgb(image.load())
            height, width = pixels.shape[:2]
            rows.append((position, dataset, image.name, offset, height, width))
            offset += height * width
            yield pixels

    facts = {"datasets": [dict(record) for record in records]}
    write_array(Path(output), (3,), parts(), INDEX_COLUMNS, rows, facts)


@dataclass(frozen=True)
class PackedImages:
    """All pixels of a training set: `pixels` (P, 3) uint8, memory-mapped; one entry per image.

    `offsets` count pixels; image i is `pixels[offsets[i]:][: heights[i] * widths[i]]`.
    """

    pixels: np.ndarray
    names: tuple[str, ...]
    offsets: np.ndarray
    heights: np.ndarray
    widths: np.ndarray
    sha256: str

    @classmethod
    def open(cls, path: Path | str) -> PackedImages:
        """Open what `pack` wrote; raises `UserError` as `open_array` does."""
        # Copy-on-write: torch wants a writable buffer, the file is never written.
        pixels, rows, record = open_array(path, "c")
        numbers = np.array([[int(r[c]) for c in INDEX_COLUMNS[3:]] for r in rows], np.int64)
        offsets, heights, widths = numbers.reshape(-1, 3).T
        if not rows or pixels.shape != (int((heights * widths).sum()), 3):
            raise build_damage_error(path)
        names = tuple(row["name"] for row in rows)
        return cls(pixels, names, offsets, heights, widths, record["sha256"])

    def get_image(self, position: int) -> np.ndarray:
        """Return one image as (H, W, 3) uint8."""
        height, width = int(self.heights[position]), int(self.widths[position])
        start = int(self.offsets[position])
        return self.pixels[start : start + height * width].reshape(height, width, 3)


class SampleSpec(NamedTuple):
    """The random part of one sample.

    The crop is `side` pixels square at (top, left) of `image`; it is flipped upside down, mirrored
    and transposed (in this order) where `flip`, `mirror` and `transpose` say so; `targets` (Q,)
    are the pixels asked for, as row * side + column of the turned crop.
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
    """Training samples on the device, colors in [0, 1].

    `low` (B, 3, p, p) float32 low-resolution patches; `pixels` (B, Q, 2) int64 (row, column) of
    the targets in the high-resolution crops, `sides` (B,) int64 the sides of these; `colors`
    (B, Q, 3) float32 targets.
    """

    low: Tensor
    pixels: Tensor
    sides: Tensor
    colors: Tensor


class HostBatch(NamedTuple):
    """The random part of a batch, on the host.

    `sides` (B,) int64 of the crops; `targets` (B, Q) as in `SampleSpec`; `crops` (B, S, S, 3) uint8
    the turned crops, or (B, 2, S) int64 the places of their rows and columns where the device holds
    the pixels.
    """

    sides: Tensor
    targets: Tensor
    crops: Tensor


class Sampler:
    """Draws training batches (protocol, section 5).

    Per sample: the next image of a shuffled epoch, a scale s uniform in `scale_range`, a crop of
    round(s * patch) pixels, its reduction to patch x patch exactly as Pillow's bicubic filter
    makes it, random turns, and `queries` pixels of the crop without replacement.

    Raises `UserError` where an image is smaller than the largest crop, or the smallest crop holds
    fewer pixels than are asked for.
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
        bank = np.zeros((largest - smallest + 1, self.patch, largest))
        for side in range(smallest, largest + 1):
            bank[side - smallest, :, :side] = compute_pillow_weights(side, self.patch)
        self.smallest, self.bank = smallest, torch.from_numpy(bank).to(self.device)
        self._order = lru_cache(maxsize=2)(
            lambda epoch: self._build_generator(EPOCH, epoch).permutation(len(images.names))
        )

    @property
    def is_resident(self) -> bool:
        """Whether the pixels live on the device: on CUDA, where they leave room for the rest."""
        if self.device.type != "cuda":
            return False
        memory = torch.cuda.get_device_properties(self.device).total_memory
        return self.images.pixels.nbytes <= RESIDENT_SHARE * memory

    def _check_sizes(self, smallest: int, largest: int) -> None:
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
        sequence = np.random.SeedSequence(self.seed, spawn_key=key)
        return np.random.Generator(np.random.PCG64(sequence))

    def draw_sample(self, step: int, place: int) -> SampleSpec:
        """Draw the sample at `place` of the batch of `step`: a pure function of seed and both."""
        epoch, turn = divmod(step * self.batch_size + place, len(self.images.names))
        image = int(self._order(epoch)[turn])
        random = self._build_generator(SAMPLE, step, place)
        scale = random.uniform(*self.scales)
        side = round(self.patch * scale)
        top = int(random.integers(self.images.heights[image] - side + 1))
        left = int(random.integers(self.images.widths[image] - side + 1))
        flip, mirror, transpose = (bool(bit) for bit in random.integers(0, 2, 3))
        targets = random.choice(side * side, self.queries, replace=False, shuffle=False)
        return SampleSpec(image, scale, side, top, left, flip, mirror, transpose, targets)

    def build_batch(self, step: int) -> Batch:
        """Make the batch of `step` on the device."""
        return self.assemble_batch(self.draw_batch(step))

    def prefetch_batches(self) -> Callable[[int], Batch]:
        """Return `batch` with the random part of the next step drawn on a thread meanwhile."""
        drawn = Prefetcher(self.draw_batch)
        return lambda step: self.assemble_batch(drawn(step))

    def draw_batch(self, step: int) -> HostBatch:
        """SampleSpec the batch of `step`, on the host."""
        draws = [self.draw_sample(step, place) for place in range(self.batch_size)]
        sides = np.array([draw.side for draw in draws])
        size = int(sides.max())
        # What row i and column j of each crop add to the place of a pixel: (B, 2, size). Beyond a
        # crop its last row and column are repeated; nothing reads them.
        crops = np.stack([self._compute_line_offsets(draw, size) for draw in draws])
        if not self.is_resident:
            index = crops[:, 0, :, None] + crops[:, 1, None, :]
            crops = self.images.pixels.take(index, axis=0)
        targets = np.stack([draw.targets for draw in draws])
        drawn = map(torch.from_numpy, (sides, targets, crops))
        # From pinned memory the copy does not wait for the steps queued before it.
        pin = self.device.type == "cuda"
        return HostBatch(*(part.pin_memory() if pin else part for part in drawn))

    def assemble_batch(self, drawn: HostBatch) -> Batch:
        """Make the batch of what was drawn, on the device, without waiting for it."""
        sides, targets, canvas = (part.to(self.device, non_blocking=True) for part in drawn)
        if self.is_resident:
            down, along = canvas.unbind(1)
            canvas = self.pixels[down[:, :, None] + along[:, None, :]]
        low = self._reduce_crops(canvas, sides - self.smallest)
        row, column = targets // sides[:, None], targets % sides[:, None]
        chosen = (row * canvas.shape[2] + column)[..., None].expand(-1, -1, 3)
        colors = canvas.flatten(1, 2).gather(1, chosen).float() / 255
        return Batch(low, torch.stack([row, column], dim=-1), sides, colors)

    def _compute_line_offsets(self, draw: SampleSpec, size: int) -> np.ndarray:
        """Return (2, size): what row i and column j of a crop add to the place of a pixel."""
        step = np.arange(size).clip(max=draw.side - 1)
        turned = draw.side - 1 - step
        width = self.images.widths[draw.image]
        rows = (draw.top + (turned if draw.flip else step)) * width
        columns = draw.left + (turned if draw.mirror else step)
        pair = (columns, rows) if draw.transpose else (rows, columns)
        return np.stack([pair[0] + self.images.offsets[draw.image], pair[1]])

    def _reduce_crops(self, canvas: Tensor, which: Tensor) -> Tensor:
        """Reduce crops (B, S, S, 3) uint8 as Pillow does; (B, 3, p, p) float32 in [0, 1]."""
        weights = self.bank[which, None, :, : canvas.shape[1]]
        planes = canvas.permute(0, 3, 1, 2).double()
        wide = _round_sums(planes @ weights.mT)
        return (_round_sums(weights @ wide) / 255).float()


def _round_sums(sums: Tensor) -> Tensor:
    return torch.floor(sums / 2**PILLOW_BITS + 0.5).clamp(0, 255)
