"""Write and read the manifest of a data set: its files as they were at the first fetch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from ..config import TableRow, read_table
from ..config.rows import Checksum, require_place_below
from ..errors import UserError
from ..files import write_csv
from .images import decode_image, is_image, read_content


class ManifestEntry(TableRow):
    """One file in a manifest: relative path, size in bytes, SHA-256.

    Of an image also `width` and `height` in pixels and `mode`, L or RGB; None for other files.
    """

    path: Annotated[str, AfterValidator(require_place_below)]
    bytes: int
    sha256: Checksum
    width: int | None = None
    height: int | None = None
    mode: Literal["L", "RGB"] | None = None


def inspect_file(file: Path, path: str) -> ManifestEntry:
    """Read a whole file, decode it if it is an image, and build its manifest entry.

    `path` is the relative path of the entry. Raises `UserError` when the file cannot be read, or an
    image does not decode.
    """
    content = read_content(file)
    facts: dict[str, Any] = {}
    if is_image(Path(path)):
        pixels = decode_image(content, file)
        height, width = pixels.shape[:2]
        facts = {"width": width, "height": height, "mode": "L" if pixels.ndim == 2 else "RGB"}
    digest = hashlib.sha256(content).hexdigest()
    return ManifestEntry(path=path, bytes=len(content), sha256=digest, **facts)


def write_manifest(path: Path, entries: Iterable[ManifestEntry]) -> None:
    """Write a manifest (.csv), sorted by path."""
    rows = sorted(entries, key=lambda entry: entry.path)
    write_csv(path, list(ManifestEntry.model_fields), [row.model_dump() for row in rows])


def read_manifest(path: Path) -> dict[str, ManifestEntry]:
    """Read the entries of a manifest by relative path; `UserError` when it is damaged."""
    entries = read_table(path, ManifestEntry, "path", remedy="delete it and fetch again")
    if not entries:
        raise UserError(f"{path} has no line; delete it and fetch again.")
    return entries
