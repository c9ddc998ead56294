"""Unpack a zip or gzipped tar archive from an untrusted source."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
import zlib
from pathlib import Path

from ..errors import UserError, build_write_error

BLOCK = 1 << 20  # bytes read at once

READ_ERRORS = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    gzip.BadGzipFile,
    EOFError,
    RuntimeError,
    ValueError,
)
"""What the standard library raises for an archive that is damaged, encrypted or refused."""


def unpack_archive(archive: Path, folder: Path, limit: int) -> None:
    """Unpack an archive, tar or zip by its content, into a folder.

    Nothing is written outside the folder: a tar with names or links that leave it, or with devices,
    is refused (`tarfile.data_filter`), and names of a zip lose what leaves it (`zipfile`). Raises
    `UserError` for that, for an archive that is damaged or encrypted, and for one of more than
    `limit` bytes in all (of a tar: with its headers).
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                _check_size(sum(info.file_size for info in packed.infolist()), limit, archive)
                packed.extractall(folder)  # noqa: S202 (`zipfile` keeps names and sizes)
        else:
            if not hasattr(tarfile, "data_filter"):
                raise UserError(
                    f"This Python cannot unpack {archive} safely; use Python 3.11.4 or newer."
                )
            _check_gzip(archive, limit)
            with tarfile.open(archive, "r:gz") as tape:
                tape.extractall(folder, filter="data")
    except READ_ERRORS as error:
        raise UserError(
            f"{archive}, a zip or gzipped tar, cannot be unpacked ({error}); delete it and fetch "
            "again."
        ) from error
    except OSError as error:
        raise build_write_error(folder, error) from error


def _check_size(size: int, limit: int, archive: Path) -> None:
    """Raise `UserError` for an archive that unpacks to more than `limit` bytes."""
    if size > limit:
        raise UserError(
            f"{archive} unpacks to more than the {limit} bytes allowed for it; delete it and fetch "
            "again."
        )


def _check_gzip(archive: Path, limit: int) -> None:
    """Decompress the whole archive to verify its gzip checksum, which tarfile does not compare."""
    size = 0
    with gzip.open(archive) as stream:
        while block := stream.read(BLOCK):
            size += len(block)
            _check_size(size, limit, archive)
