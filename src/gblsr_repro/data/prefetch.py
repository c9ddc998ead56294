"""Prepare the next item on a thread while the current one is used."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Prefetcher(Generic[Item]):
    """Call `prepare(step)` and start `prepare(step + 1)` on a thread.

    The item of a step depends on the step alone. Steps can therefore be requested in any order,
    and a resumed run gets the items that an uninterrupted run gets. An exception in `prepare` is
    raised where its step is requested: never, of a step after the last one.
    """

    def __init__(self, prepare: Callable[[int], Item]) -> None:
        self.prepare = prepare
        self._thread = ThreadPoolExecutor(1, "prefetch")
        self._next: tuple[int, Future[Item]] | None = None

    def __call__(self, step: int) -> Item:
        """Return the item of `step`."""
        if self._next is not None and self._next[0] == step:
            current = self._next[1]
        else:
            current = self._thread.submit(self.prepare, step)
        self._next = (step + 1, self._thread.submit(self.prepare, step + 1))
        return current.result()
