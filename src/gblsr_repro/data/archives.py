"""Unpack selected members of a gzipped tar or zip archive from an untrusted source."""

from __future__ import annotations

import gzip
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from ..errors import UserError
from ..files import write_atomically

BLOCK = 1 << 20  # bytes read at once
GZIP_START = b"\x1f\x8b"

READ_ERRORS = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
)
"""What the standard library raises for a damaged or encrypted archive."""


Member = tuple[str, int, Callable[[], IO[bytes] | None] | None]
"""A member's name, its size in bytes and what opens its content; None if it is no plain file."""


def extract_members(
    archive: Path,
    select_target: Callable[[str], Path | None],
    limit: int,
    check: Callable[[Path, Path], None],
) -> list[Path]:
    """Unpack the members for which `select_target(name)` returns a path, in archive order.

    A target appears only when it is complete and `check(temporary, target)` has accepted it;
    `check` raises `UserError` to refuse it. The format, tar or zip, is detected from the content.
    Returns the targets.

    Raises `UserError`, and unpacks no further, when a name is absolute or climbs out of its folder
    with `..`, when a selected member is a link, a device or listed twice, when the archive holds
    more than `limit` bytes in all (of a tar: with its headers), or when it is damaged or encrypted.
    """
    targets: dict[Path, None] = {}  # in order, and quick to look up
    total = 0
    try:
        for name, size, open_content in _read_members(archive, limit):
            _check_name(name, archive)
            total += size
            _check_total(total, limit, archive)
            target = select_target(name)
            if target is None:
                continue
            stream = open_content() if open_content and target not in targets else None
            if stream is None:
                raise _refuse(archive, f"holds {name} as something other than one plain file")
            with stream, write_atomically(target) as temporary:
                with temporary.open("wb") as out:
                    shutil.copyfileobj(stream, out)  # zip and tar hand out `size` bytes at most
                check(temporary, target)
            targets[target] = None
    except READ_ERRORS as error:
        raise _refuse(archive, f"is damaged ({error})") from error
    return list(targets)


def check_format(file: Path, url: str) -> None:
    """Raise `UserError` for a download that is neither zip nor gzip, such as a web page."""
    with file.open("rb") as stream:
        start = stream.read(64)
    if not zipfile.is_zipfile(file) and start[:2] != GZIP_START:
        text = start.decode("latin-1").split("\n")[0]
        raise UserError(
            f"{url} came as no tar or zip archive (it begins with {text!r}) and was deleted; check "
            "the address in config/datasets.tsv, or get the archive by another way."
        )


def _check_name(name: str, archive: Path) -> None:
    """Raise `UserError` for a member name that points outside the folder to unpack into."""
    path = PurePosixPath(name.replace("\\", "/"))
    has_drive = bool(path.parts) and path.parts[0].endswith(":")
    if path.is_absolute() or has_drive or ".." in path.parts:
        raise _refuse(archive, f"holds {name!r}, which points outside its folder")


def _check_total(total: int, limit: int, archive: Path) -> None:
    """Raise `UserError` for an archive that unpacks to more than `limit` bytes."""
    if total > limit:
        raise _refuse(archive, f"unpacks to more than the {limit} bytes allowed for it")


def _read_members(archive: Path, limit: int) -> Iterator[Member]:
    """Yield the members of a zip or gzipped tar archive in its order."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                file_type = stat.S_IFMT(info.external_attr >> 16)
                is_file = not info.is_dir() and file_type in (0, stat.S_IFREG)
                yield info.filename, info.file_size, partial(packed.open, info) if is_file else None
        return
    _check_gzip(archive, limit)
    with tarfile.open(archive, "r:gz") as tape:
        for entry in tape:
            is_file = entry.isreg()
            yield entry.name, entry.size, partial(tape.extractfile, entry) if is_file else None


def _check_gzip(archive: Path, limit: int) -> None:
    """Decompress the whole archive to verify its gzip checksum, which tarfile does not compare."""
    total = 0
    with gzip.open(archive) as stream:
        while block := stream.read(BLOCK):
            total += len(block)
            _check_total(total, limit, archive)


def _refuse(archive: Path, reason: str) -> UserError:
    return UserError(f"{archive} {reason}; delete it and fetch again.")
