"""Types of settings with their ranges, and the base class of all sections."""

from __future__ import annotations

import os
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ...validation import match

NAME_PATTERN = r"^[A-Za-z0-9_]+$"
FOLDER_PATTERN = r"^(\./|/)?[\w+@=,%][\w.+@=,%-]*(/[\w+@=,%][\w.+@=,%-]*)*/?$"
ONE_LINE = r"^[^\x00-\x1f\x7f]+$"
RESOURCE = r"^[\w:.,-]+$"


def _require_distinct(values: list[Any]) -> list[Any]:
    """Refuse a list with a repeated entry."""
    if len(set(values)) < len(values):
        raise ValueError("must not name an entry twice")
    return values


def _require_rise(values: list[float]) -> list[float]:
    """Refuse a range whose first number is not the lower."""
    if values[0] >= values[1]:
        raise ValueError("must rise; write the lower first")
    return values


def _shorten_scale(value: float) -> float:
    """Return a whole scale as an integer: files are named x2, not x2.0; refuse over six digits."""
    if float(f"{value:g}") != value:
        raise ValueError("must have at most six digits, by which files are named")
    return int(value) if value.is_integer() else value


def _require_odd(value: int) -> int:
    """Refuse an even number."""
    if value % 2 == 0:
        raise ValueError("must be odd")
    return value


def _refuse_split_names(column: str) -> str:
    """Refuse the column names train and validation, which are splits."""
    if column in ("train", "validation"):
        raise ValueError("must not have the name of the training or validation images; rename it")
    return column


def _drop_nulls(entries: dict[str, Any]) -> dict[str, Any]:
    """Drop the entries that an overlay sets to null, since merging maps cannot remove them."""
    return {name: value for name, value in entries.items() if value is not None}


Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0, le=2**32 - 1)]  # what every generator takes
Border = Annotated[int, Field(ge=0)]  # pixels
Odd = Annotated[Count, AfterValidator(_require_odd)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Scale = Annotated[float, Field(gt=1, le=100), AfterValidator(_shorten_scale)]
Distinct = AfterValidator(_require_distinct)
Column = Annotated[str, match(NAME_PATTERN, "must be a name of letters, digits and _ only")]
EvaluationColumn = Annotated[Column, AfterValidator(_refuse_split_names)]
Names = Annotated[list[Column], Field(min_length=1), Distinct]
Scales = Annotated[list[Scale], Field(min_length=1), Distinct]
Pair = Field(min_length=2, max_length=2)
Rising = AfterValidator(_require_rise)
Folder = Annotated[
    str,
    match(
        FOLDER_PATTERN,
        "must be a folder below the working directory or an absolute path, of letters, digits and "
        "_ . + @ = , % - only, in which no name begins with a dot or a hyphen",
    ),
    AfterValidator(os.path.normpath),  # Snakemake takes out/ and ./out for other folders than out
]
Text = Annotated[str, match(ONE_LINE, "must be text in one line, not empty")]
Place = Text  # a file or folder, or an address
HomePath = Annotated[Text, AfterValidator(os.path.expanduser)]  # may begin with ~
Resource = Annotated[str, match(RESOURCE, "must be a name of letters, digits and _ : . , - only")]
Key = TypeVar("Key")
Value = TypeVar("Value")
OptionalEntries = Annotated[dict[Key, Value | None], AfterValidator(_drop_nulls)]
Columns = Annotated[OptionalEntries[Key, Column], Field(min_length=1)]


class Section(BaseModel):
    """A section of settings: refuses unknown names and distinguishes integer, number, boolean."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


def describe(description: str, **constraints: Any) -> Any:
    """Describe a setting; `default` and ranges as `pydantic.Field` takes them."""
    return Field(description=description, **constraints)
