"""Say in one sentence what pydantic refuses of settings, rows of tables and metadata."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, get_args

import yaml
from pydantic import BaseModel, Field, ValidationError

from .wording import shorten, suggest

PATTERNS: dict[str, str] = {}
"""What the patterns of texts ask for, in words: pydantic shows the pattern alone."""


def match(pattern: str, words: str) -> Any:
    """Declare the pattern of a text, and say in words what it asks for."""
    PATTERNS[pattern] = words
    return Field(pattern=pattern)


def describe_mistake(error: ValidationError, model: type[BaseModel]) -> str:
    """Describe the first mistake in the data of a model: its place, its value and the message."""
    first = min(error.errors(include_url=False), key=lambda e: (len(e["loc"]), str(e["loc"])))
    place = ".".join(str(part)[:80] for part in first["loc"]) or "it"
    if first["type"] == "missing":
        return f"{place} is missing"
    if first["type"] == "extra_forbidden":
        *path, last = first["loc"]
        known = _find_section(model, path).model_fields
        return f"{place} is unknown; {suggest(str(last), known).removesuffix('.')}"
    return f"{place} is {shorten(first['input'])}: {_choose_message(first)}"


def _choose_message(error: Any) -> str:
    """Choose pydantic's message, but for the few that mislead."""
    rule, value = error["type"], error["input"]
    if rule == "string_pattern_mismatch":
        return PATTERNS[error["ctx"]["pattern"]]
    if rule in ("int_type", "float_type") and isinstance(value, str):
        number = _rewrite_number(value, whole=rule == "int_type")
        if number:
            return (
                f"YAML reads this as text; write {number}, without quotes (in a file: in lists and "
                "maps after Snakemake's --config all is text)"
            )
    return error["msg"].removeprefix("Value error, ")


def _rewrite_number(text: str, whole: bool) -> str:
    """Rewrite a number that YAML 1.1 reads as text, such as 2e-3; empty where it is none."""
    try:
        value = float(text)
    except ValueError:
        return ""
    if not math.isfinite(value) or (whole and not value.is_integer()):
        return ""
    return str(int(value)) if whole else yaml.safe_dump(value).split()[0]


def _find_section(model: type[BaseModel], path: Sequence[Any]) -> type[BaseModel]:
    """Find the model that the entries at a path belong to."""
    for key in path:
        if key in model.model_fields:  # else the key of a map of models
            model = find_model(model.model_fields[key].annotation) or model
    return model


def find_model(annotation: Any) -> type[BaseModel] | None:
    """Find the model that a field is declared as, or as a map of."""
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None
