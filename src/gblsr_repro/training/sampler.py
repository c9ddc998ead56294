"""The order in which a run sees its training images."""

from __future__ import annotations

import torch
from torch import Tensor

from ..errors import UserError


class EpochSampler:
    """Shuffled epochs of `count` items in batches of `batch_size`, the partial last one dropped.

    A pure function of seed and step: the generator is this object's own, epoch e is its draw
    number e + 1, and asking for an earlier step starts the draws anew. Raises `UserError` when
    there are fewer items than a batch holds.
    """

    def __init__(self, count: int, batch_size: int, seed: int) -> None:
        if count < batch_size:
            raise UserError(
                f"The training array holds {count} images, fewer than one batch of {batch_size}; "
                "add images or lower the batch size in the config."
            )
        self.count, self.batch_size, self.seed = count, batch_size, seed
        self.per_epoch = count // batch_size
        self._restart()

    def _restart(self) -> None:
        self._generator = torch.Generator().manual_seed(self.seed)
        self._epoch, self._order = -1, torch.empty(0, dtype=torch.long)

    def indices(self, step: int) -> Tensor:
        """Return the items (batch_size,), int64, of a step counted from 0."""
        epoch, place = divmod(step, self.per_epoch)
        if epoch < self._epoch:
            self._restart()
        while self._epoch < epoch:
            self._order = torch.randperm(self.count, generator=self._generator)
            self._epoch += 1
        return self._order[place * self.batch_size : (place + 1) * self.batch_size]
