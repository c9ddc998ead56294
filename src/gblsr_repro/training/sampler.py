"""Random draws of a native training: the order of the images, and the pixels of a step."""

from __future__ import annotations

import torch
from torch import Tensor

from ..errors import UserError


class EpochSampler:
    """Shuffled epochs of `count` items in batches of `batch_size`, the partial last one dropped.

    A pure function of step and `state`, the state of torch's generator after the model was built.
    From there it draws as the authors' released trainer does, with torch's loader: one number when
    the validation images are first read, one when the training loader starts, then one per epoch,
    which seeds a separate generator for that epoch's permutation. Raises `UserError` when there are
    fewer items than a batch needs.
    """

    def __init__(self, count: int, batch_size: int, state: Tensor) -> None:
        if count < batch_size:
            raise UserError(
                f"The training array holds {count} images, fewer than one batch of {batch_size}; "
                "add images or lower the batch size in the config."
            )
        self.count, self.batch_size = count, batch_size
        self._generator = torch.Generator()
        self._generator.set_state(state)
        for _ in ("validation", "training"):
            self._draw()
        self._seeds: list[int] = []  # of the epochs so far

    def _draw(self) -> int:
        """Draw a number of 64 bits."""
        return int(torch.empty((), dtype=torch.int64).random_(generator=self._generator))

    def select_items(self, step: int) -> Tensor:
        """Select the items (batch_size,), int64, of a step counted from 0."""
        epoch, batch = divmod(step, self.count // self.batch_size)
        while len(self._seeds) <= epoch:
            self._seeds.append(self._draw())
        generator = torch.Generator().manual_seed(self._seeds[epoch])
        order = torch.randperm(self.count, generator=generator)
        return order[batch * self.batch_size : (batch + 1) * self.batch_size]


def draw_pixels(count: int, images: int, pixels: int, seed: int, step: int) -> Tensor:
    """Draw the pixels of a step's loss among `count`: (images, pixels) int64, distinct.

    From a generator that depends on seed and step alone, so that no other draw of the run changes.
    """
    # Torch's generator uses 32 bits of a seed.
    generator = torch.Generator().manual_seed((seed * 1_000_003 + step) % 2**32)
    drawn = [torch.randperm(count, generator=generator)[:pixels] for _ in range(images)]
    return torch.stack(drawn)
