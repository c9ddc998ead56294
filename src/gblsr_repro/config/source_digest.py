"""The digest of code: what tells whether a result would still come out of the same program.

It follows from what Python runs, not from how that is written down: a comment, a docstring or a
line break changes nothing, so nothing that took days is made anew for it.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import UserError


def digest_files(paths: Iterable[Path | str]) -> str:
    """Return the SHA-256 of the Python code in files and folders, as hexadecimal text.

    Of a folder all .py files in and below it count. A file counts by its path from the top of its
    package (`gblsr_repro/models/base.py`) and by its syntax tree without docstrings. Where the
    packages lie, the order of `paths` and what is named twice change nothing. Raises `UserError`
    for a file that is missing or is not valid Python.
    """
    entries = {
        (_name_in_package(file), _digest_file(file))
        for path in paths
        for file in _find_python_files(Path(path))
    }
    return hashlib.sha256(repr(sorted(entries)).encode()).hexdigest()


def _find_python_files(path: Path) -> Iterator[Path]:
    """Return the Python files that a path stands for, by their absolute paths."""
    path = path.resolve()
    return path.rglob("*.py") if path.is_dir() else iter([path])


def _name_in_package(file: Path) -> str:
    """Return the path of a file from the folder that its outermost package lies in."""
    top = file.parent
    while (top / "__init__.py").is_file():
        top = top.parent
    return file.relative_to(top).as_posix()


def _digest_file(file: Path) -> str:
    """Return the SHA-256 of the code in one file, parsed once as long as the file stays."""
    try:
        facts = file.stat()
        return _digest_version(file, facts.st_mtime_ns, facts.st_size)
    except OSError as error:
        raise UserError(
            f"The code in {file} cannot be read ({error.strerror}); put the file back and run "
            "again."
        ) from error


@cache
def _digest_version(file: Path, modified: int, size: int) -> str:
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError) as error:
        where = f", line {error.lineno}," if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        raise UserError(
            f"{file}{where} is not valid Python ({what}); mend it and run again."
        ) from error
    return hashlib.sha256(_dump_tree(tree).encode()).hexdigest()


def _dump_tree(part: Any) -> str:
    """Return a syntax tree as text without docstrings.

    Like `ast.dump`, but fields that are empty are left out: new versions of Python add such to
    nodes that were there before, and the same code has the same text under each.
    """
    if isinstance(part, ast.AST):
        told = type(part).__name__
        for field in part._fields:
            value = getattr(part, field, None)
            if value is not None and value != []:
                told += f" {field}={_dump_tree(value)}"
        return f"({told})"
    if isinstance(part, list):
        return f"[{' '.join([_dump_tree(each) for each in part if not _is_docstring(each)])}]"
    return repr(part)


def _is_docstring(part: Any) -> bool:
    """Say whether a statement is a string alone: a docstring, or one beneath an assignment."""
    return (
        isinstance(part, ast.Expr)
        and isinstance(part.value, ast.Constant)
        and isinstance(part.value.value, str)
    )
