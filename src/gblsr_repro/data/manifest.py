"""Write and read the manifest of a data set: its files as they were at the first fetch."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path, PurePosixPath

from ..errors import UserError
from ..files import compute_sha256, read_csv, write_csv
from .images import decode_image

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg")


@dataclass(frozen=True)
class ManifestEntry:
    """One file in a manifest: relative path, size in bytes, SHA-256.

    Of an image also `width` and `height` in pixels and `mode`, L or RGB; None for other files.
    """

    path: str
    bytes: int
    sha256: str
    width: int | None
    height: int | None
    mode: str | None


def inspect_file(file: Path, path: str) -> ManifestEntry:
    """Read a whole file, decode it if it is an image, and build its manifest entry.

    `path` is the relative path of the entry. Raises `UserError` when an image does not decode.
    """
    if PurePosixPath(path).suffix.lower() not in IMAGE_SUFFIXES:
        return ManifestEntry(path, file.stat().st_size, compute_sha256(file), None, None, None)
    content = file.read_bytes()
    pixels = decode_image(content, file)
    height, width = pixels.shape[:2]
    digest = hashlib.sha256(content).hexdigest()
    return ManifestEntry(
        path, len(content), digest, width, height, "L" if pixels.ndim == 2 else "RGB"
    )


def write_manifest(path: Path, entries: Iterable[ManifestEntry]) -> None:
    """Write a manifest (.csv), sorted by path."""
    rows = sorted(entries, key=lambda entry: entry.path)
    write_csv(path, [field.name for field in fields(ManifestEntry)], map(astuple, rows))


def read_manifest(path: Path) -> dict[str, ManifestEntry]:
    """Read the entries of a manifest by relative path; `UserError` when it is damaged."""
    columns = [field.name for field in fields(ManifestEntry)]
    try:
        rows = read_csv(path)
        if not rows or list(rows[0]) != columns:
            raise ValueError("it lacks the columns or the lines of a manifest")
        return {row["path"]: _parse_entry(row) for row in rows}
    except (ValueError, TypeError, csv.Error) as error:
        raise UserError(f"{path} is damaged ({error}); delete it and fetch again.") from error


def _parse_entry(row: dict[str, str]) -> ManifestEntry:
    """Parse one line of a manifest; `ValueError` when it is not valid."""
    relative = PurePosixPath(row["path"])
    if relative.is_absolute() or ".." in relative.parts or len(row["sha256"]) != 64:
        raise ValueError(f"the line of {row['path']!r} is not valid")
    width, height = (int(row[key]) if row[key] else None for key in ("width", "height"))
    size = int(row["bytes"])
    return ManifestEntry(row["path"], size, row["sha256"], width, height, row["mode"] or None)
