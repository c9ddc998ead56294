"""Where a data set's files lie, what is recorded of them, and which of them are its images."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..config import Config, Dataset, datasets, mirror_of, resolve
from ..errors import UserError
from ..files import sha256
from . import manifest
from .layout import Layout, expand, is_explicit, layout_of, matches
from .manifest import Entry


@dataclass(frozen=True)
class DataSet:
    """A data set as a config has it.

    Its files lie under `root` and are recorded in `manifest`; `downloads` says whether we download
    them, `partial` whether fewer images than published will do.
    """

    row: Dataset
    layout: Layout
    root: Path
    manifest: Path
    downloads: bool
    partial: bool

    @property
    def name(self) -> str:
        """Its name in the config."""
        return self.row.dataset

    @property
    def expected(self) -> int:
        """How many images (or other files) a complete copy gives."""
        return int(self.row.images) or len(expand(self.layout.images))

    @property
    def _remedy(self) -> str:
        return "fetch the data set again" if self.downloads else "put it there"

    def entries(self) -> dict[str, Entry]:
        """Read the manifest and compare existence and size of every file with it.

        The list of images to use, if there is one, is compared in full. Raises `UserError` when the
        data set was not fetched or a file is missing or changed.
        """
        if not self.manifest.is_file():
            raise UserError(
                f"Data set {self.name} was not fetched yet; run `gblsr-repro fetch {self.name}`."
            )
        entries = manifest.read(self.manifest)
        for path, entry in entries.items():
            file = self.root / path
            if not file.is_file():
                raise self.missing(path)
            listed = path == self.layout.selection
            if file.stat().st_size != entry.bytes or (listed and sha256(file) != entry.sha256):
                raise self.changed(path)
        return entries

    def missing(self, path: str) -> UserError:
        """Return the error for a recorded file that is gone."""
        return UserError(f"{self.root / path} of data set {self.name} is missing; {self._remedy}.")

    def changed(self, path: str) -> UserError:
        """Return the error for a file whose content is not the recorded one."""
        remedy = "delete it and fetch again" if self.downloads else "restore it"
        return UserError(
            f"{self.root / path} is not the file that was recorded when data set {self.name} was "
            f"first fetched; {remedy}, or delete {self.manifest} to record the data set anew."
        )

    def images(self, paths: list[str]) -> list[str]:
        """Return which of the present `paths` are the images, in the order of use.

        The order is that of the data set's list, where it has one, else that of the names. Raises
        `UserError` when there are more images than belong to the data set, or when something is
        missing and it is not `partial`.
        """
        listed = self.layout.selection
        chosen = sorted(path for path in paths if matches(self.layout.images, path))
        if listed in paths:
            content = (self.root / str(listed)).read_bytes().decode(errors="replace")
            known = set(chosen)
            named = (self.layout.stem + line for line in content.split())
            chosen = [path for path in dict.fromkeys(named) if path in known]
        elif listed and not self.partial:
            raise self._incomplete(f"lacks {listed}, the list of images to use,")
        self._check_number(chosen)
        for options in () if self.partial else self.layout.companions:
            absent = _first_absent(options, paths)
            if absent:
                raise self._incomplete(f"lacks {absent}")
        return chosen

    def _check_number(self, chosen: list[str]) -> None:
        if len(chosen) > self.expected:
            raise UserError(
                f"Data set {self.name} has {len(chosen)} images in {self.root} where "
                f"{self.expected} belong; remove what is not part of it."
            )
        images = self.layout.images
        if not chosen:
            raise UserError(
                f"Data set {self.name} has none of its files, {images}, in {self.root}; "
                f"{self._remedy}."
            )
        if len(chosen) < self.expected and not self.partial:
            first = f"lacks {_first_absent((images,), chosen)} and " if is_explicit(images) else ""
            raise self._incomplete(f"{first}has {len(chosen)} of {self.expected} images")

    def _incomplete(self, lack: str) -> UserError:
        return UserError(
            f"Data set {self.name} {lack} in {self.root}; complete it, or name {self.name} under "
            "accept_partial in the config to use what is there."
        )


def dataset_row(dataset: str) -> Dataset:
    """Return the row of a data set; `UserError` when the table has none of that name."""
    table = datasets()
    if dataset not in table:
        raise UserError(
            f"There is no data set {dataset!r} in config/datasets.tsv; it has {', '.join(table)}."
        )
    return table[dataset]


def data_set(dataset: str, config: Config) -> DataSet:
    """Return a data set as the config has it; `UserError` when there is no such row or place."""
    row, records = dataset_row(dataset), resolve(config, config["resources"]) / "manifests"
    mirror = None if row.kind == "package" else mirror_of(config)
    if row.kind == "package":
        root = _package_folder(row)
    else:
        root = mirror or resolve(config, config["resources"])
    return DataSet(
        row,
        layout_of(row),
        root,
        (records / "mirror" if mirror else records) / f"{dataset}.csv",
        downloads=row.kind != "package" and mirror is None,
        partial=dataset in config["accept_partial"],
    )


def _package_folder(row: Dataset) -> Path:
    package, _, folder = row.url.partition("/")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(
            f"Data set {row.dataset} is inside the Python package {package}, which is not "
            "installed; install the project's requirements."
        )
    return Path(spec.submodule_search_locations[0]) / folder


def _first_absent(options: tuple[str, ...], paths: list[str]) -> str | None:
    """Return the first missing file unless all files of one of the options are there."""
    present = set(paths)
    missing = [[path for path in expand(option) if path not in present] for option in options]
    return None if any(not some for some in missing) else missing[0][0]
