"""Recognize released files by their checksums, which config/released.tsv lists."""

from __future__ import annotations

from dataclasses import dataclass

from ..config import find_repository_root, read_table
from ..progress import log
from .reading import Checkpoint


@dataclass(frozen=True)
class KnownFile:
    """A row of config/released.tsv: a file that others released, and the row that it is of.

    `bytes` is its size, `what` says who published it as what.
    """

    file: str
    sha256: str
    bytes: str
    row: str
    what: str
    license: str


def recognize_file(checkpoint: Checkpoint) -> KnownFile | None:
    """Recognize a file by its checksum: the row about it, None for a file that is not known.

    One with the name of a known file and another checksum is logged as a warning, with both sizes.
    """
    table = read_table(find_repository_root() / "config" / "released.tsv", KnownFile, "file")
    for known in table.values():
        if known.sha256 == checkpoint.sha256:
            return known
    if namesake := table.get(checkpoint.file.name):
        log.warning(
            "%s has the name of a released file, but another checksum (%d bytes, not %s): who made "
            "it is not known.",
            checkpoint.file,
            checkpoint.file.stat().st_size,
            namesake.bytes,
        )
    return None
