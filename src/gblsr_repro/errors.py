"""Define the exceptions that the command line prints as one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class UserError(Exception):
    """An error that the user can correct.

    The message is one sentence that says what is wrong, where, and what to do. The command line
    prints it without a traceback and exits with status 2.
    """


class WriteError(UserError):
    """A file could not be written, as the `OSError` in `__cause__` says."""


class StopRequested(Exception):
    """A signal stopped a long job; its state is saved and the same command resumes it.

    The command line prints the message and exits with status 75 (EX_TEMPFAIL of sysexits.h).
    """


def build_write_error(path: object, error: OSError) -> WriteError:
    """Build the error for a file that could not be written."""
    return WriteError(
        f"Cannot write {path}: {error.strerror or error}; free some space or make the folder "
        "writable, or name another."
    )


def build_syntax_error(error: SyntaxError) -> UserError:
    """Build the error for a file of code that is not valid Python."""
    place = f"{error.filename}, line {error.lineno}," if error.filename else "A file of code"
    return UserError(f"{place} is not valid Python ({error.msg}); correct it and run again.")


@contextmanager
def explain_memory_shortage(subject: str) -> Iterator[None]:
    """Raise a `UserError` that begins with `subject` when the memory runs out in the block."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # MemoryError is Python's and numpy's; torch raises a RuntimeError with one of these texts.
        texts = ("not enough memory", "DefaultCPUAllocator", "out of memory")
        is_shortage = isinstance(error, MemoryError) or any(text in str(error) for text in texts)
        if not is_shortage:
            raise
        raise UserError(
            f"{subject} does not fit the memory; use a smaller image, a crop of it or a machine "
            "with more memory."
        ) from error
