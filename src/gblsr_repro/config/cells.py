"""Read a tab-separated table: the formats of its cells, and its rows."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

from ..errors import UserError
from ..wording import shorten

Row = TypeVar("Row")


@dataclass(frozen=True)
class CellFormat:
    """The pattern of a table's cells, and what to write in one that does not match."""

    pattern: str
    remedy: str


# Keys stand in paths and in command lines, beside the words that are taken.
Key = Annotated[
    str,
    CellFormat(
        r"(?!(?:all|bicubic|ground_truth)$)[A-Za-z0-9_]{1,64}",
        "write up to 64 letters, digits and _, and none of all, bicubic, ground_truth.",
    ),
]
ClassName = Annotated[
    str,
    CellFormat(
        r"(?=.{1,200}$)[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*",
        "write package.module:Class.",
    ),
]
Label = Annotated[str, CellFormat(r"\S.{0,199}", "write a name of up to 200 characters.")]
OptionsText = Annotated[
    str,
    CellFormat(
        r"(?=.{0,200}$)(\w+=[^\s=]+( \w+=[^\s=]+)*)?",
        "write name=value, one space between options.",
    ),
]
FilePatterns = Annotated[
    str,
    CellFormat(
        r"(?!.*\*\*)[^\s/@]\S*( \S+)*",
        "write the pattern of the images, then others, one space between them.",
    ),
]
Rank = Annotated[str, CellFormat(r"([1-9]\d{0,3})?", "write a whole number above 0, or nothing.")]
Count = Annotated[str, CellFormat(r"[1-9]\d{0,8}", "write a whole number of at least 1.")]
Size = Annotated[
    str, CellFormat(r"\d{0,15}", "write a whole number, the size of the download in bytes.")
]
Checksum = Annotated[str, CellFormat(r"[0-9a-f]{64}", "write the 64 digits of a SHA-256.")]


def read_table(path: Path | str, row: type[Row], key: str) -> dict[str, Row]:
    """Read a tab-separated table: a `row` per line, by its attribute `key`, in the file's order.

    Raises `UserError` where it is not UTF-8 text, a row lacks a cell or repeats a key, or a cell is
    not one of the words of the field's `Literal` or does not match its `CellFormat`.
    """
    names = [f.name for f in fields(row)]  # type: ignore[arg-type]
    hints = get_type_hints(row, include_extras=True)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")  # some editors put a mark first
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text ({error.reason}); save it as UTF-8.") from error
    rows: dict[str, Row] = {}
    with io.StringIO(text, newline="") as stream:
        reader = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        if reader.fieldnames != names:
            raise UserError(
                f"{path}: the first line must name the columns {', '.join(names)}, tab-separated; "
                "correct it."
            )
        for line in reader:
            place = f"{path}, line {reader.line_num}"
            if None in line or None in line.values():
                raise UserError(
                    f"{place}: the row must have {len(names)} tab-separated cells, empty ones "
                    "included; correct it."
                )
            record = row(**line)
            if (name := getattr(record, key)) in rows:
                raise UserError(f"{place}: {name!r} has a row above; remove one.")
            for column, cell in line.items():
                if remedy := _check_cell(cell, hints[column]):
                    raise UserError(f"{place}: {column} is {shorten(cell)}; {remedy}")
            rows[name] = record
    return rows


def _check_cell(text: str, hint: Any) -> str | None:
    """Check a cell by the type of its column; return what to write instead, None if it is fine."""
    if control := re.search(r"[\x00-\x1f\x7f]", text):
        return f"take out its control character {control[0]!r}."
    *words, allowed = get_args(hint) or [None]
    if isinstance(allowed, CellFormat):
        return None if re.fullmatch(allowed.pattern, text, re.ASCII) else allowed.remedy
    if words and text not in (*words, allowed):
        return suggest(text, filter(None, (*words, allowed)))
    return None


def suggest(name: str, candidates: Iterable[str]) -> str:
    """Suggest the closest of some names, or list all: the end of a sentence about an unknown name.

    As in "config/arms.tsv has no arm 'lif'; did you mean 'liif'?"
    """
    names = list(candidates)
    close = difflib.get_close_matches(name, names, 1)
    if close:
        return f"did you mean {close[0]!r}?"
    if not names:
        return "there is none to choose from; leave it out."
    return f"use one of {', '.join(names)}."
