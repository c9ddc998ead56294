"""Locate the files of a data set and select its images.

A data set is a row of config/datasets.tsv. Its columns:

- `dataset`: the name used in the config; `title`: the name that tables show; `role`: train or
  evaluate; `license`: the terms in short; `homepage`: the page that states them; `note`: remarks.
- `kind`: archive (one zip or gzipped tar), files (single downloads) or package (photographs inside
  an installed Python package).
- `urls`: of an archive, its address; of files, an address with `{path}` in place of the path below
  the first folder; of a package, its name and the folder in it. Empty: only a mirror has it. Of
  several addresses with a space between them, a later one is asked where those before it fail.
- `files`: patterns of the files' paths (see below). A member of an archive has the name of its path
  below the first folder.
- `images`: the number of images in a complete copy.
- `bytes`: the size of the whole download; more than one and a half times as much is refused.
- `checksum`: of an archive, `sha256:...` or `md5:...`, where its publisher states one.
- `stands_in_for`: the data set that this one replaces in the demo or with a mirror.

Files lie in one of three places: the config's `resources` (downloads), its `mirror` (never written
to) or a package. The first fetch reads and decodes every file and records it in a manifest under
resources/manifests. Later the files must match the manifest: `DatasetFiles.read_entries` compares
sizes, `SourceImage.read_bytes` and later fetches compare contents.

`files` is a space-separated list of patterns, relative to the folder that holds the files:

- the first pattern names the images themselves, at their largest size;
- `{a,b}`, `{001..100}` and `*` stand for several names (see `patterns`); `*` needs a folder or
  archive to search, so single downloads are listed in full;
- a later pattern names files that belong to the images; `A|B` is satisfied by A, which the
  publisher has, or by B, which a mirror may have instead;
- `@path` is a text file with the images to use, in order, one name a line, relative to the part of
  the first pattern before its first `*`.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..config import Config, Dataset, find_dataset, find_mirror
from ..errors import UserError
from ..files import compute_sha256
from .manifest import ManifestEntry, read_manifest
from .patterns import expand_braces, find_files, has_wildcard


@dataclass(frozen=True)
class DatasetFiles:
    """The files of a data set in the place that a config names.

    They lie under `root` and are recorded in `manifest`. `is_downloaded` tells a download from a
    mirror, a package and files without an address; `accepts_partial` allows fewer images than were
    published.
    """

    row: Dataset
    root: Path
    manifest: Path
    is_downloaded: bool
    accepts_partial: bool

    @property
    def name(self) -> str:
        """Name of the data set in the config."""
        return self.row.dataset

    @property
    def image_pattern(self) -> str:
        """Pattern of the images."""
        return self.row.files[0]

    @property
    def selection_list(self) -> str | None:
        """Path of the text file that lists the images to use; None if the data set has none."""
        return next((e[1:] for e in self.row.files if e.startswith("@")), None)

    @property
    def patterns(self) -> list[list[str]]:
        """Patterns of all files, each with its alternatives: the publisher's first."""
        return [entry.removeprefix("@").split("|") for entry in self.row.files]

    def list_present_files(self) -> list[str]:
        """List the paths of the files that exist, sorted by name."""
        paths: set[str] = set()
        for options in self.patterns:
            found = (find_files(option, self.root) for option in options)
            paths.update(next(filter(None, found), []))
        return sorted(paths)

    def read_entries(self) -> dict[str, ManifestEntry]:
        """Read the manifest and check that every file exists with its recorded size.

        Of the list of images to use the content is checked too. Raises `UserError` when the data
        set was not fetched, or when a file is missing or changed.
        """
        if not self.manifest.is_file():
            raise UserError(
                f"Data set {self.name} was not fetched yet; run `gblsr-repro fetch {self.name}`."
            )
        entries = read_manifest(self.manifest)
        for path, entry in entries.items():
            file = self.root / path
            if not file.is_file():
                raise self.build_missing_error(path)
            is_changed = file.stat().st_size != entry.bytes
            if path == self.selection_list:
                is_changed = compute_sha256(file) != entry.sha256
            if is_changed:
                raise self.build_changed_error(path)
        return entries

    def digest_content(self) -> str:
        """Compute the SHA-256 of the manifest's paths and checksums, as hexadecimal text.

        The images come first: it differs where others of the same files are the images.
        """
        entries, images = self.read_entries(), {*find_files(self.image_pattern, self.root)}
        paths = sorted(entries, key=lambda path: (path not in images, path))
        lines = [f"{path} {entries[path].sha256}\n" for path in paths]
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def build_missing_error(self, path: str) -> UserError:
        """Build the error for a file of the manifest that does not exist."""
        remedy = "fetch the data set again" if self.is_downloaded else "restore its files"
        return UserError(f"{self.root / path} of data set {self.name} is missing; {remedy}.")

    def build_changed_error(self, path: str) -> UserError:
        """Build the error for a file whose content differs from the manifest."""
        remedy = "delete it and fetch again" if self.is_downloaded else "restore it"
        return UserError(
            f"{self.root / path} is not the file that was recorded when data set {self.name} was "
            f"first fetched; {remedy}, or delete {self.manifest} to record the data set anew."
        )

    def select_images(self, paths: list[str]) -> list[str]:
        """Select the images among the existing `paths` and return them in the order of use.

        The order is that of `selection_list`, else that of the names. Raises `UserError` when the
        data set has no image or too many, when two have one name, or when files are missing and
        `accepts_partial` is off.
        """
        images = self._select_listed(paths)
        if not images:
            raise UserError(
                f"Data set {self.name} has none of its files, {self.image_pattern}, in "
                f"{self.root}; put them there, or set `mirror` in the config to a folder that has "
                "them."
            )
        lack = self.describe_lack(paths)
        if lack and not self.accepts_partial:
            raise UserError(
                f"Data set {self.name} {lack} in {self.root}; complete it, correct its row in "
                f"config/datasets.tsv, or name {self.name} under accept_partial in the config to "
                "use the existing files."
            )
        if len(images) > self.row.images:
            raise UserError(
                f"Data set {self.name} has {len(images)} images in {self.root} where "
                f"{self.row.images} belong; remove what is not part of it, or correct images in "
                "config/datasets.tsv."
            )
        refuse_repeated_names(self.root / path for path in images)
        return images

    def describe_lack(self, paths: list[str]) -> str | None:
        """Describe what the existing `paths` lack of a complete copy; None where it is nothing."""
        if absent := self._find_absent(paths):
            return f"lacks {absent}"
        count, expected = len(self._select_listed(paths)), self.row.images
        return f"has {count} of {expected} images" if count < expected else None

    def _select_listed(self, paths: list[str]) -> list[str]:
        """Select the images, by `selection_list` where the data set has one and it is there."""
        images = sorted({*find_files(self.image_pattern, self.root)} & {*paths})
        if self.selection_list is None or self.selection_list not in paths:
            return images
        lines = (self.root / self.selection_list).read_text("utf-8-sig", "replace").splitlines()
        prefix, existing = self.image_pattern.partition("*")[0], set(images)
        listed = dict.fromkeys(prefix + line.strip() for line in lines)
        return [path for path in listed if path in existing]

    def _find_absent(self, paths: list[str]) -> str | None:
        """Find a file that is missing by its name; None where all are there."""
        for options in self.patterns:
            missing = [
                [
                    path
                    for path in expand_braces(option)
                    if not has_wildcard(path) and path not in paths
                ]
                for option in options
            ]
            if all(missing):
                return missing[0][0]
        return None


