"""Download one file over HTTP: limit its size, resume after interruptions, check its content."""

from __future__ import annotations

import hashlib
import itertools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import requests

from .. import __version__
from ..errors import UserError, build_write_error
from ..progress import Progress, log
from ..wording import name_network_settings

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
    urls: Sequence[str],
    target: Path,
    limit: int,
    check: Callable[[str, Path], None],
    progress: Progress | None = None,
) -> None:
    """Download a file to `target`, which appears only when complete and accepted by `check`.

    It comes from the first of `urls` that gives it; why one before the last did not is logged. The
    bytes are collected in a hidden file beside the target. After an interruption the next attempt,
    or the next call, requests the rest, provided that the server identifies the version of the file
    (If-Range with its ETag or date); otherwise it starts from the beginning. `check` gets the
    address and the complete file, and raises `UserError` to refuse it; a refused file is deleted.
    `progress` counts megabytes (10^6 bytes).

    Raises `UserError` of the last address when the server does not have the file, when no
    connection succeeds in `ATTEMPTS` attempts, when the file is larger than `limit` bytes, or when
    `check` refuses it; also when the file cannot be written.
    """
    for url, following in itertools.zip_longest(urls, urls[1:]):
        transfer = _Transfer(session, url, target, limit, progress)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            transfer.run()
            transfer.finish(check)
            return
        except OSError as error:
            raise build_write_error(target, error) from error
        except UserError as error:
            if following is None:
                raise
            log.warning("%s Next address: %s", error, following)


def check_checksum(file: Path, checksum: str, origin: str) -> None:
    """Compare a file with a published checksum, written `sha256:...` or `md5:...`.

    Raises `UserError` when they differ.
    """
    algorithm, _, published = checksum.partition(":")
    with file.open("rb") as stream:
        computed = hashlib.file_digest(stream, algorithm).hexdigest()
    if computed != published:
        raise UserError(
            f"{origin} came with {algorithm} {computed} instead of the published {published}; run "
            "again, after deleting it if it is a file, or get it by another way."
        )


@dataclass(frozen=True)
class _Transfer:
    """The transfer of a file from one address to `target`, as `download_file` describes it."""

    session: requests.Session
    url: str
    target: Path
    limit: int
    progress: Progress | None

    @property
    def part(self) -> Path:
        """File with the bytes that came so far."""
        return self.target.with_name(f".{self.target.name}.part")

    @property
    def tag(self) -> Path:
        """File with the address of these bytes and what identifies the version of the file."""
        return self.target.with_name(f".{self.target.name}.part.tag")

    def run(self) -> None:
        """Transfer the file in up to `ATTEMPTS` attempts, with growing pauses between them."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self.attempt()
                return
            except (_InterruptedError, requests.ConnectionError, requests.Timeout) as error:
                reason = " ".join(str(error).split()) or type(error).__name__
            except requests.RequestException as error:
                raise UserError(
                    f"{self.url} cannot be fetched: {error}; check the address"
                    f"{name_network_settings()}."
                ) from error
            if attempt == ATTEMPTS:
                raise UserError(
                    f"{self.url} cannot be fetched ({reason}); check the network"
                    f"{name_network_settings()} and run again, or set `mirror` in the config to a "
                    "folder that has the files."
                )
            log.info("%s: interrupted (%s); attempt %d follows", self.url, reason, attempt + 1)
            time.sleep(2.0 ** (attempt - 1))

    def finish(self, check: Callable[[str, Path], None]) -> None:
        """Move the whole file to the target; delete it where `check` refuses it."""
        try:
            check(self.url, self.part)
        except UserError:
            self.discard()
            raise
        with self.part.open("rb") as stream:
            os.fsync(stream.fileno())
        self.part.replace(self.target)
        self.tag.unlink(missing_ok=True)

    def attempt(self) -> None:
        """Transfer the file, or the rest of it."""
        version = self.read_tag()
        have = self.part.stat().st_size if version and self.part.is_file() else 0
        headers = {"Range": f"bytes={have}-", "If-Range": version} if have else {}
        with self.ask(headers) as answer:
            if answer.status_code == requests.codes.requested_range_not_satisfiable:
                if answer.headers.get("Content-Range") == f"bytes */{have}":
                    return  # the file is complete; the process ended before it was checked
                self.discard()
                raise _InterruptedError("the server has another number of bytes than before")
            _check_status(answer, self.url)
            size, total = _read_extent(answer, have)
            if size == 0:
                self.write_tag(answer)
            if total is None or total <= self.limit:
                size = self.write_blocks(answer, size)
        if max(size, total or 0) > self.limit:
            self.discard()
            raise UserError(
                f"{self.url} is larger than the {self.limit} bytes allowed for it; it is not the "
                "published file, so check the row of the data set in config/datasets.tsv."
            )
        if total is not None and size != total:
            raise _InterruptedError(f"{size} of {total} bytes came")

    def ask(self, headers: Mapping[str, str]) -> requests.Response:
        """Ask for the file; raises `requests.RequestException` where no answer comes."""
        try:
            return self.session.get(self.url, headers=headers, stream=True, timeout=TIMEOUT_SECONDS)
        except (OSError, ValueError) as error:  # no certificates, or a redirection to no address
            if isinstance(error, requests.RequestException):
                raise
            raise requests.RequestException(error) from error

    def read_tag(self) -> str:
        """Read the version of the bytes that came from this address; "" without any."""
        url, _, version = (self.tag.read_text() if self.tag.is_file() else "").partition("\n")
        return version if url == self.url else ""

    def write_tag(self, answer: requests.Response) -> None:
        """Write what identifies the file's version; without it no transfer can be resumed."""
        etag = answer.headers.get("ETag", "")
        version = etag if etag.startswith('"') else answer.headers.get("Last-Modified", "")
        self.tag.unlink(missing_ok=True)
        if version:
            self.tag.write_text(f"{self.url}\n{version}")

    def write_blocks(self, answer: requests.Response, size: int) -> int:
        """Append the answer's bytes to the `size` bytes that there are; return the new size.

        Stops after the block that exceeds the limit.
        """
        with self.part.open("ab" if size else "wb") as stream:
            blocks = answer.iter_content(BLOCK)
            while size <= self.limit:
                try:
                    block = next(blocks, b"")
                except requests.RequestException as error:
                    raise _InterruptedError(f"the connection to {self.url} broke off") from error
                if not block:
                    break
                stream.write(block)
                size += len(block)
                if self.progress is not None:
                    self.progress.update(max(0, size // MEGABYTE - self.progress.done))
        return size

    def discard(self) -> None:
        """Delete the bytes that came and their tag."""
        self.part.unlink(missing_ok=True)
        self.tag.unlink(missing_ok=True)


def _check_status(answer: requests.Response, url: str) -> None:
    """Raise `_InterruptedError` for a status that may pass, `UserError` for any other failure."""
    if answer.status_code >= 500 or answer.status_code == requests.codes.too_many_requests:
        raise _InterruptedError(f"the server answered {answer.status_code}")
    if answer.status_code not in (requests.codes.ok, requests.codes.partial_content):
        raise UserError(
            f"{url} cannot be fetched (the server answered {answer.status_code}); the address "
            "may have moved: get the files by another way and set `mirror` in the config."
        )


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
