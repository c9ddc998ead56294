"""Look up released files of weights that are known: the rows of config/released.tsv.

What planning needs; nothing here imports torch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ..config import TableRow, find_repository_root, parse_address, read_table
from ..config.addresses import HUB
from ..config.rows import Checksum, RowName, Text
from ..errors import UserError

TABLE = "config/released.tsv"


class KnownFile(TableRow):
    """A row of config/released.tsv: a file of weights and the arm or method `row` that it is of.

    `address` is its name, or its address on the hub or in the config; `sha256` is None where it is
    not known; `colors` are what its network takes: in [0, 1] (unit) or in [-1, 1] (normalized).
    """

    address: Text
    sha256: Checksum | None = None
    row: RowName
    colors: Literal["normalized", "unit"]
    license: Text
    by: Text


def read_known_files() -> list[KnownFile]:
    """Read all rows of config/released.tsv."""
    return [*read_table(find_repository_root() / TABLE, KnownFile, "address").values()]


def list_known_files(row: str) -> list[KnownFile]:
    """List the known files of an arm or a method."""
    return [known for known in read_known_files() if known.row == row]


def find_known_file(address: str, file: Path, sha256: str) -> KnownFile | None:
    """Find a file by its checksum, or by its address or name; None for one that is not known.

    Raises `UserError` where it has the address or name of a known file, and another checksum.
    """
    rows = read_known_files()
    for known in rows:
        if known.sha256 == sha256:
            return known
    names = (_drop_revision(address), file.name)
    found = next((known for known in rows if known.address in names), None)
    if found and found.sha256:
        raise UserError(
            f"{file} is not the file that {TABLE} has as {found.address} (its SHA-256 is {sha256}, "
            f"not {found.sha256}); get it again, or give another file another name."
        )
    return found


def _drop_revision(address: str) -> str:
    """Drop the revision from a hub address; a path is kept."""
    hub = parse_address(address)
    return f"{HUB}{hub.repository}/{hub.path}" if hub else address