def derive_image_name(path: str | Path) -> str:
    """Derive the name of an image: the file's stem without `_SRF_<scale>_HR`."""
    return re.sub(r"_SRF_\d+_HR$", "", PurePosixPath(path).stem)


def refuse_repeated_names(files: Iterable[Path]) -> None:
    """Raise `UserError` where two images have one name, by which scores tell them apart."""
    first: dict[str, Path] = {}
    for file in files:
        other = first.setdefault(derive_image_name(file), file)
        if other is not file:
            raise UserError(
                f"{other} and {file} have one name without their folders and endings, by which "
                "scores tell images apart; rename one, or correct `files` in config/datasets.tsv."
            )


def locate_dataset(dataset: str, config: Config) -> DatasetFiles:
    """Locate the files of a data set as the config says.

    Raises `UserError` when no row has this name, or the mirror does not exist.
    """
    row, resources = find_dataset(dataset), Path(config["resources"])
    manifests, root, is_downloaded = resources / "manifests", resources, False
    if row.kind == "package":
        package, _, folder = row.urls[0].partition("/")
        root = Path(str(importlib.resources.files(package))) / folder
    elif mirror := find_mirror(config):
        manifests, root = manifests / "mirror", mirror
    else:
        is_downloaded = bool(row.urls)
    return DatasetFiles(
        row,
        root,
        manifest=manifests / f"{dataset}.csv",
        is_downloaded=is_downloaded,
        accepts_partial=dataset in config["accept_partial"],
    )
