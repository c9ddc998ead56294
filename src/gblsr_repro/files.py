"""Write files atomically, and read them with their checksums."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil

from .errors import UserError, build_write_error

TEMPORARY = ".unfinished"
CLOCK_SKEW_SECONDS = 60.0


@contextmanager
def write_atomically(path: Path | str) -> Iterator[Path]:
    """Yield a temporary file beside `path`; rename it to `path` when the block succeeds.

    The temporary file is flushed to disk before the rename and removed when the block raises, so
    `path` has either its old or its complete new content. Raises `UserError` when the disk is full
    or the folder cannot be written. Temporary files that killed processes of this machine left for
    the same `path` are removed.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path)
        prefix = f"{_build_temporary_prefix(path)}{os.getpid()}."
        handle, name = tempfile.mkstemp(TEMPORARY, prefix, path.parent)
        os.close(handle)
    except OSError as error:
        raise build_write_error(path, error) from error
    temporary = Path(name)
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


def _build_temporary_prefix(path: Path) -> str:
    """Build the beginning of the names of this machine's temporary files for `path`.

    It is a checksum, because the name of `path` may be as long as the file system allows.
    """
    name = os.fsencode(f"{socket.gethostname()}/{path.name}")
    return f".{hashlib.sha256(name).hexdigest()[:16]}."


def _remove_leftovers(path: Path) -> None:
    """Remove temporary files beside `path` whose process of this machine has ended."""
    for leftover in path.parent.glob(f"{_build_temporary_prefix(path)}*{TEMPORARY}"):
        process = int(leftover.name.split(".")[2])
        if not psutil.pid_exists(process):
            leftover.unlink(missing_ok=True)


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
