"""Download one file over HTTP: limit its size, resume after interruptions, check its content."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import requests

from .. import __version__
from ..errors import UserError, build_write_error
from ..progress import Progress, log

ATTEMPTS = 4
TIMEOUT_SECONDS = (15.0, 60.0)  # to connect; between two pieces
BLOCK = 1 << 16
MEGABYTE = 1_000_000


class _InterruptedError(Exception):
    """The transfer ended early; another attempt may succeed."""


def open_session() -> requests.Session:
    """Open a session that reuses its connections to a server."""
    session = requests.Session()
    session.headers["User-Agent"] = f"gblsr-repro/{__version__}"
    session.headers["Accept-Encoding"] = "identity"
    return session


def download_file(
    session: requests.Session,
    url: str,
    target: Path,
    limit: int,
    check: Callable[[Path], None],
    progress: Progress | None = None,
) -> None:
    """Download `url` to `target`, which appears only when complete and accepted by `check`.

    The bytes are collected in a hidden file beside the target. After an interruption the next
    attempt, or the next call, requests the rest, provided that the server identifies the version
    of the file (If-Range with its ETag or date); otherwise it starts from the beginning. `check`
    gets the complete file and raises `UserError` to refuse it; a refused file is deleted.
    `progress` counts megabytes (10^6 bytes).

    Raises `UserError` when the server does not have the file, when no connection succeeds in
    `ATTEMPTS` attempts, when the file is larger than `limit` bytes, when `check` refuses it, or
    when it cannot be written.
    """
    part = target.with_name(f".{target.name}.part")
    tag = target.with_name(f".{target.name}.part.tag")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _transfer_with_retries(session, url, part, tag, limit, progress)
        try:
            check(part)
        except UserError:
            _delete_files(part, tag)
            raise
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        part.replace(target)
        tag.unlink(missing_ok=True)
    except OSError as error:
        raise build_write_error(target, error) from error


def check_checksum(file: Path, checksum: str, url: str) -> None:
    """Compare a file with a published checksum, written `sha256:...` or `md5:...`.

    Raises `UserError` when they differ.
    """
    algorithm, _, published = checksum.partition(":")
    with file.open("rb") as stream:
        computed = hashlib.file_digest(stream, algorithm).hexdigest()
    if computed != published:
        raise UserError(
            f"{url} came with {algorithm} {computed} instead of the published {published} and was "
            "deleted; run again, and if that does not help get the file by another way."
        )


def _transfer_with_retries(
    session: requests.Session,
    url: str,
    part: Path,
    tag: Path,
    limit: int,
    progress: Progress | None,
) -> None:
    """Transfer a file in up to `ATTEMPTS` attempts, with growing pauses between them."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _attempt_transfer(session, url, part, tag, limit, progress)
            return
        except (_InterruptedError, requests.ConnectionError, requests.Timeout) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
        except requests.RequestException as error:
            raise UserError(f"{url} cannot be fetched: {error}; check the address.") from error
        if attempt == ATTEMPTS:
            raise UserError(
                f"{url} cannot be fetched ({reason}); check the network and run again, or set "
                "`mirror` in the config to a folder that has the files."
            )
        log.info("%s: interrupted (%s); attempt %d follows", url, reason, attempt + 1)
        time.sleep(2.0 ** (attempt - 1))


def _attempt_transfer(
    session: requests.Session,
    url: str,
    part: Path,
    tag: Path,
    limit: int,
    progress: Progress | None,
) -> None:
    """Transfer a file, or the rest of it, to `part`; keep its version in `tag`."""
    have = part.stat().st_size if part.is_file() and tag.is_file() else 0
    headers = {"Range": f"bytes={have}-", "If-Range": tag.read_text()} if have else {}
    with session.get(url, headers=headers, stream=True, timeout=TIMEOUT_SECONDS) as answer:
        if answer.status_code == requests.codes.requested_range_not_satisfiable:
            if answer.headers.get("Content-Range") == f"bytes */{have}":
                return  # the file is complete; the process ended before it was checked
            _delete_files(part, tag)
            raise _InterruptedError("the server has another number of bytes than before")
        _check_status(answer, url)
        size, total = _read_extent(answer, have)
        if size == 0:
            _write_tag(answer, tag)
        if total is None or total <= limit:
            size = _write_blocks(answer, url, part, size, limit, progress)
    if max(size, total or 0) > limit:
        _delete_files(part, tag)
        raise UserError(
            f"{url} is larger than the {limit} bytes allowed for it; it is not the published file, "
            "so check the row of the data set in config/datasets.tsv."
        )
    if total is not None and size != total:
        raise _InterruptedError(f"{size} of {total} bytes came")


def _check_status(answer: requests.Response, url: str) -> None:
    """Raise `_InterruptedError` for a status that may pass, `UserError` for any other failure."""
    if answer.status_code >= 500 or answer.status_code == requests.codes.too_many_requests:
        raise _InterruptedError(f"the server answered {answer.status_code}")
    if answer.status_code not in (requests.codes.ok, requests.codes.partial_content):
        raise UserError(
            f"{url} cannot be fetched (the server answered {answer.status_code}); the address "
            "may have moved: get the files by another way and set `mirror` in the config."
        )


def _write_tag(answer: requests.Response, tag: Path) -> None:
    """Write what identifies the version of a file; without it no transfer can be resumed."""
    etag = answer.headers.get("ETag", "")
    version = etag if etag.startswith('"') else answer.headers.get("Last-Modified", "")
    _delete_files(tag)
    if version:
        tag.write_text(version)


def _write_blocks(
    answer: requests.Response,
    url: str,
    part: Path,
    size: int,
    limit: int,
    progress: Progress | None,
) -> int:
    """Append the answer's bytes to the `size` bytes of `part`; return the new size.

    Stops after the block that exceeds `limit`.
    """
    with part.open("ab" if size else "wb") as stream:
        blocks = answer.iter_content(BLOCK)
        while size <= limit:
            try:
                block = next(blocks, b"")
            except requests.RequestException as error:
                raise _InterruptedError(f"the connection to {url} broke off") from error
            if not block:
                break
            stream.write(block)
            size += len(block)
            if progress is not None:
                progress.update(max(0, size // MEGABYTE - progress.done))
    return size


def _read_extent(answer: requests.Response, have: int) -> tuple[int, int | None]:
    """Return the offset of the answer's first byte and the file's size, None if not stated."""
    if answer.status_code == requests.codes.partial_content:
        stated = answer.headers.get("Content-Range", "")
        if not stated.startswith(f"bytes {have}-"):
            raise _InterruptedError(f"the server sent another range ({stated})")
        total = stated.rpartition("/")[2]
        return have, int(total) if total.isdigit() else None
    length = answer.headers.get("Content-Length", "")
    return 0, int(length) if length.isdigit() else None


def _delete_files(*files: Path) -> None:
    for file in files:
        file.unlink(missing_ok=True)
