"""Hold a lock file, so that one process at a time trains a run, computes rows or fetches data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from .errors import UserError, build_write_error

EVERYONE = 0o666  # the mode of a lock file: it stays, and other users' processes lock it later


@contextmanager
def hold_lock(path: Path, on_busy: Callable[[], UserError | None]) -> Iterator[None]:
    """Hold a lock file that one process at a time can hold; the empty file stays.

    While another process holds it, `on_busy` is called; the error that it returns is raised, and
    after None this process waits. The system frees the lock of a process that ends or is killed.
    Raises `UserError` when the file cannot be written.
    """
    lock = FileLock(path, mode=EVERYONE)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            if refusal := on_busy():
                raise refusal from error
            lock.acquire()
    except OSError as error:
        raise build_write_error(path, error) from error
    try:
        yield
    finally:
        lock.release()
