"""Expand patterns of files, as the column `files` of config/datasets.tsv has them, and find files.

`{a,b}` and `{001..100}` stand for several names; the rest is a pattern of `pathlib`'s, in which `*`
stands for anything within one name, and upper and lower case differ.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d{1,9})\.\.(\d{1,9})")


def expand_braces(pattern: str) -> list[str]:
    """Expand the braces of a pattern into all its alternatives; a `*` is kept."""
    parts = _BRACES.split(pattern)
    choices = [_list_choices(part) if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(combination) for combination in itertools.product(*choices)]


def _list_choices(braces: str) -> list[str]:
    """List the alternatives of the text between two braces: `a,b` or `001..100`."""
    bounds = _RANGE.fullmatch(braces)
    if not bounds:
        return braces.split(",")
    first, last = bounds.groups()
    return [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]


def has_wildcard(path: str) -> bool:
    """Return whether a path without braces stands for files of several names."""
    return any(sign in path for sign in "*?[")


def find_files(pattern: str, root: Path) -> list[str]:
    """Find the files under `root` that a pattern names; return sorted relative paths."""
    paths: set[str] = set()
    for option in expand_braces(pattern):
        # A file that exists is named as it is, even with a bracket in its name.
        files = [root / option] if (root / option).is_file() else root.glob(option)
        paths.update(file.relative_to(root).as_posix() for file in files if file.is_file())
    return sorted(paths)
