"""Say in one sentence what pydantic refuses of settings, rows of tables and metadata."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, get_args

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
    is_text = rule in ("int_type", "float_type") and isinstance(value, str)
    if is_text and re.search(r"\d", value):
        return (
            "YAML reads this as text; write the number without quotes, and 0.002 for 2e-3 (in a "
            "file: in lists and maps after Snakemake's --config all is text)"
        )
    return error["msg"].removeprefix("Value error, ")


def _find_section(model: type[BaseModel], path: Sequence[Any]) -> type[BaseModel]:
    """Find the model that the entries at a path belong to."""
    for key in path:
        if key in model.model_fields:  # else the key of a map of models
            model = find_inner_section(model.model_fields[key].annotation) or model
    return model


def find_inner_section(annotation: Any) -> type[BaseModel] | None:
    """Find the model that a field is declared as, or as a map of."""
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None
