"""Bringing a data set's files into place and recording them; the only code that downloads data."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ..config import Config, Dataset, read_datasets
from ..errors import UserError
from ..files import compute_sha256, hold_lock, write_text
from ..progress import Progress, format_columns, log, show_progress
from . import archives
from .datasets import (
    DatasetFiles,
    ManifestEntry,
    expand_braces,
    inspect_file,
    locate_dataset,
    matches_pattern,
    read_manifest,
    write_manifest,
)
from .download import MEGABYTE, check_checksum, download_file, open_session

OVERRUN = 1.5  # a download may exceed the `bytes` of its row by this factor
UNPACKED = 2.0  # an archive's content may exceed its `bytes` by this factor
HEADINGS = ("DATA SET", "ROLE", "IMAGES", "FROM", "STATE", "TERMS")

Entries = dict[str, ManifestEntry]


def fetch_dataset(dataset: str, config: Config, output: Path | None = None) -> Path:
    """Bring a data set's files into place, verify them, and return the path of their manifest.

    Downloads what is missing unless the files come from a mirror or a package. The first time
    every file is decoded and recorded; later every file must have the recorded content. `output`
    gets a copy of the manifest. Raises `UserError` with the first file that is missing, damaged,
    changed or not an image.
    """
    data = locate_dataset(dataset, config)
    # One process at a time downloads a data set; others wait and then find it there.
    lock = hold_lock(
        data.manifest.with_name(f".{data.name}.lock"),
        lambda _: log.info("%s: another process is fetching it; waiting", data.row.title),
    )
    with lock if data.is_downloaded else nullcontext():
        recorded = read_manifest(data.manifest) if data.manifest.is_file() else {}
        entries = _download_missing(data, recorded) if data.is_downloaded else {}
        paths = data.list_present_files()
        data.select_images(paths)
        _verify_files(data, paths, recorded, entries)
        if not recorded:
            write_manifest(data.manifest, entries.values())
    if output:
        write_text(output, data.manifest.read_text(encoding="utf-8"))
    return data.manifest


def _verify_files(
    data: DatasetFiles, paths: list[str], recorded: Entries, entries: Entries
) -> None:
    """Compare every file with the record; where there is none, complete the `entries`."""
    gone = sorted(set(recorded) - set(paths))
    if gone:
        raise data.build_missing_error(gone[0])
    for path in show_progress(paths, f"verify {data.row.title}", "file"):
        file = data.root / path
        if recorded and path not in recorded:
            raise UserError(
                f"{file} was not there when data set {data.name} was first fetched; remove "
                f"it, or delete {data.manifest} to record the data set anew."
            )
        if path not in entries:
            if not recorded:
                entries[path] = inspect_file(file, path)
            elif compute_sha256(file) != recorded[path].sha256:
                raise data.build_changed_error(path)


def _download_missing(data: DatasetFiles, recorded: Entries) -> Entries:
    """Download the files that are not there; return what was found out about them.

    The whole row's `bytes` bound what all of them bring together.
    """
    row, entries, size = data.row, Entries(), int(data.row.bytes)
    # Paths, or patterns, of what a complete copy has and the folder lacks.
    wanted = list(recorded) or [
        path for pattern in data.published_patterns for path in expand_braces(pattern)
    ]
    missing = [path for path in wanted if "*" in path or not (data.root / path).is_file()]
    if missing and not row.url:
        raise UserError(
            f"Data set {data.name} cannot be downloaded; set `mirror` in the config to a folder "
            "that has it."
        )
    archive = f"archives/{PurePosixPath(urlsplit(row.url).path).name}"
    todo = missing
    if missing and row.kind == "archive":
        todo = [] if (data.root / archive).is_file() else [archive]
    large, allowed = row.kind != "files", int(size * OVERRUN)
    total, unit = (size // MEGABYTE, "MB") if large else (len(todo), "file")
    if todo:
        with open_session() as session, Progress(f"download {row.title}", total, unit) as progress:
            for path in todo:
                url = row.url.replace("{path}", path.partition("/")[2])

                def check(part: Path, path: str = path, url: str = url) -> None:
                    if row.checksum:
                        check_checksum(part, row.checksum, url)
                    if path != archive:
                        entries[path] = _inspect_download(path, part, url, recorded)

                target = data.root / path
                download_file(session, url, target, allowed, check, progress if large else None)
                allowed -= target.stat().st_size
                if not large:
                    progress.update()
    if missing and row.kind == "archive":
        _unpack_archive(data, data.root / archive, missing, recorded, entries)
    return entries


def _unpack_archive(
    data: DatasetFiles, archive: Path, missing: list[str], recorded: Entries, entries: Entries
) -> None:
    """Unpack what is missing from an archive, noting its entries, and delete the archive."""
    folder = data.image_pattern.partition("/")[0]

    def choose(member: str) -> Path | None:
        path = f"{folder}/{member.removeprefix('./')}"
        wanted = any(matches_pattern(pattern, path) for pattern in missing)
        return data.root / path if wanted and not (data.root / path).is_file() else None

    def check(temporary: Path, target: Path) -> None:
        path = target.relative_to(data.root).as_posix()
        entries[path] = _inspect_download(path, temporary, data.row.url, recorded)

    log.info("%s: unpacking %s", data.row.title, archive)
    archives.extract_members(archive, choose, int(int(data.row.bytes) * UNPACKED), check)
    archive.unlink()


def _inspect_download(path: str, file: Path, url: str, recorded: Entries) -> ManifestEntry:
    """Describe a file that just came; refuse it when it is not the one recorded before."""
    try:
        entry = inspect_file(file, path)
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


# --- a listing for people -------------------------------------------------------------------------


def list_datasets(config: Config) -> str:
    """Return where the data sets' files are, how complete and on what terms, a line each.

    Only looks for files, reads and downloads none of them. Raises `UserError` when the config's
    mirror does not exist.
    """
    places = [
        f"{folder}: {config[folder]}"
        for folder in ("resources", "mirror")
        if config[folder] is not None
    ]
    lines = format_columns(
        [HEADINGS, *(_format_row(row, config) for row in read_datasets().values())]
    )
    return "\n".join([*places, *lines])


def _format_row(row: Dataset, config: Config) -> tuple[str, ...]:
    data = locate_dataset(row.dataset, config)
    paths = data.list_present_files()
    found = 0
    if any(matches_pattern(data.image_pattern, path) for path in paths):
        found = len(replace(data, accepts_partial=True).select_images(paths))
    home = "package" if row.kind == "package" else "mirror" if config["mirror"] else "download"
    if data.manifest.is_file():
        state = "verified"
    elif found:
        state = "not fetched"
    else:
        state = "absent" if row.url and data.is_downloaded else "not there"
    number = f"{found}/{data.published_count}"
    return (row.dataset, row.role, number, home, state, f"{row.license} ({row.homepage})")
