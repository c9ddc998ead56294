"""Validate a configuration by its schema, with one sentence about the first mistake."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, get_args

import yaml
from pydantic import ValidationError

from ..errors import UserError
from ..wording import shorten
from .cells import suggest
from .schema.settings import Settings
from .schema.types import PATTERNS, Section
from .tables import Config

WORDS = {
    r"^Value error, ": "",
    r"^\w+ should": "must",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    " after validation, not .*": "",
    "a valid boolean": "true or false",
    "dictionary( or instance of .*)?": "map",
    "valid string": "string, in quotes where it looks like a number",
}
"""How parts of pydantic's messages are worded instead."""


def apply_schema(config: Config) -> Config:
    """Validate `config` and return it with its defaults; `UserError` about its first mistake."""
    try:
        settings = Settings.model_validate(config)
    except ValidationError as error:
        first = min(error.errors(include_url=False), key=lambda e: (len(e["loc"]), str(e["loc"])))
        raise UserError(_describe_error(first)) from None
    complete = settings.model_dump()
    # Jobs request exactly the resources that are set.
    complete["cluster"]["gpu"] = settings.cluster.gpu.model_dump(exclude_none=True)
    return complete


def _describe_error(error: Any) -> str:
    """Describe a validation error in one sentence: the setting, its value and the remedy."""
    *path, last = error["loc"] or ("",)
    if error["type"] in ("extra_forbidden", "invalid_key", "missing"):
        place = _join_names(path)
        if error["type"] == "missing":
            return f"Config: {place} lacks the setting {last!r}; add it (see config/README.md)."
        return (
            f"Config: unknown setting {shorten(str(last))} at {place}; "
            f"{suggest(str(last), _find_section(path).model_fields)}"
        )
    place = f"a name in {_join_names(path[:-1])}" if last == "[key]" else _join_names(error["loc"])
    return f"Config: {place} is {shorten(error['input'])}, {_describe_expectation(error)}."


def _join_names(path: Sequence[Any]) -> str:
    """Join the names of sections and of a setting with dots, long ones shortened."""
    return ".".join(str(name)[:80] for name in path) or "the top level"


def _describe_expectation(error: Any) -> str:
    """Describe in words what a value must be."""
    rule, value = error["type"], error["input"]
    if rule in ("int_type", "float_type") and isinstance(value, str):
        number = _rewrite_number(value, whole=rule == "int_type")
        if number:
            return f"which YAML reads as text; write {number}, without quotes"
    if rule == "string_pattern_mismatch":
        return f"but {PATTERNS[error['ctx']['pattern']]}"
    message = error["msg"]
    for pattern, words in WORDS.items():
        message = re.sub(pattern, words, message)
    return f"but {message}"


def _rewrite_number(text: str, whole: bool) -> str:
    """Rewrite a number that YAML 1.1 reads as text, such as 2e-3; empty where it is none."""
    try:
        value = float(text)
    except ValueError:
        return ""
    if not math.isfinite(value) or (whole and not value.is_integer()):
        return ""
    return str(int(value)) if whole else yaml.safe_dump(value).split()[0]


def _find_section(path: Sequence[Any]) -> type[Section]:
    """Find the section that the settings at a path belong to."""
    section: type[Section] = Settings
    for key in path:
        if key in section.model_fields:  # else the key of a map of sections
            annotation = section.model_fields[key].annotation
            kinds = (annotation, *get_args(annotation))
            section = next(k for k in kinds if isinstance(k, type) and issubclass(k, Section))
    return section
