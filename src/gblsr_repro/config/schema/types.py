"""Types of settings with their checks, and the base class of all sections."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError


def _require_distinct(values: list[Any]) -> list[Any]:
    """Refuse a list with a repeated entry."""
    if any(value in values[:i] for i, value in enumerate(values)):
        raise PydanticCustomError("distinct", "must not name an entry twice")
    return values


def _require_odd(value: int) -> int:
    """Refuse an even number."""
    if value % 2 == 0:
        raise PydanticCustomError("odd", "must be odd")
    return value


def _check_column_name(name: Any) -> Any:
    """Refuse a name with other characters than letters, digits and underscores."""
    if not re.fullmatch(r"[A-Za-z0-9_]+", str(name)) or not isinstance(name, str):
        raise PydanticCustomError(
            "column",
            "must be a name without spaces and special characters: letters, digits and _ only",
        )
    return name


def _check_folder_name(name: Any) -> Any:
    """Refuse a name that a shell interprets or takes for an option, and the way out by `..`."""
    if not re.fullmatch(
        r"[^\s'\"`$;&|<>*?()\[\]{}\\!#~-][^\s'\"`$;&|<>*?()\[\]{}\\!#~]*", str(name)
    ):
        raise PydanticCustomError("folder", "must be a name without spaces and special characters")
    path = Path(str(name))
    if ".." in path.parts or path == Path():
        raise PydanticCustomError(
            "inside", "must be a folder below the working directory, or an absolute path"
        )
    return name


def drop_nulls(columns: Any) -> Any:
    """Drop the columns that an overlay sets to null, since merging maps cannot remove entries."""
    if not isinstance(columns, dict):
        return columns
    return {column: value for column, value in columns.items() if value is not None}


def _refuse_split_names(column: str) -> str:
    """Refuse the column names train and validation, which are splits."""
    if column in ("train", "validation"):
        raise PydanticCustomError(
            "split", "must not have the name of the training or validation images; rename it"
        )
    return column


Count = Annotated[int, Field(ge=1)]
Whole = Annotated[int, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, le=2**32 - 1)]  # what every generator takes
Odd = Annotated[Count, AfterValidator(_require_odd)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
# A whole scale stays an integer: files are named x2, not x2.0.
Scale = Annotated[float, Field(gt=1), AfterValidator(lambda v: int(v) if v.is_integer() else v)]
Distinct = AfterValidator(_require_distinct)
Names = Annotated[list[str], Field(min_length=1), Distinct]
Scales = Annotated[list[Scale], Field(min_length=1), Distinct]
Pair = Field(min_length=2, max_length=2)
Column = Annotated[str, BeforeValidator(_check_column_name)]
EvaluationColumn = Annotated[Column, AfterValidator(_refuse_split_names)]
Folder = Annotated[str, BeforeValidator(_check_folder_name)]
HomePath = Annotated[str, AfterValidator(os.path.expanduser)]  # may begin with ~
Key = TypeVar("Key")
Columns = Annotated[dict[Key, str], Field(min_length=1), BeforeValidator(drop_nulls)]


class Section(BaseModel):
    """A section of settings: refuses unknown names and distinguishes integer, number, boolean."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


def describe(description: str, **constraints: Any) -> Any:
    """Describe a setting; `default` and ranges as `pydantic.Field` takes them."""
    return Field(description=description, **constraints)
