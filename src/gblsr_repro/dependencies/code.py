"""Digest the code that the output of a rule depends on, found by what it imports.

Imports are found by reading the code: nothing is executed.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from ..files import compute_sha256
from .source_digest import digest_files, explain_bad_code, find_package_folder

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
    "progress.py",
    "records.py",
    "wording.py",
)


@cache
def digest_code(code: tuple[str, ...], classes: tuple[type, ...] = ()) -> str:
    """Compute the SHA-256 of the code of `list_files`, and of the templates at or below its paths.

    Comments, docstrings and layout do not count; templates count byte by byte.
    """
    digest = hashlib.sha256(digest_files(list_files(code, classes)).encode())
    for text in sorted(_find_files(code, (".css", ".j2"))):
        digest.update(f"{text.relative_to(PACKAGE)} {compute_sha256(text)}".encode())
    return digest.hexdigest()


def list_files(code: Iterable[str], classes: Iterable[type] = ()) -> set[Path]:
    """List the files of code that modules and folders of the package, and classes, depend on.

    They, and all that they import, directly or not, but the carriers and what these alone import.
    Modules are looked for relative to the importing file and beside its package and this one;
    others, as of the standard library, do not count. Imports within functions count, those for type
    checkers do not. Raises `UserError` for a file that cannot be read or is not valid Python.
    """
    found: set[Path] = set()
    waiting = [*_find_files(code, (".py",)), *find_source_files(classes)]
    while waiting:
        file = waiting.pop().resolve()
        if file in found or is_carrier(file):
            continue
        found.add(file)
        with explain_bad_code(file):
            waiting += _list_imported(file, file.read_bytes())
    return found


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


def _find_files(code: Iterable[str], endings: tuple[str, ...]) -> Iterator[Path]:
    """Find the files with some endings at or below paths in the package.

    Hidden files are an editor's, such as its lock of a file that is open.
    """
    for path in (PACKAGE / name for name in code):
        for file in path.rglob("*") if path.is_dir() else [path]:
            if file.suffix in endings and not file.name.startswith("."):
                yield file


@cache
def _list_imported(file: Path, source: bytes) -> list[Path]:
    """List the files that a file with some source code itself imports, once for all rules."""
    roots = (find_package_folder(file).parent, PACKAGE.parent)
    imported = []
    for level, module, name in _walk(ast.parse(source)):
        folders = (file.parents[level - 1],) if level else roots
        targets = (folder.joinpath(*module.split(".")) for folder in folders)
        imported += [path for target in targets if (path := _locate(target, name))]
    return imported


def _locate(target: Path, name: str) -> Path | None:
    """Locate the module `name` in the package `target`, or else the module `target` itself."""
    for module in (target / name, target) if name else (target,):
        for path in (module.with_name(f"{module.name}.py"), module / "__init__.py"):
            if path.is_file():
                return path
    return None


def _walk(node: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Yield the imports in a syntax tree, but those for type checkers.

    Each is the number of leading dots, the module's name and the name taken from it.
    """
    if isinstance(node, ast.ImportFrom):
        yield from ((node.level, node.module or "", alias.name) for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from ((0, alias.name, "") for alias in node.names)
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    for child in ast.iter_child_nodes(node):
        yield from _walk(child)
