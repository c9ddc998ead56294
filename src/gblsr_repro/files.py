"""Write files atomically, read them, and compute their checksums."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import socket
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from .errors import UserError, build_write_error
from .wording import shorten

TEMPORARY = ".unfinished"


@contextmanager
def write_atomically(path: Path | str) -> Iterator[Path]:
    """Yield a temporary file beside `path`; rename it to `path` when the block succeeds.

    The temporary file is flushed to disk before the rename and removed when the block raises, so
    `path` has either its old or its complete new content. Raises `UserError` when the disk is full
    or the folder cannot be written. Temporary files that killed processes of this machine left for
    the same `path` are removed. A symbolic link is replaced; what it leads to, which
    `os.path.realpath` names, stays.
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


def try_writing(path: Path) -> None:
    """Raise `UserError` where no file can be written as `path`; leave nothing behind."""
    try:
        folder = next(f for f in Path(os.path.realpath(path)).parents if f.exists())
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise build_write_error(path, error) from error


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
    """Write UTF-8 text atomically; `UserError` for a name of a file that is no such text."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:  # Python reads such a name with lone surrogates
        line = text[: error.end].splitlines()[-1].strip()
        raise UserError(
            f"{path} cannot hold {shorten(line)}, which is no text in UTF-8; rename what is called "
            "so."
        ) from error
    write_bytes(path, content)


def write_json(path: Path | str, value: Any) -> None:
    """Write a JSON document atomically, with the keys in the order of `value`."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json_map(path: Path | str) -> dict[str, Any]:
    """Read a JSON document that is a map; `UserError` when the file is missing or damaged."""
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; run the step that makes it first.") from error
    except ValueError as error:  # no JSON, or no UTF-8
        raise UserError(f"{path} is damaged ({error}); delete it and run again.") from error
    if not isinstance(value, dict):
        raise UserError(f"{path} is damaged (it holds no map); delete it and run again.")
    return value


def write_csv(
    path: Path | str, columns: Sequence[str], rows: Iterable[Mapping[str, Any] | Sequence[Any]]
) -> None:
    """Write rows as CSV atomically.

    `rows` are mappings by column name or sequences in the order of `columns`. Floats are written as
    the shortest text that reads back as the same number; None becomes an empty cell.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        values = [row.get(c) for c in columns] if isinstance(row, Mapping) else row
        writer.writerow(["" if value is None else value for value in values])
    write_text(path, text.getvalue())


def read_csv(path: Path | str) -> list[dict[str, str]]:
    """Read the rows of a table by column name; `UserError` where the file is no such text."""
    try:
        with Path(path).open(newline="", encoding="utf-8") as stream:
            return list(csv.DictReader(stream))
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} is no table in UTF-8 ({error}); restore or correct it.") from error


def compute_sha256(path: Path | str) -> str:
    """Compute the SHA-256 of a file as lower-case hexadecimal text."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def compute_short_checksum(text: str) -> str:
    """Compute the first 16 hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
