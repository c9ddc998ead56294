"""A data set: which files it has, where they lie, what is recorded of them, which are its images.

A data set is a row of config/datasets.tsv. Its columns:

- `dataset` the name used in the config; `title` the name that tables show; `role` train, evaluate
  or weights; `license` the terms in short; `homepage` where they are stated; `note` remarks.
- `kind` archive (one tar or zip to unpack), files (many single downloads), file (one download) or
  package (photographs inside an installed Python package).
- `url` of an archive or file: its address; of files: an address with `{path}` for the file's path
  below its first folder; of a package: its name and the folder in it. Empty: only a mirror has it.
- `files` the files' paths (below). A member of an archive has the name that its path has below its
  first folder.
- `images` how many images a complete copy gives to the runs (0: the files are not images).
- `bytes` what is downloaded in all; half as much again is refused.
- `checksum` of an archive or file, `sha256:...` or `md5:...`, where one is known.
- `stands_in_for` the data set that it replaces in the demo or with a mirror.

Files lie in one of three places: the config's `resources` (downloads), its `mirror` (used as it
is, never written to), or a package. At the first `fetch` every file is read, decoded and recorded
under resources/manifests. From then on files must be the recorded ones: `entries` compares sizes,
`Source.read` and a later `fetch` compare contents.

`files` is a space-separated list of entries, relative to the folder that holds the files:

- the first entry names the images themselves, each at its largest;
- `{a,b}` and `{001..100}` stand for several names, `*` for anything within one name; `*` needs a
  folder or archive to look into, so downloads of single files list theirs in full;
- a later entry names files that belong to them; `A|B` is satisfied by A, which the publisher has,
  or by B, which a mirror may hold in its place;
- `@path` is a text file that lists the images to use, in order, one name a line, relative to the
  part of the first entry before its first `*`.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from ..config import Config, Dataset, find_dataset, find_mirror
from ..errors import UserError
from ..files import compute_sha256, verify_checksum, write_csv
from .images import decode_image

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg")
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


# --- patterns of files ----------------------------------------------------------------------------


def expand_braces(pattern: str) -> list[str]:
    """Write out the braces of a pattern; a `*` stays as it is."""
    parts = _BRACES.split(pattern)
    choices = [_list_choices(part) if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(combination) for combination in itertools.product(*choices)]


def _list_choices(braces: str) -> list[str]:
    bounds = _RANGE.fullmatch(braces)
    if not bounds:
        return braces.split(",")
    first, last = bounds.groups()
    return [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]


def matches_pattern(pattern: str, path: str) -> bool:
    """Whether a relative path with forward slashes is one of those that the pattern names."""
    return any(
        re.fullmatch("[^/]+".join(map(re.escape, option.split("*"))), path)
        for option in expand_braces(pattern)
    )


def find_files(pattern: str, root: Path) -> list[str]:
    """Return the files under `root` that the pattern names, as relative paths in name order."""
    found = {
        path.relative_to(root).as_posix()
        for option in expand_braces(pattern)
        for path in (root.glob(option) if "*" in option else [root / option])
        if path.is_file()
    }
    return sorted(found)


# --- the record of files: made when they first arrive, compared from then on ----------------------


@dataclass(frozen=True)
class ManifestEntry:
    """One file: relative path, size in bytes, SHA-256; of an image also its size and kind.

    `width` and `height` are pixels and `mode` is L or RGB; all three are None for other files.
    """

    path: str
    bytes: int
    sha256: str
    width: int | None
    height: int | None
    mode: str | None


def inspect_file(file: Path, path: str) -> ManifestEntry:
    """Read a whole file, decode it if it is an image, and describe it as `path`.

    Raises `UserError` when it cannot be read or an image does not decode.
    """
    if PurePosixPath(path).suffix.lower() not in IMAGE_SUFFIXES:
        return ManifestEntry(path, file.stat().st_size, compute_sha256(file), None, None, None)
    content = file.read_bytes()
    pixels = decode_image(content, file)
    height, width = pixels.shape[:2]
    digest = hashlib.sha256(content).hexdigest()
    return ManifestEntry(
        path, len(content), digest, width, height, "L" if pixels.ndim == 2 else "RGB"
    )


def write_manifest(path: Path, entries: Iterable[ManifestEntry]) -> None:
    """Write a manifest, sorted by path."""
    rows = sorted(entries, key=lambda entry: entry.path)
    write_csv(path, [field.name for field in fields(ManifestEntry)], map(astuple, rows))


def read_manifest(path: Path) -> dict[str, ManifestEntry]:
    """Read a manifest by relative path; `UserError` when it is damaged."""
    columns = [field.name for field in fields(ManifestEntry)]
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.DictReader(stream)
            if reader.fieldnames != columns:
                raise ValueError("its columns are not those of a manifest")
            entries = {row["path"]: _parse_entry(row) for row in reader}
            if not entries:
                raise ValueError("it lists no file")
    except (ValueError, TypeError, csv.Error) as error:
        raise UserError(f"{path} is damaged ({error}); delete it and fetch again.") from error
    verify_checksum(path)
    return entries


def _parse_entry(row: dict[str, str]) -> ManifestEntry:
    relative = PurePosixPath(row["path"])
    if relative.is_absolute() or ".." in relative.parts or len(row["sha256"]) != 64:
        raise ValueError(f"line of {row['path']!r}")
    width, height = (int(row[key]) if row[key] else None for key in ("width", "height"))
    size = int(row["bytes"])
    return ManifestEntry(row["path"], size, row["sha256"], width, height, row["mode"] or None)


# --- the data set ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class DatasetFiles:
    """A data set as a config has it.

    Its files lie under `root` and are recorded in `manifest`, or, where that was not fetched from,
    in the workflow's `copy` of the record: where files lie is not what they are. `downloads` says
    whether we download them, `partial` whether fewer images than published will do.
    """

    row: Dataset
    root: Path
    manifest: Path
    manifest_copy: Path
    is_downloaded: bool
    accepts_partial: bool

    @property
    def name(self) -> str:
        """Its name in the config."""
        return self.row.dataset

    @property
    def manifest_to_read(self) -> Path:
        """The record of its files that is there: the manifest, else the workflow's copy of it."""
        return self.manifest if self.manifest.is_file() else self.manifest_copy

    @property
    def image_pattern(self) -> str:
        """The pattern of its images."""
        return self.row.files.split()[0]

    @property
    def companion_patterns(self) -> list[list[str]]:
        """The patterns of what belongs to the images; of each the publisher's and other ways."""
        return [e.split("|") for e in self.row.files.split()[1:] if not e.startswith("@")]

    @property
    def selection_list(self) -> str | None:
        """The list of the images to use, where there is one."""
        return next((e[1:] for e in self.row.files.split() if e.startswith("@")), None)

    @property
    def published_patterns(self) -> list[str]:
        """The patterns of everything that the publisher's copy holds."""
        listed = [self.selection_list] if self.selection_list else []
        return [self.image_pattern, *(options[0] for options in self.companion_patterns), *listed]

    @property
    def published_count(self) -> int:
        """How many images (or other files) a complete copy gives."""
        return int(self.row.images) or len(expand_braces(self.image_pattern))

    @property
    def selection_rule(self) -> str:
        """Which of its files are its images, and in what order, in words."""
        if self.selection_list and (self.root / self.selection_list).is_file():
            return f"those that {self.selection_list} names, in its order"
        return "all, in the order of their names"

    @property
    def _remedy(self) -> str:
        return "fetch the data set again" if self.is_downloaded else "put it there"

    def list_present_files(self) -> list[str]:
        """Return those of its files that are there, in name order."""
        paths = set(find_files(self.image_pattern, self.root))
        for options in self.companion_patterns:
            found = (find_files(option, self.root) for option in options)
            paths.update(next(filter(None, found), []))
        if self.selection_list:
            paths.update(find_files(self.selection_list, self.root))
        return sorted(paths)

    def read_entries(self) -> dict[str, ManifestEntry]:
        """Read the manifest and compare existence and size of every file with it.

        The list of images to use, if there is one, is compared in full. Raises `UserError` when the
        data set was not fetched or a file is missing or changed.
        """
        if not self.manifest_to_read.is_file():
            raise UserError(
                f"Data set {self.name} was not fetched yet; run `gblsr-repro fetch {self.name}`."
            )
        entries = read_manifest(self.manifest_to_read)
        for path, entry in entries.items():
            file = self.root / path
            if not file.is_file():
                raise self.build_missing_error(path)
            listed = path == self.selection_list
            if file.stat().st_size != entry.bytes or (
                listed and compute_sha256(file) != entry.sha256
            ):
                raise self.build_changed_error(path)
        return entries

    def digest_content(self) -> str:
        """Return the SHA-256 of what is recorded of its files: their paths and their content."""
        told = [f"{path} {entry.sha256}\n" for path, entry in sorted(self.read_entries().items())]
        return hashlib.sha256("".join(told).encode()).hexdigest()

    def build_missing_error(self, path: str) -> UserError:
        """Return the error for a recorded file that is gone."""
        return UserError(f"{self.root / path} of data set {self.name} is missing; {self._remedy}.")

    def build_changed_error(self, path: str) -> UserError:
        """Return the error for a file whose content is not the recorded one."""
        remedy = "delete it and fetch again" if self.is_downloaded else "restore it"
        return UserError(
            f"{self.root / path} is not the file that was recorded when data set {self.name} was "
            f"first fetched; {remedy}, or delete {self.manifest} to record the data set anew."
        )

    def select_images(self, paths: list[str]) -> list[str]:
        """Return which of the present `paths` are the images, in the order of use.

        The order is that of the data set's list, where it has one, else that of the names. Raises
        `UserError` when there are more images than belong to the data set, or when something is
        missing and it is not `partial`.
        """
        listed, pattern = self.selection_list, self.image_pattern
        chosen = sorted(path for path in paths if matches_pattern(pattern, path))
        if listed in paths:
            content = (self.root / str(listed)).read_bytes().decode(errors="replace")
            known, stem = set(chosen), pattern.partition("*")[0]
            named = (stem + line for line in content.split())
            chosen = [path for path in dict.fromkeys(named) if path in known]
        elif listed and not self.accepts_partial:
            raise self._build_incomplete_error(f"lacks {listed}, the list of images to use,")
        if len(chosen) > self.published_count:
            raise UserError(
                f"Data set {self.name} has {len(chosen)} images in {self.root} where "
                f"{self.published_count} belong; remove what is not part of it."
            )
        if not chosen:
            raise UserError(
                f"Data set {self.name} has none of its files, {pattern}, in {self.root}; "
                f"{self._remedy}."
            )
        if self.accepts_partial:
            return chosen
        if len(chosen) < self.published_count:
            first = "" if "*" in pattern else f"lacks {_find_first_absent([pattern], chosen)} and "
            raise self._build_incomplete_error(
                f"{first}has {len(chosen)} of {self.published_count} images"
            )
        for options in self.companion_patterns:
            absent = _find_first_absent(options, paths)
            if absent:
                raise self._build_incomplete_error(f"lacks {absent}")
        return chosen

    def _build_incomplete_error(self, lack: str) -> UserError:
        return UserError(
            f"Data set {self.name} {lack} in {self.root}; complete it, or name {self.name} under "
            "accept_partial in the config to use what is there."
        )


def locate_dataset(dataset: str, config: Config) -> DatasetFiles:
    """Return a data set as the config has it; `UserError` when there is no such row or place."""
    row, resources = find_dataset(dataset), Path(config["resources"])
    records, root, downloads = resources / "manifests", resources, False
    if row.kind == "package":
        root = _locate_package_folder(row)
    elif mirror := find_mirror(config):
        records, root = records / "mirror", mirror
    else:
        downloads = True
    partial = dataset in config["accept_partial"]
    copy = Path(config["results"]) / "sources" / f"{dataset}.csv"
    return DatasetFiles(row, root, records / f"{dataset}.csv", copy, downloads, partial)


def _locate_package_folder(row: Dataset) -> Path:
    package, _, folder = row.url.partition("/")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(
            f"Data set {row.dataset} is inside the Python package {package}, which is not "
            "installed; install the project's requirements."
        )
    return Path(spec.submodule_search_locations[0]) / folder


def _find_first_absent(options: list[str], paths: list[str]) -> str | None:
    """Return the first missing file unless all files of one of the options are there."""
    present = set(paths)
    missing = [
        [path for path in expand_braces(option) if path not in present] for option in options
    ]
    return None if any(not some for some in missing) else missing[0][0]
