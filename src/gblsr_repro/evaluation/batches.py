"""Reading an array's images a few at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from ..data.arrays import ImageArray
from ..progress import Progress

BATCH = 4  # the largest arm, WIRE, takes about 0.6 GB of activations per 256x256 image


def read_batches(
    arrays: ImageArray, count: int, device: torch.device, label: str
) -> Iterator[tuple[Sequence[str], Tensor]]:
    """Yield names and images (B, 3, S, S) of the first `count` images, in order; show how far."""
    with Progress(label, count, "image") as progress:
        for start in range(0, count, BATCH):
            chosen = slice(start, min(start + BATCH, count))
            yield arrays.names[chosen], arrays.load_images(chosen, device)
            progress.update(chosen.stop - start)
