"""Unpack selected members of a gzipped tar or zip archive from an untrusted source."""

from __future__ import annotations

import gzip
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

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


class Member(NamedTuple):
    """One member of an archive: its name, its size in bytes, whether it is a plain file.

    `open` opens its content; None where it has none.
    """

    name: str
    size: int
    is_file: bool
    open: Callable[[], IO[bytes] | None]


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
        for member in _read_members(archive, limit):
            _check_name(member.name, archive)
            total += member.size
            if total > limit:
                raise _build_size_error(archive, limit)
            target = select_target(member.name)
            if target is None:
                continue
            stream = member.open() if member.is_file and target not in targets else None
            if stream is None:
                raise _build_refusal(
                    archive, f"holds {member.name} as something other than one plain file"
                )
            with stream, write_atomically(target) as temporary:
                _copy_member(stream, temporary, member.size, archive)
                check(temporary, target)
            targets[target] = None
    except READ_ERRORS as error:
        raise _build_damage_error(archive, error) from error
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
        raise _build_refusal(archive, f"holds {name!r}, which points outside its folder")


def _read_members(archive: Path, limit: int) -> Iterator[Member]:
    """Yield the members of a zip or gzipped tar archive in its order."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                file_type = stat.S_IFMT(info.external_attr >> 16)
                is_file = not info.is_dir() and file_type in (0, stat.S_IFREG)
                yield Member(info.filename, info.file_size, is_file, partial(packed.open, info))
        return
    _check_gzip(archive, limit)
    with tarfile.open(archive, "r:gz") as tape:
        for entry in tape:
            yield Member(entry.name, entry.size, entry.isreg(), partial(tape.extractfile, entry))


def _check_gzip(archive: Path, limit: int) -> None:
    """Decompress the whole archive to verify its gzip checksum, which tarfile does not compare."""
    total = 0
    with gzip.open(archive) as stream:
        while block := stream.read(BLOCK):
            total += len(block)
            if total > limit:
                raise _build_size_error(archive, limit)


def _copy_member(stream: IO[bytes], target: Path, size: int, archive: Path) -> None:
    """Copy a member to `target`; `UserError` unless it has exactly `size` bytes."""
    written = 0
    with target.open("wb") as out:
        while True:
            try:
                block = stream.read(BLOCK)
            except OSError as error:
                raise _build_damage_error(archive, error) from error
            if not block:
                break
            written += len(block)
            if written > size:
                raise _build_size_error(archive, size)
            out.write(block)
    if written != size:
        raise _build_damage_error(archive, EOFError("a member ends early"))


def _build_size_error(archive: Path, limit: int) -> UserError:
    return _build_refusal(archive, f"unpacks to more than the {limit} bytes allowed for it")


def _build_refusal(archive: Path, reason: str) -> UserError:
    return UserError(
        f"{archive} {reason}; it is not the published archive: delete it and fetch again."
    )


def _build_damage_error(archive: Path, error: Exception) -> UserError:
    return UserError(f"{archive} is damaged ({error}); delete it and fetch again.")
