"""Renew the files that are generated from the schema of the settings.

`python -m gblsr_repro.config` renews the list of settings in config/README.md, and their JSON
schema, by which editors complete and check.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from ..files import write_text
from ..validation import find_model
from .schema.settings import Settings
from .tables import find_repository_root

HEADING = "## Settings\n"


def renew_settings_page(text: str) -> str:
    """Renew the list of settings at the end of the text of config/README.md."""
    rows = ["| setting | meaning |", "|---|---|", *_list_section(Settings)]
    return "\n".join([f"{text.partition(HEADING)[0]}{HEADING}", *rows, ""])


def _list_section(section: type[BaseModel], place: str = "") -> Iterator[str]:
    """Yield a row for every setting of a section and of its subsections: name and meaning."""
    for name, setting in section.model_fields.items():
        inner = find_model(setting.annotation)
        if inner is None:
            is_choice = get_origin(setting.annotation) is Literal
            words = [f"`{word}`" for word in get_args(setting.annotation)] if is_choice else []
            choices = f": {', '.join(words)}" if words else ""
            yield f"| `{place}{name}` | {setting.description}{choices} |"
            continue
        yield f"| **`{place}{name}`** | {setting.description or inner.__doc__} |"
        entries = "" if inner is setting.annotation else "*."
        yield from _list_section(inner, f"{place}{name}.{entries}")


class _OverlaySchema(GenerateJsonSchema):
    """The schema of a file that sets some of the settings: none is required."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Require no setting."""
        return False


def renew_schema(text: str) -> str:
    """Renew the JSON schema of the settings, whatever the text of config/schema.json is."""
    return json.dumps(Settings.model_json_schema(schema_generator=_OverlaySchema)) + "\n"


GENERATED = {"config/README.md": renew_settings_page, "config/schema.json": renew_schema}

if __name__ == "__main__":
    for name, renewed in GENERATED.items():
        path = find_repository_root() / name
        write_text(path, renewed(path.read_text(encoding="utf-8")))
