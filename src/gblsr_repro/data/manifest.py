"""The record of a data set's files: made when they first arrive, compared from then on."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path, PurePosixPath

from ..errors import UserError
from ..files import verify, write_csv
from .images import decode_native

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg")


@dataclass(frozen=True)
class Entry:
    """One file: relative path, size in bytes, SHA-256; of an image also its size and kind.

    `width` and `height` are pixels and `mode` is L or RGB; all three are None for other files.
    """

    path: str
    bytes: int
    sha256: str
    width: int | None
    height: int | None
    mode: str | None


def inspect(file: Path, path: str) -> Entry:
    """Read a whole file, decode it if it is an image, and describe it as `path`.

    Raises `UserError` when it cannot be read or an image does not decode.
    """
    if PurePosixPath(path).suffix.lower() not in IMAGE_SUFFIXES:
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return Entry(path, file.stat().st_size, digest, None, None, None)
    content = file.read_bytes()
    pixels = decode_native(content, file)
    height, width = pixels.shape[:2]
    digest = hashlib.sha256(content).hexdigest()
    return Entry(path, len(content), digest, width, height, "L" if pixels.ndim == 2 else "RGB")


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Write a manifest, sorted by path."""
    rows = sorted(entries, key=lambda entry: entry.path)
    write_csv(path, [field.name for field in fields(Entry)], [astuple(row) for row in rows])


def read(path: Path) -> dict[str, Entry]:
    """Read a manifest by relative path; `UserError` when it is absent or damaged."""
    columns = [field.name for field in fields(Entry)]
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.DictReader(stream)
            if reader.fieldnames != columns:
                raise ValueError("its columns are not those of a manifest")
            entries = {row["path"]: _entry(row) for row in reader}
            if not entries:
                raise ValueError("it lists no file")
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; fetch the data set first.") from error
    except (ValueError, TypeError, csv.Error) as error:
        raise UserError(f"{path} is damaged ({error}); delete it and fetch again.") from error
    verify(path)
    return entries


def _entry(row: dict[str, str]) -> Entry:
    relative = PurePosixPath(row["path"])
    if relative.is_absolute() or ".." in relative.parts or len(row["sha256"]) != 64:
        raise ValueError(f"line of {row['path']!r}")
    width, height = (int(row[key]) if row[key] else None for key in ("width", "height"))
    size = int(row["bytes"])
    return Entry(row["path"], size, row["sha256"], width, height, row["mode"] or None)
