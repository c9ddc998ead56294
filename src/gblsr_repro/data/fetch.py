"""Fetch the files of a data set, verify them and record them in its manifest.

This is the only module that downloads data.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ..config import Config
from ..errors import UserError
from ..files import compute_sha256, write_text
from ..locks import hold_lock
from ..progress import Progress, log, show_progress
from ..wording import list_some
from . import archives
from .datasets import DatasetFiles, locate_dataset
from .download import MEGABYTE, check_checksum, download_file, open_session
from .manifest import ManifestEntry, inspect_file, read_manifest, write_manifest
from .patterns import expand_braces, find_files
from .sources import find_other_pixels

OVERRUN = 1.5  # a download may exceed the `bytes` of its row by this factor
UNPACKED = 2.0  # an archive's content may exceed its `bytes` by this factor

ManifestEntries = dict[str, ManifestEntry]


def fetch_dataset(dataset: str, config: Config, output: Path | None = None) -> Path:
    """Fetch and verify the files of a data set; return the path of their manifest.

    Downloads the missing files of a set that has addresses, unless a mirror or a package has it.
    The first fetch decodes every file and writes the manifest; later fetches compare every file
    with it. The manifest is copied to `output`. Images with other pixels than config/pixels.tsv has
    are logged as a warning. Raises `UserError` for the first file that is missing, damaged or
    changed.
    """
    files = locate_dataset(dataset, config)
    # One process at a time fetches a data set; the others wait and then use its files.
    with hold_lock(
        files.manifest.with_name(f".{files.name}.lock"),
        lambda: log.info("%s: another process is fetching it; waiting", files.row.title),
    ):
        recorded = read_manifest(files.manifest) if files.manifest.is_file() else {}
        inspected = _download_missing(files, recorded) if files.is_downloaded else {}
        paths = files.list_present_files()
        files.select_images(paths)  # raises where images are missing
        if recorded:
            _verify_files(files, paths, recorded, set(inspected))
        else:
            entries = [
                inspected.get(path) or inspect_file(files.root / path, path)
                for path in show_progress(paths, f"verify {files.row.title}", "file")
            ]
            write_manifest(files.manifest, entries)
    if output:
        write_text(output, files.manifest.read_text(encoding="utf-8"))
    if others := find_other_pixels(dataset, config):
        log.warning(
            "%s: other pixels than this project measured on in %s; what is measured on them may "
            "differ from the numbers of its record.",
            files.row.title,
            list_some(others),
        )
    return files.manifest


def _verify_files(
    files: DatasetFiles, paths: list[str], recorded: ManifestEntries, verified: set[str]
) -> None:
    """Compare every file with the manifest, except those just `verified`."""
    for path in sorted(set(recorded) - set(paths)):
        if (files.root / path).is_file():
            raise UserError(
                f"{files.root / path} is no longer among `files` of {files.name} in "
                f"config/datasets.tsv; delete {files.manifest} to record the data set anew."
            )
        raise files.build_missing_error(path)
    for path in show_progress(paths, f"verify {files.row.title}", "file"):
        file = files.root / path
        if path not in recorded:
            raise UserError(
                f"{file} did not exist when data set {files.name} was first fetched; remove "
                f"it, or delete {files.manifest} to record the data set anew."
            )
        if path not in verified and compute_sha256(file) != recorded[path].sha256:
            raise files.build_changed_error(path)


def _download_missing(files: DatasetFiles, recorded: ManifestEntries) -> ManifestEntries:
    """Download the files that do not exist; return their manifest entries.

    Which they are the manifest says. Before there is one, nothing of a complete copy is missing.
    """
    if not recorded and files.describe_lack(files.list_present_files()) is None:
        return {}
    # Paths, or patterns, of a complete copy.
    wanted = list(recorded) or [
        path for published, *_ in files.patterns for path in expand_braces(published)
    ]
    missing = [path for path in wanted if not (files.root / path).is_file()]
    if not missing:
        return {}
    if files.row.kind == "archive":
        return _download_archive(files, missing, recorded)
    return _download_files(files, missing, recorded)


def _download_archive(
    files: DatasetFiles, missing: list[str], recorded: ManifestEntries
) -> ManifestEntries:
    """Download the archive of a data set, unpack what is missing, and delete the archive."""
    row = files.row
    name = PurePosixPath(urlsplit(row.urls[0]).path).name
    archive = files.root / "archives" / f"{files.name}-{name}"
    size = row.bytes

    def check(origin: str, file: Path) -> None:
        if row.checksum:
            check_checksum(file, row.checksum, origin)

    if archive.is_file():
        check(str(archive), archive)
    else:
        progress = Progress(f"download {row.title}", size // MEGABYTE, "megabyte")
        with open_session() as session, progress:
            download_file(session, row.urls, archive, int(size * OVERRUN), check, progress)
    return _unpack_archive(files, archive, missing, recorded)


def _download_files(
    files: DatasetFiles, paths: Sequence[str], recorded: ManifestEntries
) -> ManifestEntries:
    """Download single files; the `bytes` of the row limit the size of all of them together."""
    row, entries = files.row, ManifestEntries()
    allowed = int(row.bytes * OVERRUN)
    progress = Progress(f"download {row.title}", len(paths), "file")
    with open_session() as session, progress:
        for path in paths:
            urls = [place.replace("{path}", path.partition("/")[2]) for place in row.urls]

            def check(url: str, part: Path, path: str = path) -> None:
                entries[path] = _inspect_download(path, part, url, recorded)

            target = files.root / path
            download_file(session, urls, target, allowed, check)
            allowed -= target.stat().st_size
            progress.update()
    return entries


def _unpack_archive(
    files: DatasetFiles, archive: Path, missing: list[str], recorded: ManifestEntries
) -> ManifestEntries:
    """Unpack the missing files from an archive, delete it, and return their manifest entries.

    Raises `UserError` for an archive without an image that the row names, which is kept.
    """
    log.info("%s: unpacking %s", files.row.title, archive)
    unpacked = archive.with_name(f"{archive.name}.unpacked")
    shutil.rmtree(unpacked, ignore_errors=True)  # of a process that was killed
    try:
        folder = unpacked / files.image_pattern.partition("/")[0]
        archives.unpack_archive(archive, folder, int(files.row.bytes * UNPACKED))
        entries = _move_missing(files, archive, unpacked, missing, recorded)
        if not find_files(files.image_pattern, files.root):
            raise UserError(
                f"{archive} holds no file {files.image_pattern}; correct `files` of {files.name} "
                f"in config/datasets.tsv, or delete {archive} to fetch it anew."
            )
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)
    archive.unlink()
    return entries


def _move_missing(
    files: DatasetFiles,
    archive: Path,
    unpacked: Path,
    missing: list[str],
    recorded: ManifestEntries,
) -> ManifestEntries:
    """Move the missing files of an archive from where it was unpacked; return their entries."""
    entries = ManifestEntries()
    for path in (path for pattern in missing for path in find_files(pattern, unpacked)):
        source, target = unpacked / path, files.root / path
        if target.is_file() or source.is_symlink():  # a link leads nowhere once it is moved
            continue
        entries[path] = _inspect_download(path, source, str(archive), recorded)
        target.parent.mkdir(parents=True, exist_ok=True)
        source.replace(target)
    return entries


def _inspect_download(
    path: str, file: Path, origin: str, recorded: ManifestEntries
) -> ManifestEntry:
    """Build the manifest entry of a file that an address or an archive gave.

    Raises `UserError` if it is no image or differs from `recorded`.
    """
    try:
        entry = inspect_file(file, path)
    except UserError as error:
        raise UserError(
            f"{origin} did not bring a readable image {path}, which was discarded; run again, "
            "after deleting an archive, and if that does not help get the file by another way."
        ) from error
    if recorded and recorded.get(path) != entry:
        raise UserError(
            f"{origin} now brings another {path} than when it was first fetched; find the earlier "
            "file, or delete the data set's manifest to accept the new one."
        )
    return entry
