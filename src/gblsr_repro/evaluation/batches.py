"""Read the images of an array in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from ..data.arrays import ImageArray
from ..progress import Progress

BATCH = 4  # the largest arm, WIRE, takes about 0.6 GB of activations per 256x256 image


def read_batches(
    array: ImageArray, count: int, device: torch.device, label: str
) -> Iterator[tuple[Sequence[str], Tensor]]:
    """Yield names and images (B, 3, S, S) of the first `count` images, and show the progress."""
    with Progress(label, count, "image") as progress:
        for start in range(0, count, BATCH):
            batch = slice(start, min(start + BATCH, count))
            yield array.names[batch], array.load_images(batch, device)
            progress.update(batch.stop - start)
