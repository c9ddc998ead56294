"""A listing of the data sets for people: where their files are, how complete, on what terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..config import Config, Dataset, datasets, resolve
from ..progress import columns
from .datasets import data_set
from .fetch import files_present
from .layout import matches

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
    data = data_set(row.dataset, config)
    paths = files_present(data.layout, data.root)
    found = 0
    if any(matches(data.layout.images, path) for path in paths):
        found = len(replace(data, partial=True).images(paths))
    home = "package" if row.kind == "package" else "mirror" if config["mirror"] else "download"
    if data.manifest.is_file():
        state = "verified"
    elif found:
        state = "not fetched"
    else:
        state = "absent" if row.url and data.downloads else "not there"
    number = f"{found}/{data.expected}"
    return (row.dataset, row.role, number, home, state, f"{row.license} ({row.homepage})")
