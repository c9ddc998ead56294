"""Bringing a data set's files into place and recording them; the only code that downloads data."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ..config import Config, Dataset
from ..errors import UserError
from ..files import exclusive_lock, sha256
from ..progress import Progress, log
from . import archives, manifest
from .datasets import Place, changed_file, choose_images, dataset_row, missing_file, place_of
from .download import MEGABYTE, check_digest, download, new_session
from .layout import Layout, expand, find, is_explicit, layout_of, matches
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
    row = dataset_row(dataset)
    place = place_of(row, config)
    with _one_at_a_time(row, place):
        recorded = manifest.read(place.manifest) if place.manifest.is_file() else {}
        fresh = _download(row, place, recorded) if place.downloads else {}
        paths = files_present(layout_of(row), place.root)
        choose_images(row, place, paths, config)
        entries = _verify(row, place, paths, recorded, fresh)
        if not recorded:
            manifest.write(place.manifest, entries)
    return place.manifest


def _one_at_a_time(row: Dataset, place: Place) -> AbstractContextManager[None]:
    """Let one process at a time download a data set; others wait and then find it there."""
    if not place.downloads:
        return nullcontext()
    return exclusive_lock(
        place.manifest.with_name(f".{row.dataset}.lock"),
        lambda _: log.info("%s: another process is fetching it; waiting", row.title),
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


def _verify(
    row: Dataset, place: Place, paths: list[str], recorded: Entries, fresh: Entries
) -> list[Entry]:
    """Describe every file; compare with the record if there is one."""
    gone = sorted(set(recorded) - set(paths))
    if gone:
        raise missing_file(row, place, gone[0])
    entries = []
    with Progress(f"verify {row.title}", len(paths), "file") as progress:
        for path in paths:
            if recorded and path not in recorded:
                raise _added(row, place, path)
            entries.append(fresh.get(path) or _known(row, place, path, recorded))
            progress.update()
    return entries


def _known(row: Dataset, place: Place, path: str, recorded: Entries) -> Entry:
    """Return a file's entry: the recorded one if the content is the same, or a new one."""
    if not recorded:
        return manifest.inspect(place.root / path, path)
    if sha256(place.root / path) != recorded[path].sha256:
        raise changed_file(row.dataset, place, path)
    return recorded[path]


def _added(row: Dataset, place: Place, path: str) -> UserError:
    return UserError(
        f"{place.root / path} was not there when data set {row.dataset} was first fetched; remove "
        f"it, or delete {place.manifest} to record the data set anew."
    )


# --- downloading ----------------------------------------------------------------------------------


def _download(row: Dataset, place: Place, recorded: Entries) -> Entries:
    """Download the files that are not there; return what was found out about them."""
    missing = _missing(row, place, recorded)
    if not missing:
        return {}
    if not row.url:
        raise UserError(
            f"Data set {row.dataset} cannot be downloaded; set `mirror` in the config to a folder "
            "that has it."
        )
    transfer = _download_archive if row.kind == "archive" else _download_files
    return transfer(row, place, missing, recorded)


def _missing(row: Dataset, place: Place, recorded: Entries) -> list[str]:
    """Return the paths, or patterns, of what a complete copy has and the folder lacks."""
    patterns = layout_of(row).downloads()
    wanted = list(recorded) or [path for pattern in patterns for path in expand(pattern)]
    return [path for path in wanted if not is_explicit(path) or not (place.root / path).is_file()]


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


def _download_files(row: Dataset, place: Place, missing: list[str], recorded: Entries) -> Entries:
    """Download single files; the whole row's `bytes` bound what all of them bring together."""
    fresh: Entries = {}
    allowed = int(int(row.bytes) * OVERRUN)
    large = row.kind == "file"
    total, unit = (int(row.bytes) // MEGABYTE, "MB") if large else (len(missing), "file")
    with new_session() as session, Progress(f"download {row.title}", total, unit) as progress:
        for path in missing:
            url = row.url.replace("{path}", path.partition("/")[2])

            def check(part: Path, path: str = path, url: str = url) -> None:
                if row.checksum:
                    check_digest(part, row.checksum, url)
                fresh[path] = _accept(path, part, url, recorded)

            bar = progress if large else None
            download(session, url, place.root / path, allowed, check, bar)
            allowed -= fresh[path].bytes
            if not large:
                progress.update()
    return fresh


def _download_archive(row: Dataset, place: Place, missing: list[str], recorded: Entries) -> Entries:
    """Download an archive, unpack what is missing, and delete it."""
    fresh: Entries = {}
    size = int(row.bytes)
    archive = place.root / "archives" / PurePosixPath(urlsplit(row.url).path).name
    folder = layout_of(row).images.partition("/")[0]

    def check_archive(part: Path) -> None:
        if row.checksum:
            check_digest(part, row.checksum, row.url)

    def choose(member: str) -> Path | None:
        path = f"{folder}/{member.removeprefix('./')}"
        wanted = any(matches(pattern, path) for pattern in missing)
        return place.root / path if wanted and not (place.root / path).is_file() else None

    def check_member(temporary: Path, target: Path) -> None:
        path = target.relative_to(place.root).as_posix()
        fresh[path] = _accept(path, temporary, row.url, recorded)

    if not archive.is_file():
        label = f"download {row.title}"
        with new_session() as session, Progress(label, size // MEGABYTE, "MB") as progress:
            limit = int(size * OVERRUN)
            download(session, row.url, archive, limit, check_archive, progress)
    log.info("%s: unpacking %s", row.title, archive)
    archives.extract(archive, choose, int(size * UNPACKED), check_member)
    archive.unlink()
    return fresh
