"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import UserError


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Yield a temporary sibling of `path`; rename it to `path` when the block ends well.

    The temporary file is flushed to disk before the rename and removed when the block raises, so
    `path` either keeps its old content or has the whole new one. A full disk or a folder that
    cannot be written raises `UserError`.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise UserError(
            f"Cannot write {path}: {error.strerror}; free some space or make the folder writable."
        ) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        raise UserError(
            f"Cannot write {path}: {error.strerror or error}; free some space or make the folder "
            "writable."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path | str, text: str) -> None:
    """Write UTF-8 text atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


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
    """Write rows atomically as CSV.

    `rows` holds mappings by column name or sequences in column order. Floats keep their full
    precision (shortest text that reads back the same); None becomes an empty cell.
    """
    with atomic_path(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            values = [row.get(c) for c in columns] if isinstance(row, Mapping) else row
            writer.writerow(["" if value is None else value for value in values])


def sha256(path: Path | str) -> str:
    """Return the SHA-256 of a file as lower-case hexadecimal text."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
