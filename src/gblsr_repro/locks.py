"""Lock files between processes by `flock`, which Linux and macOS have and Windows has not."""

from __future__ import annotations

import errno
from typing import IO

from .errors import UserError

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None


def lock_file(file: int | IO[bytes], wait: bool) -> None:
    """Lock an open file until it is closed or its process ends.

    Raises `BlockingIOError` where another process has the lock and this one shall not wait for it,
    and another `OSError` where there are no locks.
    """
    if not HAS_LOCKS:
        raise OSError(errno.ENOTSUP, "no locks on this system")
    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def require_locks() -> None:
    """Raise `UserError` on a system where jobs of the workflow could not be kept apart."""
    if not HAS_LOCKS:
        raise UserError(
            "The workflow and its jobs need file locks, which this system lacks; run them on "
            "Linux, in WSL or on a Mac (the commands for your own images work here)."
        )
