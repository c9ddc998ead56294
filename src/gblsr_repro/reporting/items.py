"""The tables and figures by the names of config/items.tsv, and making those that can be made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ..config import Config, Item, guess, items, selected_items
from ..errors import UserError
from .compare import Scope, compare_all
from .conditions import Conditions

MAKERS: dict[str, Callable[..., Any]] = {}
"""By an item's name: what makes its floats of aggregates, or its figure of those and a note."""
Maker = TypeVar("Maker", bound=Callable[..., Any])
Made = TypeVar("Made")


def item(make: Maker) -> Maker:
    """Register a function under its own name, which is that of its row in config/items.tsv, or how
    those of its rows begin: main(source, "kodak") makes main_kodak.
    """
    MAKERS[make.__name__] = make
    return make


def made_by(name: str) -> Callable[..., Any]:
    """Return what makes an item of its source."""
    begins = [made for made in MAKERS if name == made or name.startswith(f"{made}_")]
    rest = name.removeprefix(own := max(begins, key=len)).lstrip("_")
    return (lambda source: MAKERS[own](source, rest)) if rest else MAKERS[own]


def known(kind: str, config: Config) -> dict[str, Item]:
    """Return the items of a kind, "table" or "figure", that a config can make, in their order."""
    mine = selected_items(config)
    table = {**items(), **mine}
    return {
        name: row
        for name, row in table.items()
        if row.kind == kind and (name in mine or not name.startswith("main_"))
    }


def note(run: Conditions, item: Item) -> list[str]:
    """Return in few words how the run behind an item differs from the paper's."""
    scopes = [Scope(name) for name in item.scopes.split()]
    return list(dict.fromkeys(d.short for d in compare_all(run, scopes)))


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
