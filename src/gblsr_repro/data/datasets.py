"""Where a data set's files lie, what is recorded of them, and which of them are its images."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..config import Config, Dataset, datasets, mirror_of, resolve
from ..errors import UserError
from ..files import sha256
from . import manifest
from .layout import expand, is_explicit, layout_of, matches
from .manifest import Entry


@dataclass(frozen=True)
class Place:
    """Where a data set's files lie (`root`), where they are recorded, whether we download them."""

    root: Path
    manifest: Path
    downloads: bool

    @property
    def remedy(self) -> str:
        """What to do about a missing file."""
        return "fetch the data set again" if self.downloads else "put it there"


def dataset_row(dataset: str) -> Dataset:
    """Return the row of a data set; `UserError` when the table has none of that name."""
    table = datasets()
    if dataset not in table:
        raise UserError(
            f"There is no data set {dataset!r} in config/datasets.tsv; it has {', '.join(table)}."
        )
    return table[dataset]


def place_of(row: Dataset, config: Config) -> Place:
    """Return where the files of a data set lie; `UserError` when that place is not there."""
    records = resolve(config, config["resources"]) / "manifests"
    if row.kind == "package":
        return Place(_package_folder(row), records / f"{row.dataset}.csv", downloads=False)
    mirror = mirror_of(config)
    if mirror is None:
        root = resolve(config, config["resources"])
        return Place(root, records / f"{row.dataset}.csv", downloads=True)
    return Place(mirror, records / "mirror" / f"{row.dataset}.csv", downloads=False)


def _package_folder(row: Dataset) -> Path:
    package, _, folder = row.url.partition("/")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(
            f"Data set {row.dataset} is inside the Python package {package}, which is not "
            "installed; install the project's requirements."
        )
    return Path(spec.submodule_search_locations[0]) / folder


def recorded_entries(row: Dataset, place: Place) -> dict[str, Entry]:
    """Read a data set's manifest and compare existence and size of every file with it.

    The list of images to use, if the data set has one, is compared in full. Raises `UserError`
    when the data set was not fetched or a file is missing or changed.
    """
    if not place.manifest.is_file():
        raise UserError(
            f"Data set {row.dataset} was not fetched yet; run `gblsr-repro fetch {row.dataset}`."
        )
    entries = manifest.read(place.manifest)
    for path, entry in entries.items():
        file = place.root / path
        if not file.is_file():
            raise missing_file(row, place, path)
        listed = path == layout_of(row).selection
        if file.stat().st_size != entry.bytes or (listed and sha256(file) != entry.sha256):
            raise changed_file(row.dataset, place, path)
    return entries


def missing_file(row: Dataset, place: Place, path: str) -> UserError:
    """Return the error for a recorded file that is gone."""
    return UserError(f"{place.root / path} of data set {row.dataset} is missing; {place.remedy}.")


def changed_file(dataset: str, place: Place, path: str) -> UserError:
    """Return the error for a file whose content is not the recorded one."""
    remedy = "delete it and fetch again" if place.downloads else "restore it"
    return UserError(
        f"{place.root / path} is not the file that was recorded when data set {dataset} was first "
        f"fetched; {remedy}, or delete {place.manifest} to record the data set anew."
    )


def expected_images(row: Dataset) -> int:
    """Return how many images (or other files) a complete copy of the data set gives."""
    return int(row.images) or len(expand(layout_of(row).images))


def choose_images(row: Dataset, place: Place, paths: list[str], config: Config) -> list[str]:
    """Return which of the present `paths` are the data set's images, in the order of use.

    The order is that of the data set's list, where it has one, else that of the names. Raises
    `UserError` when there are more images than belong to the data set, or when something is
    missing and the config's `accept_partial` does not name the data set.
    """
    layout = layout_of(row)
    partial = row.dataset in config["accept_partial"]
    chosen = sorted(path for path in paths if matches(layout.images, path))
    if layout.selection in paths:
        listed = (place.root / str(layout.selection)).read_bytes().decode(errors="replace")
        known = set(chosen)
        named = (layout.stem + line for line in listed.split())
        chosen = [path for path in dict.fromkeys(named) if path in known]
    elif layout.selection and not partial:
        raise _incomplete(row, place, f"lacks {layout.selection}, the list of images to use,")
    _check_number(row, place, chosen, partial)
    for options in () if partial else layout.companions:
        absent = _first_absent(options, paths)
        if absent:
            raise _incomplete(row, place, f"lacks {absent}")
    return chosen


def _check_number(row: Dataset, place: Place, chosen: list[str], partial: bool) -> None:
    expected = expected_images(row)
    if len(chosen) > expected:
        raise UserError(
            f"Data set {row.dataset} has {len(chosen)} images in {place.root} where {expected} "
            "belong; remove what is not part of it."
        )
    if not chosen:
        raise UserError(
            f"Data set {row.dataset} has none of its files, {layout_of(row).images}, in "
            f"{place.root}; {place.remedy}."
        )
    if len(chosen) < expected and not partial:
        images = layout_of(row).images
        first = f"lacks {_first_absent((images,), chosen)} and " if is_explicit(images) else ""
        raise _incomplete(row, place, f"{first}has {len(chosen)} of {expected} images")


def _first_absent(options: tuple[str, ...], paths: list[str]) -> str | None:
    """Return the first missing file unless all files of one of the options are there."""
    present = set(paths)
    missing = [[path for path in expand(option) if path not in present] for option in options]
    return None if any(not some for some in missing) else missing[0][0]


def _incomplete(row: Dataset, place: Place, lack: str) -> UserError:
    return UserError(
        f"Data set {row.dataset} {lack} in {place.root}; complete it, or name {row.dataset} under "
        "accept_partial in the config to use what is there."
    )
