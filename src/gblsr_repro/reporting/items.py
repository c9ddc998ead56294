"""Select, group and build the tables and figures of config/items.tsv by what their rows name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeVar

from ..analysis.provenance.conditions import SCOPES
from ..analysis.provenance.differences import Provenance
from ..analysis.schemas import find_jobs
from ..config import MAIN_TABLE, Config, Item, list_items, read_items
from ..errors import UserError

if TYPE_CHECKING:  # planning does without pandas
    from ..analysis.reader import Aggregates

QUALITATIVE = "qualitative"
"""The figure of images that trained arms reconstruct."""
Output = TypeVar("Output")


def build_item(item: Item, *arguments: Any) -> Any:
    """Build the tables or draw the figure of an item, by the function that its row names.

    The function takes the aggregates, then for a figure its differences from the paper, and the
    item's part, if any. Raises `UserError` if it does not exist.
    """
    try:
        make = resolve_name(f"{__package__}.{item.maker}")
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(
            f"config/items.tsv: maker of {item.item!r} is {item.maker!r}, which is no function of "
            "the package's folder reporting; name one as in tables.native:build_main."
        ) from error
    part = [item.part] if item.part else []
    return make(*arguments, *part)


def select_items(kind: str, config: Config) -> dict[str, Item]:
    """Select the items of a kind, "table" or "figure", that a config allows, in their order.

    Beside those that the config's runs allow these are the others of the paper, so that a page can
    say that it lacks them, but for main tables of columns that the config does not have.
    """
    selected = list_items(config)
    table = {**read_items(), **selected}
    return {
        name: row
        for name, row in table.items()
        if row.kind == kind and (name in selected or row.maker != MAIN_TABLE)
    }


def group_items(config: Config) -> dict[str, list[Item]]:
    """Group the items of a config by what they are made from: one job makes a group.

    A group is named after the jobs of its aggregates (see `schemas.JOBS`), and of the images that
    figures show.
    """
    groups: dict[str, list[Item]] = {}
    for item in list_items(config).values():
        pictures = [item.item] if item.item == QUALITATIVE else []
        groups.setdefault("_".join([*list_jobs(item), *pictures]) or "config", []).append(item)
    return groups


def list_jobs(item: Item) -> list[str]:
    """List the jobs whose aggregates an item is made from: its numbers and their conditions."""
    scopes = {*item.scopes}
    records = [name for name, concerned in SCOPES.items() if not scopes.isdisjoint(concerned)]
    return find_jobs([*item.needs, *records])


def describe_differences(
    provenance: Provenance, item: Item, columns: Collection[str] | None = None
) -> list[str]:
    """Describe how the run behind an item differs from the paper's, a sentence each.

    `columns` are the evaluation columns that are shown (default: all).
    """
    differences = provenance.find_differences(item.scopes, columns=columns)
    return list(dict.fromkeys(difference.sentence for difference in differences))


def find_figure(item: Item, source: Aggregates, ending: str) -> Path:
    """Find the file of a figure that the config makes; raises `UserError` without it."""
    path = source.results / "figures" / f"{item.item}.{ending}"
    if item.item not in list_items(source.config) or not path.is_file():
        raise UserError("not drawn.")
    return path


def build_possible(
    names: Iterable[str], build: Callable[[str], Output]
) -> tuple[dict[str, Output], dict[str, str]]:
    """Build all that can be built; return the results and the reasons of failures, by name."""
    results, failures = {}, {}
    for name in names:
        try:
            results[name] = build(name)
        except UserError as error:
            failures[name] = str(error)
    return results, failures
