"""Group the tables and figures of config/items.tsv by what they are made from."""

from __future__ import annotations

from ..analysis.provenance.recorded import SCOPES
from ..analysis.schemas import find_jobs
from ..config import Config, Item, list_items

QUALITATIVE = "qualitative"
"""The figure of images that trained arms reconstruct."""


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
    scopes = {*item.scopes.split()}
    records = [name for name, concerned in SCOPES.items() if not scopes.isdisjoint(concerned)]
    return find_jobs([*item.needs.split(), *records])
