"""Validate a configuration by its schema, with one sentence about the first mistake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from pydantic import ValidationError

from ..errors import UserError
from .schema.settings import Settings, is_section
from .schema.types import Section
from .tables import Config, suggest

TYPES = {"int": "integer", "float": "number", "bool": "boolean", "model": "map", "dict": "map"}
EXPECTATIONS = {
    "finite_number": "must be a finite number",
    "literal_error": "must be one of {expected}",
    "greater_than_equal": "must be at least {ge:.12g}",
    "greater_than": "must be more than {gt:.12g}",
    "less_than_equal": "must be at most {le:.12g}",
    "less_than": "must be less than {lt:.12g}",
    "too_short": "must have {min_length} or more entries",
    "too_long": "must have at most {max_length} entries",
}


def apply_schema(config: Config) -> Config:
    """Validate `config` and return it with its defaults; `UserError` about its first mistake."""
    try:
        settings = Settings.model_validate(config)
    except ValidationError as error:
        first = min(error.errors(), key=lambda e: (len(e["loc"]), str(e["loc"])))
        raise UserError(_describe_error(first)) from None
    complete = settings.model_dump()
    # Jobs request exactly the resources that are set.
    complete["cluster"]["gpu"] = settings.cluster.gpu.model_dump(exclude_none=True)
    return complete


def _describe_error(error: Any) -> str:
    """Describe a validation error in one sentence: the setting, its value and the remedy."""
    *path, last = error["loc"] or ("",)
    if error["type"] in ("extra_forbidden", "invalid_key", "missing"):
        place = ".".join(map(str, path)) or "the top level"
        if error["type"] == "missing":
            return f"Config: {place} lacks the setting {last!r}; add it (see config/README.md)."
        return (
            f"Config: unknown setting {str(last)!r} at {place}; "
            f"{suggest(str(last), _find_section(path).model_fields)}"
        )
    place = ".".join(map(str, error["loc"])) or "the top level"
    if last == "[key]":
        place = f"a name in {'.'.join(map(str, path[:-1]))}"
    return f"Config: {place} is {error['input']!r}, but {_describe_expectation(error)}."


def _describe_expectation(error: Any) -> str:
    """Describe in words what a value must be."""
    rule = error["type"]
    if rule.endswith("_type"):
        name = rule.removesuffix("_type")
        return f"must be of type {TYPES.get(name, name)}"
    if rule in EXPECTATIONS:
        return EXPECTATIONS[rule].format(**error.get("ctx", {}))
    return error["msg"]


def _find_section(path: Sequence[Any]) -> type[Section]:
    """Find the section that the settings at a path belong to."""
    section: type[Section] = Settings
    for key in path:
        if key in section.model_fields:  # else the key of a map of sections
            annotation = section.model_fields[key].annotation
            section = next(k for k in (annotation, *get_args(annotation)) if is_section(k))
    return section
