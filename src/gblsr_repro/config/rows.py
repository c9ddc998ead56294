"""Read a table: a typed row for every line, and the types of its cells.

A table is a tab-separated file (.tsv, no quotes) or a CSV file. Its rows are pydantic models, whose
fields are its columns; an empty cell is the default of its field.
"""

from __future__ import annotations

import csv
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from ..errors import UserError
from ..evaluation import BICUBIC, NEAREST, TRUTH
from ..validation import describe_mistake, match
from .schema.types import Column, Text


class TableRow(BaseModel):
    """A row of a table."""

    model_config = ConfigDict(frozen=True, defer_build=True)


AnyRow = TypeVar("AnyRow", bound=TableRow)


def _refuse_taken(name: str) -> str:
    """Refuse a name under which the workflow has the pictures and scores of no model."""
    if name in (BICUBIC, NEAREST, TRUTH):
        raise ValueError(f"none of {BICUBIC}, {NEAREST}, {TRUTH} may be a name")
    return name


def split_words(cell: Any) -> Any:
    """Split the words of a cell."""
    return cell.split() if isinstance(cell, str) else cell


def require_place_below(path: str) -> str:
    """Refuse a path that leads out of the folder that it is relative to."""
    relative = PurePosixPath(path)
    if relative.is_absolute() or ".." in relative.parts:
        raise ValueError("it leads out of the data set's folder")
    return path


def _require_patterns(words: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse patterns of files that lead out of their folder, and names with ** among others."""
    for pattern in (each for word in words for each in word.removeprefix("@").split("|")):
        if any("**" in part and part != "**" for part in require_place_below(pattern).split("/")):
            raise ValueError("write ** alone between two /")
    return words


def _split_phrases(cell: Any) -> Any:
    """Split the phrases of a cell, which commas separate."""
    return cell.split(", ") if isinstance(cell, str) else cell


def _split_options(cell: Any) -> Any:
    """Split options (name=value, one space between them) into a map."""
    if not isinstance(cell, str):
        return cell
    options: dict[str, str] = {}
    for word in cell.split():
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise ValueError("write name=value, one space between options")
        if name in options:
            raise ValueError(f"the option {name!r} comes twice; remove one")
        options[name] = value
    return options


# Keys stand in paths and in command lines.
RowName = Annotated[Column, AfterValidator(_refuse_taken)]
ClassName = Annotated[
    str,
    match(r"^[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*$", "write package.module:Class"),
]
# What Snakemake's report and pdflatex print.
Title = Annotated[
    Text,
    match(
        r"^[ -z|~À-ÏÑ-Ýß-ïñ-ýÿ×Δ≈–—“”‘’]*$",
        "must be of letters from A to Z and of Western Europe, digits and signs, without { and }, "
        "to be printed in the PDF",
    ),
]
# What Snakemake takes wildcards from.
WithoutBraces = Annotated[str, match(r"^[^{}]*$", "must be without { and }")]
Checksum = Annotated[str, match(r"^[0-9a-f]{64}$", "write the 64 digits of a SHA-256")]
Words = Annotated[tuple[str, ...], BeforeValidator(split_words)]
FilePatterns = Annotated[Words, AfterValidator(_require_patterns)]
Phrases = Annotated[tuple[str, ...], BeforeValidator(_split_phrases)]
OptionCell = Annotated[dict[str, str], BeforeValidator(_split_options)]


def read_table(
    path: Path | str, row: type[AnyRow], key: str, remedy: str = "correct it"
) -> dict[str, AnyRow]:
    """Read a table: a `row` per line, by its attribute `key`, in the file's order.

    Raises `UserError`, which ends with the `remedy`, where it is not UTF-8 text, a line has not as
    many cells as there are columns or repeats a key, or a cell is not of the type of its field.
    """
    path, names = Path(path), list(row.model_fields)
    style = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if path.suffix == ".tsv" else {}
    rows: dict[str, AnyRow] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:  # some editors put a mark first
            reader = csv.reader(stream, **style)  # type: ignore[arg-type]
            if next(reader, None) != names:
                raise UserError(
                    f"{path}: the first line must name the columns {', '.join(names)}; {remedy}."
                )
            for cells in reader:
                place = f"{path}, line {reader.line_num}"
                if len(cells) != len(names):
                    raise UserError(
                        f"{place}: the row has {len(cells)} cells and must have {len(names)}, "
                        f"empty ones included; {remedy}."
                    )
                filled = {name: cell for name, cell in zip(names, cells, strict=True) if cell}
                try:
                    parsed = row.model_validate(filled)
                except ValidationError as error:
                    raise UserError(
                        f"{place}: {describe_mistake(error, row)}; {remedy}."
                    ) from error
                if rows.setdefault(getattr(parsed, key), parsed) is not parsed:
                    name = getattr(parsed, key)
                    raise UserError(f"{place}: {name!r} has a row above; remove one.")
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} is no table in UTF-8 ({error}); {remedy}.") from error
    return rows
