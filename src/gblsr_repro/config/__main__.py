"""Renew the files that are generated from the config and its tables.

`python -m gblsr_repro.config` renews the lists of settings and items in config/README.md and
docs/items.md, and the JSON schema of the settings, by which editors complete and check.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from ..files import write_text
from ..validation import find_inner_section
from .items import Item, read_items
from .load import load_protocol, read_published_times
from .schema.settings import Settings
from .tables import find_repository_root, read_arms

HEADING = "## Settings\n"


def renew_settings_page(text: str) -> str:
    """Renew the list of settings at the end of the text of config/README.md."""
    rows = ["| setting | meaning |", "|---|---|", *_list_section(Settings)]
    return "\n".join([f"{text.partition(HEADING)[0]}{HEADING}", *rows, ""])


def _list_section(section: type[BaseModel], place: str = "") -> Iterator[str]:
    """Yield a row for every setting of a section and of its subsections: name and meaning."""
    for name, setting in section.model_fields.items():
        inner = find_inner_section(setting.annotation)
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
