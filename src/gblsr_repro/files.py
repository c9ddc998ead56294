"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import csv
import fcntl
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
from typing import Any

from .errors import UserError, build_write_error
from .progress import log

TEMPORARY = ".unfinished"
CLOCK_SKEW_SECONDS = 60.0


@contextmanager
def write_atomically(path: Path | str) -> Iterator[Path]:
    """Yield a temporary sibling of `path`; rename it to `path` when the block ends well.

    The temporary file is flushed to disk before the rename and removed when the block raises, so
    `path` either keeps its old content or has the whole new one. A full disk or a folder that
    cannot be written raises `UserError`. What a killed process left of the same `path` is removed;
    a lock on the temporary file tells it from another process's work, so the block must write
    into that file and not put another in its place.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path)
        handle, temporary = _create_temporary(path)
    except OSError as error:
        raise build_write_error(path, error) from error
    try:
        yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        raise build_write_error(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
        os.close(handle)


def _create_temporary(path: Path) -> tuple[int, Path]:
    """Create a temporary sibling of `path` and lock it as long as its handle is open."""
    while True:
        handle, name = tempfile.mkstemp(TEMPORARY, _temporary_prefix(path), path.parent)
        with suppress(OSError):  # a file system without locks: `_sweep` then removes nothing
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)  # another process swept it away before it was locked


@contextmanager
def hold_lock(lock: Path, taken: Callable[[str], UserError | None]) -> Iterator[None]:
    """Hold a lock file, one process at a time; it is removed again.

    Where another process holds it, `taken` is given its name: what it returns is raised, and after
    None the process is waited for. The system frees the lock of a process that ends, however it
    ends. Raises `UserError` where the file cannot be written.
    """
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = _acquire_lock(lock, taken)
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


def _acquire_lock(lock: Path, taken: Callable[[str], UserError | None]) -> int:
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            refused = taken(os.read(handle, 200).decode() or "another process")
            if refused:
                os.close(handle)
                raise refused from error
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            log.warning("%s: %s; a second job goes unnoticed", lock, error.strerror)
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)  # the holder before removed the file between opening and locking


def _temporary_prefix(path: Path) -> str:
    """Return what names of the temporary siblings of `path` begin with.

    A checksum stands for the name of `path`: that may be as long as the file system takes.
    """
    return f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}."


def _remove_leftovers(path: Path) -> None:
    """Remove the temporary siblings of `path` that no living process has locked."""
    for leftover in path.parent.glob(f"{_temporary_prefix(path)}????????{TEMPORARY}"):
        with suppress(OSError), leftover.open("rb+") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            leftover.unlink()


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write bytes atomically."""
    with write_atomically(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path | str, text: str) -> None:
    """Write UTF-8 text atomically."""
    write_bytes(path, text.encode())


def write_json(path: Path | str, value: Any) -> None:
    """Write a JSON document atomically, keys in the order given, with a final newline."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path | str) -> Any:
    """Read a JSON document; `UserError` names a file that is missing or damaged."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; run the step that makes it first.") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is damaged ({error}); delete it and run again.") from error


def write_csv(
    path: Path | str, columns: Sequence[str], rows: Iterable[Mapping[str, Any] | Sequence[Any]]
) -> None:
    """Write rows atomically as CSV, and beside it the checksum that `verify` compares.

    `rows` holds mappings by column name or sequences in column order. Floats keep their full
    precision (shortest text that reads back the same); None becomes an empty cell.
    """
    path = Path(path)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        values = [row.get(c) for c in columns] if isinstance(row, Mapping) else row
        writer.writerow(["" if value is None else value for value in values])
    write_with_checksum(path, text.getvalue().encode())


def write_with_checksum(path: Path, content: bytes) -> None:
    """Write bytes atomically, and beside them the checksum that `verify` compares."""
    checksum = _get_checksum_path(path)
    with write_atomically(path) as temporary:
        temporary.write_bytes(content)
        # A kill from here on leaves a whole file without a checksum, never one with another's.
        checksum.unlink(missing_ok=True)
    write_text(checksum, f"{hashlib.sha256(content).hexdigest()}  {path.name}\n")


def read_csv(path: Path | str, delimiter: str = ",") -> list[dict[str, str]]:
    """Read the rows of a table by column; `UserError` when `write_csv` wrote something else."""
    verify_checksum(path)
    with Path(path).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream, delimiter=delimiter))


def verify_checksum(path: Path | str) -> bool:
    """Raise `UserError` when a file is no longer what `write_checked` wrote.

    A file that is absent, or has no checksum beside it because something else wrote it, passes;
    returns whether there was one.
    """
    path = Path(path)
    checksum = _get_checksum_path(path)
    if not (path.is_file() and checksum.is_file()):
        return False
    if checksum.read_bytes().split()[:1] != [compute_sha256(path).encode()]:
        raise UserError(
            f"{path} was damaged or changed after it was written; delete it and run again, or "
            f"delete {checksum} to use it as it is."
        )
    return True


def is_up_to_date(path: Path | str, follows: Mapping[str, Any]) -> bool:
    """Return whether a table is there whose record beside it (.json) says that it `follows` so.

    Such a table need not be made again. Raises `UserError` where either is damaged.
    """
    path = Path(path)
    record = path.with_suffix(".json")
    if not (path.is_file() and record.is_file()):
        return False
    verify_checksum(path)
    return read_json(record).get("follows") == json.loads(json.dumps(follows))


def _get_checksum_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.sha256")


def check_dates(paths: Iterable[Path | str]) -> None:
    """Raise `UserError` when a file seems to come from the future, as when a clock was set back.

    Snakemake throws away what is older than what it was made from, though it took days to make.
    Files that do not exist pass.
    """
    latest = time.time() + CLOCK_SKEW_SECONDS
    for path in map(Path, paths):
        if path.is_file() and path.stat().st_mtime > latest:
            raise UserError(
                f"{path} is dated {datetime.fromtimestamp(path.stat().st_mtime):%Y-%m-%d %H:%M}, "
                "which is in the future; set the clock right or `touch` the file, and run again."
            )


def compute_sha256(path: Path | str) -> str:
    """Return the SHA-256 of a file as lower-case hexadecimal text."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
