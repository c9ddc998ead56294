"""What the `files` column of config/datasets.tsv says about a data set's files.

The column is a space-separated list of entries, all relative to the folder that holds the files
(resources, a mirror, a package's data folder):

- the first entry names the images themselves, each at its largest;
- `{a,b}` and `{001..100}` stand for several names, `*` for anything within one name; `*` needs a
  folder or archive to look into, so downloads of single files list theirs in full;
- a later entry names files that belong to them; `A|B` is satisfied by A, which the publisher has,
  or by B, which a mirror may hold in its place;
- `@path` is a text file that lists the images to use, in order, one name a line, relative to the
  part of the first entry before its first `*`.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from ..config import Dataset

_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


@dataclass(frozen=True)
class Layout:
    """The parsed `files` column: image pattern, accompanying patterns, list of images to use."""

    images: str
    companions: tuple[tuple[str, ...], ...]
    selection: str | None

    def downloads(self) -> list[str]:
        """Return the patterns of everything that the publisher's copy holds."""
        listed = [self.selection] if self.selection else []
        return [self.images, *(options[0] for options in self.companions), *listed]

    @property
    def stem(self) -> str:
        """The fixed beginning of the image pattern, which the list of images starts from."""
        return self.images.partition("*")[0]


def layout_of(row: Dataset) -> Layout:
    """Parse the `files` column of one data set."""
    first, *rest = row.files.split()
    lists = [entry[1:] for entry in rest if entry.startswith("@")]
    companions = tuple(tuple(entry.split("|")) for entry in rest if not entry.startswith("@"))
    return Layout(first, companions, lists[0] if lists else None)


def expand(pattern: str) -> list[str]:
    """Write out the braces of a pattern; a `*` stays as it is."""
    parts = _BRACES.split(pattern)
    choices = [_choices(part) if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(combination) for combination in itertools.product(*choices)]


def _choices(braces: str) -> list[str]:
    bounds = _RANGE.fullmatch(braces)
    if not bounds:
        return braces.split(",")
    first, last = bounds.groups()
    return [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]


def is_explicit(pattern: str) -> bool:
    """Whether the pattern names its files in full, without a `*`."""
    return "*" not in pattern


def matches(pattern: str, path: str) -> bool:
    """Whether a relative path with forward slashes is one of those that the pattern names."""
    return any(
        re.fullmatch("[^/]+".join(map(re.escape, option.split("*"))), path)
        for option in expand(pattern)
    )


def find(pattern: str, root: Path) -> list[str]:
    """Return the files under `root` that the pattern names, as relative paths in name order."""
    found = {
        path.relative_to(root).as_posix()
        for option in expand(pattern)
        for path in ([root / option] if is_explicit(option) else root.glob(option))
        if path.is_file()
    }
    return sorted(found)
