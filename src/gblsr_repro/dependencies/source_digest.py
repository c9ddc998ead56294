"""Digests of source code, which decide whether a result came from the same program.

They depend on the code that Python runs, not on its text: comments, docstrings and line breaks
change nothing, so nothing that took days is computed again for them.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import UserError, build_syntax_error


def digest_files(files: Iterable[Path]) -> str:
    """Compute the SHA-256 of the Python code in files, as hexadecimal text.

    A file counts by its path from the top of its package (`gblsr_repro/models/base.py`) and by its
    syntax tree without docstrings. The location of the packages and the order of the files do not
    count. Raises `UserError` for a file that is missing or is not valid Python.
    """
    entries = []
    for file in files:
        name = file.relative_to(find_package_folder(file).parent).as_posix()
        with explain_bad_code(file):
            entries.append((name, _digest_source(file.read_bytes())))
    return hashlib.sha256(repr(sorted(entries)).encode()).hexdigest()


def find_package_folder(file: Path) -> Path:
    """Find the folder of the outermost package that a file is in, else the file itself."""
    top = file
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    return top


@contextmanager
def explain_bad_code(file: Path) -> Iterator[None]:
    """Raise a `UserError` when the file of the block cannot be read or is not valid Python."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"The code in {file} cannot be read ({error.strerror}); restore the file and run again."
        ) from error
    except SyntaxError as error:
        error.filename = str(file)
        raise build_syntax_error(error) from error
    except ValueError as error:
        raise UserError(
            f"{file} is not valid Python ({error}); correct it and run again."
        ) from error


@cache
def _digest_source(source: bytes) -> str:
    """Compute the SHA-256 of source code, parsed once."""
    return hashlib.sha256(_dump_tree(ast.parse(source)).encode()).hexdigest()


def _dump_tree(part: Any) -> str:
    """Dump a syntax tree as text without docstrings.

    Like `ast.dump`, but without empty fields: new versions of Python add such fields to existing
    nodes, and the same code has the same text under all of them.
    """
    if isinstance(part, ast.AST):
        text = type(part).__name__
        for field in part._fields:
            value = getattr(part, field, None)
            if value is not None and value != []:
                text += f" {field}={_dump_tree(value)}"
        return f"({text})"
    if isinstance(part, list):
        return f"[{' '.join([_dump_tree(item) for item in part if not _is_docstring(item)])}]"
    return repr(part)


def _is_docstring(part: Any) -> bool:
    """Decide whether a statement is only a string: a docstring, or one below an assignment."""
    return (
        isinstance(part, ast.Expr)
        and isinstance(part.value, ast.Constant)
        and isinstance(part.value.value, str)
    )
