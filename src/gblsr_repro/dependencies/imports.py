"""Find the files that Python code imports, by reading it: nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .source_digest import explain_bad_code, find_package_folder


class Import(NamedTuple):
    """One imported name: `level` leading dots, the module's name and the name taken from it."""

    level: int
    module: str
    name: str


def find_imported_files(
    files: Iterable[Path], roots: Iterable[Path], is_skipped: Callable[[Path], bool]
) -> set[Path]:
    """Find files and what they import, directly or not, as absolute paths.

    Modules are looked for relative to the importing file and below `roots`, the folders that
    contain packages; others, as of the standard library, do not count. Files for which `is_skipped`
    is true are left out, with what they alone import. Imports within functions count, those for
    type checkers do not. Raises `UserError` for a file that cannot be read or is not valid Python.
    """
    searched = [root.resolve() for root in roots]
    found: set[Path] = set()
    waiting = [file.resolve() for file in files]
    while waiting:
        file = waiting.pop()
        if file in found or is_skipped(file):
            continue
        found.add(file)
        with explain_bad_code(file):
            source = file.read_bytes()
        waiting += _list_imported(file, source, (find_package_folder(file).parent, *searched))
    return found


@cache
def _list_imported(file: Path, source: bytes, roots: tuple[Path, ...]) -> list[Path]:
    """List the files that a file with some source code itself imports, once for all rules."""
    with explain_bad_code(file):
        imports = _read_imports(source)
    imported = []
    for level, module, name in imports:
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


@cache
def _read_imports(source: bytes) -> tuple[Import, ...]:
    """Read the imports in source code, parsed once."""
    return tuple(_walk(ast.parse(source)))


def _walk(node: ast.AST) -> Iterator[Import]:
    """Yield the imports in a syntax tree, but those for type checkers."""
    if isinstance(node, ast.ImportFrom):
        yield from (Import(node.level, node.module or "", alias.name) for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (Import(0, alias.name, "") for alias in node.names)
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    for child in ast.iter_child_nodes(node):
        yield from _walk(child)
