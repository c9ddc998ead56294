"""Exceptions that the command line turns into one sentence and an exit status."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class UserError(Exception):
    """Something the user can put right.

    The message is one sentence that says what is wrong, where, and what to do. The command line
    prints it without a traceback and exits with status 2.
    """


class StopRequested(Exception):
    """A signal asked a long job to stop; its state is saved and the same command goes on.

    The command line prints the message and exits with status 75 (EX_TEMPFAIL of sysexits.h).
    """


def build_write_error(path: object, error: OSError) -> UserError:
    """Return the error for a file that could not be written."""
    return UserError(
        f"Cannot write {path}: {error.strerror or error}; free some space or make the folder "
        "writable."
    )


@contextmanager
def explain_memory_shortage(what: str) -> Iterator[None]:
    """Raise a `UserError` that opens with `what` where the memory runs out within the block."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # Python's and numpy's, a GPU's, and what torch says of the CPU's.
        said = ("not enough memory", "DefaultCPUAllocator", "out of memory")
        known = isinstance(error, MemoryError) or any(text in str(error) for text in said)
        if not known:
            raise
        raise UserError(
            f"{what} does not fit the memory; use a smaller image, a crop of it or a machine with "
            "more memory."
        ) from error
