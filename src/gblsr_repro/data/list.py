"""A listing of the data sets for people: where their files are, how complete, on what terms."""

from __future__ import annotations

from collections.abc import Iterator

from ..config import Config, Dataset, datasets, resolve
from ..progress import columns
from .datasets import choose_images, expected_images, place_of
from .fetch import files_present
from .layout import layout_of, matches

HEADINGS = ("DATA SET", "ROLE", "IMAGES", "FROM", "STATE", "TERMS")


def list_sources(config: Config) -> Iterator[str]:
    """Yield the lines of the listing; only looks for files, reads and downloads none of them.

    Raises `UserError` when the config's mirror does not exist.
    """
    for folder in ("resources", "mirror"):
        if config[folder] is not None:
            yield f"{folder}: {resolve(config, config[folder])}"
    yield from columns([HEADINGS, *(_line(row, config) for row in datasets().values())])


def _line(row: Dataset, config: Config) -> tuple[str, ...]:
    place = place_of(row, config)
    layout = layout_of(row)
    paths = files_present(layout, place.root)
    found = 0
    if any(matches(layout.images, path) for path in paths):
        lenient = config | {"accept_partial": [row.dataset]}
        found = len(choose_images(row, place, paths, lenient))
    home = "package" if row.kind == "package" else "mirror" if config["mirror"] else "download"
    if place.manifest.is_file():
        state = "verified"
    elif found:
        state = "not fetched"
    else:
        state = "absent" if row.url and place.downloads else "not there"
    number = f"{found}/{expected_images(row)}"
    return (row.dataset, row.role, number, home, state, f"{row.license} ({row.homepage})")
