"""Making what comes next on a thread, while what is there is used."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Prefetcher(Generic[Result]):
    """Calls `make(step)` and, on a thread, already `make(step + 1)`.

    `make` must follow from the step alone: then it does not matter which steps are asked for, and
    a run that goes on from a state sees what it would have seen. What `make` raises is raised where
    its step is asked for.
    """

    def __init__(self, make: Callable[[int], Result]) -> None:
        self.make = make
        self._thread = ThreadPoolExecutor(1, "draw-ahead")
        self._next: tuple[int, Future[Result]] | None = None

    def __call__(self, step: int) -> Result:
        """Return what `make` makes of `step`."""
        due = self._next
        current = due[1] if due and due[0] == step else self._thread.submit(self.make, step)
        self._next = (step + 1, self._thread.submit(self.make, step + 1))
        return current.result()
