"""Write files atomically, read them with their checksums, and lock them."""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import json
import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from .errors import UserError, build_write_error
from .progress import log

try:
    import fcntl
except ImportError:  # Windows has no `flock`
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None
TEMPORARY = ".unfinished"
CLOCK_SKEW_SECONDS = 60.0


@contextmanager
def write_atomically(path: Path | str) -> Iterator[Path]:
    """Yield a temporary file beside `path`; rename it to `path` when the block succeeds.

    The temporary file is flushed to disk before the rename and removed when the block raises, so
    `path` has either its old or its complete new content. Raises `UserError` when the disk is full
    or the folder cannot be written. Temporary files that killed processes left for the same `path`
    are removed; a lock protects those of running processes, so the block must write into the
    temporary file and not replace it.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path)
        held, temporary = _create_temporary(path)
    except OSError as error:
        raise build_write_error(path, error) from error
    try:
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        raise build_write_error(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
        held.close()


def _create_temporary(path: Path) -> tuple[IO[bytes], Path]:
    """Create a temporary file beside `path`; return it open, which keeps it locked, and its path.

    Without locks it is closed: `_remove_leftovers` removes nothing, and Windows renames no open
    file.
    """
    while True:
        handle, name = tempfile.mkstemp(TEMPORARY, _build_temporary_prefix(path), path.parent)
        held = os.fdopen(handle, "rb")
        with suppress(OSError):
            lock_file(held, wait=True)
        if os.fstat(handle).st_nlink:
            if not HAS_LOCKS:
                held.close()
            return held, Path(name)
        held.close()  # another process removed it before it was locked


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


@contextmanager
def hold_lock(lock: Path, on_busy: Callable[[str], UserError | None]) -> Iterator[None]:
    """Hold a lock file that one process at a time can hold, and remove it afterwards.

    While another process holds it, `on_busy` is called with a description of that process; the
    error that it returns is raised, and after None this process waits. The system releases the lock
    of a process that ends or is killed. Raises `UserError` when the file cannot be written.
    """
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = _acquire_lock(lock, on_busy)
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} of {socket.gethostname()}".encode())
    except OSError as error:
        raise build_write_error(lock, error) from error
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
        os.close(handle)


def _acquire_lock(lock: Path, on_busy: Callable[[str], UserError | None]) -> int:
    """Open and lock a file as `hold_lock` describes; return its handle."""
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            lock_file(handle, wait=False)
        except BlockingIOError as error:
            refusal = on_busy(os.read(handle, 200).decode() or "another process")
            if refusal:
                os.close(handle)
                raise refusal from error
            lock_file(handle, wait=True)
        except OSError as error:
            log.warning("%s: %s; a second job would not be noticed", lock, error.strerror)
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)  # the previous holder removed the file before it was locked here


def _build_temporary_prefix(path: Path) -> str:
    """Build the beginning of the names of temporary files for `path`.

    It is a checksum, because the name of `path` may be as long as the file system allows.
    """
    return f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}."


def _remove_leftovers(path: Path) -> None:
    """Remove temporary files beside `path` that no running process has locked."""
    for leftover in path.parent.glob(f"{_build_temporary_prefix(path)}????????{TEMPORARY}"):
        with suppress(OSError), leftover.open("rb+") as stream:
            lock_file(stream, wait=False)
            leftover.unlink()


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write bytes atomically."""
    with write_atomically(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path | str, text: str) -> None:
    """Write UTF-8 text atomically."""
    write_bytes(path, text.encode())


def write_json(path: Path | str, value: Any) -> None:
    """Write a JSON document atomically, with the keys in the order of `value`."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path | str) -> Any:
    """Read a JSON document; `UserError` when the file is missing or damaged."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; run the step that makes it first.") from error
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, too many digits, too deep
        raise UserError(f"{path} is damaged ({error}); delete it and run again.") from error


def read_json_map(path: Path | str) -> dict[str, Any]:
    """Read a JSON document that is a map; `UserError` as `read_json`, and for anything else."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise UserError(f"{path} is damaged (it holds no map); delete it and run again.")
    return value


def write_csv(
    path: Path | str, columns: Sequence[str], rows: Iterable[Mapping[str, Any] | Sequence[Any]]
) -> None:
    """Write rows as CSV atomically, with a checksum beside it for `verify_checksum`.

    `rows` are mappings by column name or sequences in the order of `columns`. Floats are written as
    the shortest text that reads back as the same number; None becomes an empty cell.
    """
    path = Path(path)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        values = [row.get(c) for c in columns] if isinstance(row, Mapping) else row
        writer.writerow(["" if value is None else value for value in values])
    content, checksum = text.getvalue().encode(), _get_checksum_path(path)
    with write_atomically(path) as temporary:
        temporary.write_bytes(content)
        # A process killed after this leaves a file without a checksum, not one with a wrong one.
        checksum.unlink(missing_ok=True)
    write_text(checksum, f"{hashlib.sha256(content).hexdigest()}  {path.name}\n")


def read_csv(path: Path | str) -> list[dict[str, str]]:
    """Read the rows of a table by column name.

    Raises `UserError` as `verify_checksum` does, and where the file is no such text.
    """
    verify_checksum(path)
    try:
        with Path(path).open(newline="", encoding="utf-8") as stream:
            return list(csv.DictReader(stream))
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} is no table in UTF-8 ({error}); restore or correct it.") from error


def verify_checksum(path: Path | str) -> bool:
    """Compare a file with the checksum that `write_csv` wrote beside it.

    Raises `UserError` when they differ. Returns False when the file or its checksum does not exist.
    """
    path = Path(path)
    checksum = _get_checksum_path(path)
    if not (path.is_file() and checksum.is_file()):
        return False
    if checksum.read_bytes().split()[:1] != [compute_sha256(path).encode()]:
        raise UserError(
            f"{path} was damaged or changed after it was written; delete it and run again, or "
            f"delete {checksum} to use the changed file."
        )
    return True


def _get_checksum_path(path: Path) -> Path:
    """Return the path of the hidden file that holds the checksum of a file."""
    return path.with_name(f".{path.name}.sha256")


def check_dates(paths: Iterable[Path | str]) -> None:
    """Raise `UserError` for a file dated in the future, as after a clock was set back.

    Snakemake would delete and remake results that are older than their inputs. Files that do not
    exist are skipped.
    """
    latest = time.time() + CLOCK_SKEW_SECONDS
    for path in map(Path, paths):
        if path.is_file() and path.stat().st_mtime > latest:
            raise UserError(
                f"{path} is dated {datetime.fromtimestamp(path.stat().st_mtime):%Y-%m-%d %H:%M}, "
                "which is in the future; set the clock right or `touch` the file, and run again."
            )


def compute_sha256(path: Path | str) -> str:
    """Compute the SHA-256 of a file as lower-case hexadecimal text."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def compute_short_checksum(text: str) -> str:
    """Compute the first 16 hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
