"""The tables and figures by the names of config/items.tsv, and making those that can be made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ..analysis.provenance import Provenance, Scope
from ..config import MAIN_TABLE, Config, Item, guess, items, selected_items
from ..errors import UserError

MAKERS: dict[str, Callable[..., Any]] = {}
"""By name: what makes the tables or the figure of a row of config/items.tsv."""
Maker = TypeVar("Maker", bound=Callable[..., Any])
Made = TypeVar("Made")


def item(maker: Maker) -> Maker:
    """Register a function under its own name, the `maker` of rows in config/items.tsv.

    It is called with the aggregates and, where the row has one, with the row's `part`.
    """
    MAKERS[maker.__name__] = maker
    return maker


def make(row: Item, *sources: Any) -> Any:
    """Call the maker of an item with `sources` and with the item's part."""
    parts = [row.part] if row.part else []
    return MAKERS[row.maker](*sources, *parts)


def select_items(kind: str, config: Config) -> dict[str, Item]:
    """Return the items of a kind, "table" or "figure", that a config can make, in their order.

    Beside those that the config's runs allow these are the others of the paper, which aggregates
    of other runs may allow, but for main tables of columns that the config does not have.
    """
    selected = selected_items(config)
    table = {**items(), **selected}
    return {
        name: row
        for name, row in table.items()
        if row.kind == kind and (name in selected or row.maker != MAIN_TABLE)
    }


def note(run: Provenance, item: Item, columns: Collection[str] | None = None) -> list[str]:
    """Return in few words how the run behind an item differs from the paper's.

    `columns` are the evaluation columns that are shown (default: all).
    """
    scopes = [Scope(name) for name in item.scopes.split()]
    return list(dict.fromkeys(d.short for d in run.find_differences(scopes, columns=columns)))


def attempt(
    names: Iterable[str], make: Callable[[str], Made]
) -> tuple[dict[str, Made], dict[str, str]]:
    """Make what can be made; return that by name, and why the others could not be."""
    made, missing = {}, {}
    for name in names:
        try:
            made[name] = make(name)
        except UserError as error:
            missing[name] = str(error)
    return made, missing


def make_each(
    kind: str,
    names: Collection[str],
    only: Sequence[str],
    make: Callable[[str], object],
    folder: Path,
) -> tuple[list[str], dict[str, str]]:
    """Make the items of a kind; return the names of those made and why others were not.

    `only` names what must be made (default: all of `names` that can be), `folder` holds the
    aggregates. Raises `UserError` for an unknown name, for one of `only` that cannot be made, and
    when nothing could be.
    """
    for name in only:
        if name not in names:
            raise UserError(f"There is no {kind} {name!r}; {guess(name, [*names])}")
    for name in only:
        make(name)
    if only:
        return [*only], {}
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder; name one that holds aggregates.")
    made, missing = attempt(names, make)
    if not made:
        raise UserError(f"{folder} holds nothing that a {kind} can be made from.")
    return [*made], missing
