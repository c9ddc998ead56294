"""Unpacking chosen members of a gzipped tar or a zip archive without trusting it."""

from __future__ import annotations

import gzip
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from ..errors import UserError
from ..files import write_atomically

BLOCK = 1 << 20

Member = tuple[str, int, bool, Callable[[], IO[bytes] | None]]


def extract_members(
    archive: Path,
    choose: Callable[[str], Path | None],
    limit: int,
    check: Callable[[Path, Path], None],
) -> list[Path]:
    """Unpack the members for which `choose(name)` gives a target, in the archive's order.

    Every target appears whole or not at all, after `check(temporary, target)`, which raises
    `UserError` to refuse it. The kind of archive is told from its content.

    Raises `UserError`, and unpacks no further, when a name is absolute or climbs out with `..`,
    when a chosen member is a link, a device or there twice, when the archive holds more than
    `limit` bytes in all (of a tar: with its headers), or when it is damaged or encrypted.
    """
    done: dict[Path, None] = {}
    total = 0
    try:
        for name, size, regular, content in _read_members(archive, limit):
            path = PurePosixPath(name.replace("\\", "/"))
            drive = bool(path.parts) and path.parts[0].endswith(":")
            if path.is_absolute() or drive or ".." in path.parts:
                raise _build_refusal(archive, f"holds {name!r}, which points outside its folder")
            total += size
            if total > limit:
                raise _build_size_error(archive, limit)
            target = choose(name)
            if target is None:
                continue
            stream = content() if regular and target not in done else None
            if stream is None:
                raise _build_refusal(
                    archive, f"holds {name} as something other than one plain file"
                )
            with stream, write_atomically(target) as temporary:
                _copy_member(stream, temporary, size, archive)
                check(temporary, target)
            done[target] = None
    except _DAMAGE as error:
        raise _build_damage_error(archive, error) from error
    return list(done)


_DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
)


def _read_members(archive: Path, limit: int) -> Iterator[Member]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                kind = stat.S_IFMT(info.external_attr >> 16)
                regular = not info.is_dir() and kind in (0, stat.S_IFREG)
                yield (
                    info.filename,
                    info.file_size,
                    regular,
                    lambda info=info: packed.open(info),  # type: ignore[misc]
                )
        return
    _check_gzip(archive, limit)
    with tarfile.open(archive, "r:gz") as tape:
        for member in tape:
            yield (
                member.name,
                member.size,
                member.isreg(),
                lambda member=member: tape.extractfile(member),  # type: ignore[misc]
            )


def _check_gzip(archive: Path, limit: int) -> None:
    """Read all of it: tarfile alone never compares gzip's checksum, which stands at the end."""
    total = 0
    with gzip.open(archive) as stream:
        while block := stream.read(BLOCK):
            total += len(block)
            if total > limit:
                raise _build_size_error(archive, limit)


def _copy_member(stream: IO[bytes], target: Path, size: int, archive: Path) -> None:
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


def _build_refusal(archive: Path, why: str) -> UserError:
    return UserError(
        f"{archive} {why}; it is not the published archive: delete it and fetch again."
    )


def _build_damage_error(archive: Path, error: Exception) -> UserError:
    return UserError(f"{archive} is damaged ({error}); delete it and fetch again.")
