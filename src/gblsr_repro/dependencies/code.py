"""Digest the code that the output of a rule follows from, found by what it imports."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from ..files import compute_sha256
from .imports import find_imported_files
from .source_digest import digest_files, find_python_files

PACKAGE = Path(__file__).resolve().parents[1]
# Rooms that carry, check, show and store what others compute. Settings and rows count by value.
CARRIERS = (
    "__init__.py",
    "cli",
    "config",
    "dependencies",
    "devices.py",
    "errors.py",
    "files.py",
    "locks.py",
    "progress.py",
    "records.py",
    "wording.py",
)


@cache
def digest_code(code: tuple[str, ...], classes: tuple[type, ...] = ()) -> str:
    """Compute the SHA-256 of the code of `list_files`, and of the texts at or below its paths.

    Comments, docstrings and layout do not count; templates and other texts count byte by byte.
    """
    paths = [PACKAGE / name for name in code]
    digest = hashlib.sha256(digest_files(list_files(code, classes)).encode())
    for text in sorted(file for path in paths for file in _find_text_files(path)):
        digest.update(f"{text.relative_to(PACKAGE)} {compute_sha256(text)}".encode())
    return digest.hexdigest()


def list_files(code: Iterable[str], classes: Iterable[type] = ()) -> set[Path]:
    """List the files of code that modules and folders of the package, and classes, follow from.

    They, and all that they import but the carriers.
    """
    paths = [PACKAGE / name for name in code if Path(name).suffix in ("", ".py")]
    files = {file for path in paths for file in find_python_files(path)}
    classes_files = find_source_files(classes)
    roots = [PACKAGE.parent]
    return find_imported_files([*files, *classes_files], roots, is_carrier)


def is_carrier(file: Path) -> bool:
    """Decide whether a file carries what others compute."""
    return file.is_relative_to(PACKAGE) and file.relative_to(PACKAGE).parts[0] in CARRIERS


def find_source_files(classes: Iterable[type]) -> set[Path]:
    """Find the source files of classes and of their base classes."""
    bases = {base for cls in classes for base in cls.__mro__}
    return {
        Path(inspect.getfile(base))
        for base in bases
        if base.__module__.partition(".")[0] not in ("builtins", "torch")
    }


def _find_text_files(path: Path) -> Iterator[Path]:
    """Find the templates and other texts at or below a path."""
    suffixes = (".css", ".html", ".j2", ".js", ".md", ".mplstyle", ".tex", ".txt")
    files = (file for file in (path, *path.rglob("*")) if file.suffix in suffixes)
    return (file for file in files if not file.name.startswith("."))
