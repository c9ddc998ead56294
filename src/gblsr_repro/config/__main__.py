"""Renew the files that are generated from the config and its tables.

`python -m gblsr_repro.config` renews the lists of settings and items in config/README.md and
docs/items.md, and the JSON schema of the settings, by which editors complete and check.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from ..files import write_text
from .items import Item, read_items
from .load import load_protocol, read_published_times
from .schema.settings import Settings
from .schema.types import LARGEST, LARGEST_INTEGER, SMALLEST
from .tables import find_repository_root, read_arms

HEADING = "## Settings\n"
RANGES = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
}
AT_LEAST_ANY, ABOVE_ZERO = f"at least {SMALLEST}", "more than 0"


def list_settings() -> str:
    """List all settings in a Markdown table: name, type and range, default, meaning."""
    schema = Settings.model_json_schema()
    rows = ["| setting | allowed values | meaning |", "|---|---|---|"]
    return "\n".join([*rows, *_list_section(schema, schema["$defs"], "")]) + "\n"


def _list_section(
    section: dict[str, Any], definitions: dict[str, Any], place: str
) -> Iterator[str]:
    """Yield a row for every setting of a section of the JSON schema, and of its subsections."""
    for name, setting in section["properties"].items():
        inner = definitions.get(setting.get("$ref", "").rpartition("/")[2])
        if inner is not None:
            yield f"| **`{place}{name}`** | | {setting.get('description', inner['description'])} |"
            yield from _list_section(inner, definitions, f"{place}{name}.")
            continue
        values = _describe_type(setting)
        if "default" in setting:
            values += f"; left out: `{json.dumps(setting['default'])}`"
        yield f"| `{place}{name}` | {values} | {setting['description']} |"
        entries = _find_entries(setting)
        if "$ref" in entries:
            inner = definitions[entries["$ref"].rpartition("/")[2]]
            yield from _list_section(inner, definitions, f"{place}{name}.*.")


def _describe_type(schema: dict[str, Any]) -> str:
    """Describe in words the values that a JSON schema allows."""
    if "anyOf" in schema:
        return " or ".join(map(_describe_type, schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_describe_type(schema['items'])}"
    if schema.get("type") == "object":
        values = _find_entries(schema)
        return "map" if "$ref" in values else f"map to {_describe_type(values)}"
    # What holds for every number is not said of each.
    bounds = {key: schema[key] for key in RANGES if abs(schema.get(key, LARGEST)) < LARGEST}
    if bounds.get("maximum") == LARGEST_INTEGER:
        del bounds["maximum"]
    # Whole bounds of numbers are integers to some versions of pydantic, and floats to others.
    whole = {key: int(bound) for key, bound in bounds.items() if bound == int(bound)}
    ranges = [f"{RANGES[key]} {bound:,}" for key, bound in (bounds | whole).items()]
    return " ".join([schema["type"], ", ".join(ranges)]).strip().replace(AT_LEAST_ANY, ABOVE_ZERO)


def _find_entries(schema: dict[str, Any]) -> dict[str, Any]:
    """Find what the JSON schema of a map says of its values; empty for anything else."""
    by_pattern: dict[str, Any] = schema.get("patternProperties", {})
    return next(iter(by_pattern.values()), {})


def renew_settings_page(text: str) -> str:
    """Renew the list of settings at the end of the text of config/README.md."""
    return f"{text.partition(HEADING)[0]}{HEADING}\n{list_settings()}"


class _OverlaySchema(GenerateJsonSchema):
    """The schema of a file that sets some of the settings: none is required."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Require no setting."""
        return False


def renew_schema(text: str) -> str:
    """Renew the JSON schema of the settings, whatever the text of config/schema.json is."""
    return json.dumps(Settings.model_json_schema(schema_generator=_OverlaySchema)) + "\n"


# --- the paper's items ----------------------------------------------------------------------------

ITEMS = "| paper item | target | cost |\n|---|---|---|\n"


def renew_items_page(text: str) -> str:
    """Renew the table of the paper's items in the text of docs/items.md."""
    before, _, rest = text.partition(ITEMS)
    _, _, after = rest.partition("\n\n")
    rows = [
        f"| {item.paper}: {_lower_first_letter(item.title)} | `{name}` | {describe_cost(item)} |"
        for name, item in read_items().items()
    ]
    return f"{before}{ITEMS}{chr(10).join(rows)}\n\n{after}"


def describe_cost(item: Item) -> str:
    """Describe the trainings that a table or figure waits for, with their time in the paper."""
    need, arms = next(iter(item.needs), ""), read_arms()
    if need in ("", "budget"):
        return "nothing"
    groups = [group for half in ("native", "asr") for group in read_published_times(half)]
    seconds = {
        name: group.total_seconds / group.runs
        for group in groups
        if item.benchmark in (group.benchmark, "both")
        for name in group.subjects
    }
    if item.benchmark == "native" and need != "runs":
        kept = "in_benchmark" if need == "native" else "diagnostic"
        seconds = {name: each for name, each in seconds.items() if getattr(arms[name], kept)}
    seeds = len(load_protocol()["seeds"])
    runs, total = seeds * len(seconds), seeds * sum(seconds.values())
    if item.benchmark == "native":
        return f"{runs} runs, {total / 60:.0f} minutes"
    alone = "; its times alone: nothing" if (item.benchmark, need) == ("asr", "asr_latency") else ""
    return f"{runs} runs, {total / 3600:,.0f} GPU-hours{alone}"


def _lower_first_letter(title: str) -> str:
    """Lower the first letter of a title, unless its first word is an abbreviation."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


GENERATED = {
    "config/README.md": renew_settings_page,
    "config/schema.json": renew_schema,
    "docs/items.md": renew_items_page,
}

if __name__ == "__main__":
    for name, renewed in GENERATED.items():
        path = find_repository_root() / name
        write_text(path, renewed(path.read_text(encoding="utf-8")))
