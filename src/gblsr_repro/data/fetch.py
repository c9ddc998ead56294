"""Bringing a data set's files into place and recording them; the only code that downloads data."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ..config import Config
from ..errors import UserError
from ..files import exclusive_lock, sha256
from ..progress import Progress, log
from . import archives, manifest
from .datasets import DataSet, data_set
from .download import MEGABYTE, check_digest, download, new_session
from .layout import Layout, expand, find, is_explicit, matches
from .manifest import Entry

OVERRUN = 1.5  # a download may exceed the `bytes` of its row by this factor
UNPACKED = 2.0  # an archive's content may exceed its `bytes` by this factor

Entries = dict[str, Entry]


def fetch(dataset: str, config: Config) -> Path:
    """Bring a data set's files into place, verify them, and return the path of their manifest.

    Downloads what is missing unless the files come from a mirror or a package. The first time
    every file is decoded and recorded; later every file must have the recorded content. Raises
    `UserError` with the first file that is missing, damaged, changed or not an image.
    """
    data = data_set(dataset, config)
    with _one_at_a_time(data):
        recorded = manifest.read(data.manifest) if data.manifest.is_file() else {}
        fresh = _download(data, recorded) if data.downloads else {}
        paths = files_present(data.layout, data.root)
        data.images(paths)
        entries = _verify(data, paths, recorded, fresh)
        if not recorded:
            manifest.write(data.manifest, entries)
    return data.manifest


def _one_at_a_time(data: DataSet) -> AbstractContextManager[None]:
    """Let one process at a time download a data set; others wait and then find it there."""
    if not data.downloads:
        return nullcontext()
    return exclusive_lock(
        data.manifest.with_name(f".{data.name}.lock"),
        lambda _: log.info("%s: another process is fetching it; waiting", data.row.title),
    )


def files_present(layout: Layout, root: Path) -> list[str]:
    """Return those of a data set's files that are under `root`, in name order."""
    paths = set(find(layout.images, root))
    for options in layout.companions:
        found = [find(option, root) for option in options]
        paths.update(next((some for some in found if some), []))
    if layout.selection:
        paths.update(find(layout.selection, root))
    return sorted(paths)


def _verify(data: DataSet, paths: list[str], recorded: Entries, fresh: Entries) -> list[Entry]:
    """Describe every file; compare with the record if there is one."""
    gone = sorted(set(recorded) - set(paths))
    if gone:
        raise data.missing(gone[0])
    entries = []
    with Progress(f"verify {data.row.title}", len(paths), "file") as progress:
        for path in paths:
            if recorded and path not in recorded:
                raise _added(data, path)
            entries.append(fresh.get(path) or _known(data, path, recorded))
            progress.update()
    return entries


def _known(data: DataSet, path: str, recorded: Entries) -> Entry:
    """Return a file's entry: the recorded one if the content is the same, or a new one."""
    if not recorded:
        return manifest.inspect(data.root / path, path)
    if sha256(data.root / path) != recorded[path].sha256:
        raise data.changed(path)
    return recorded[path]


def _added(data: DataSet, path: str) -> UserError:
    return UserError(
        f"{data.root / path} was not there when data set {data.name} was first fetched; remove "
        f"it, or delete {data.manifest} to record the data set anew."
    )


# --- downloading ----------------------------------------------------------------------------------


def _download(data: DataSet, recorded: Entries) -> Entries:
    """Download the files that are not there; return what was found out about them."""
    missing = _missing(data, recorded)
    if not missing:
        return {}
    if not data.row.url:
        raise UserError(
            f"Data set {data.name} cannot be downloaded; set `mirror` in the config to a folder "
            "that has it."
        )
    transfer = _download_archive if data.row.kind == "archive" else _download_files
    return transfer(data, missing, recorded)


def _missing(data: DataSet, recorded: Entries) -> list[str]:
    """Return the paths, or patterns, of what a complete copy has and the folder lacks."""
    patterns = data.layout.downloads()
    wanted = list(recorded) or [path for pattern in patterns for path in expand(pattern)]
    return [path for path in wanted if not is_explicit(path) or not (data.root / path).is_file()]


def _accept(path: str, file: Path, url: str, recorded: Entries) -> Entry:
    """Describe a file that just came; refuse it when it is not the one recorded before."""
    try:
        entry = manifest.inspect(file, path)
    except UserError as error:
        raise UserError(
            f"{url} did not bring a readable image {path}, which was discarded; run again, and if "
            "that does not help get the file by another way."
        ) from error
    if recorded and recorded.get(path) != entry:
        raise UserError(
            f"{url} now brings another {path} than when it was first fetched; find the earlier "
            "file, or delete the data set's manifest to accept the new one."
        )
    return entry


def _download_files(data: DataSet, missing: list[str], recorded: Entries) -> Entries:
    """Download single files; the whole row's `bytes` bound what all of them bring together."""
    fresh: Entries = {}
    allowed = int(int(data.row.bytes) * OVERRUN)
    large = data.row.kind == "file"
    total, unit = (int(data.row.bytes) // MEGABYTE, "MB") if large else (len(missing), "file")
    with new_session() as session, Progress(f"download {data.row.title}", total, unit) as progress:
        for path in missing:
            url = data.row.url.replace("{path}", path.partition("/")[2])

            def check(part: Path, path: str = path, url: str = url) -> None:
                if data.row.checksum:
                    check_digest(part, data.row.checksum, url)
                fresh[path] = _accept(path, part, url, recorded)

            bar = progress if large else None
            download(session, url, data.root / path, allowed, check, bar)
            allowed -= fresh[path].bytes
            if not large:
                progress.update()
    return fresh


def _download_archive(data: DataSet, missing: list[str], recorded: Entries) -> Entries:
    """Download an archive, unpack what is missing, and delete it."""
    fresh: Entries = {}
    size = int(data.row.bytes)
    archive = data.root / "archives" / PurePosixPath(urlsplit(data.row.url).path).name
    folder = data.layout.images.partition("/")[0]

    def check_archive(part: Path) -> None:
        if data.row.checksum:
            check_digest(part, data.row.checksum, data.row.url)

    def choose(member: str) -> Path | None:
        path = f"{folder}/{member.removeprefix('./')}"
        wanted = any(matches(pattern, path) for pattern in missing)
        return data.root / path if wanted and not (data.root / path).is_file() else None

    def check_member(temporary: Path, target: Path) -> None:
        path = target.relative_to(data.root).as_posix()
        fresh[path] = _accept(path, temporary, data.row.url, recorded)

    if not archive.is_file():
        label = f"download {data.row.title}"
        with new_session() as session, Progress(label, size // MEGABYTE, "MB") as progress:
            limit = int(size * OVERRUN)
            download(session, data.row.url, archive, limit, check_archive, progress)
    log.info("%s: unpacking %s", data.row.title, archive)
    archives.extract(archive, choose, int(size * UNPACKED), check_member)
    archive.unlink()
    return fresh
