"""Select the tables and figures of config/items.tsv, and build those that the aggregates allow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..analysis.provenance import Provenance, Scope
from ..config import MAIN_TABLE, Config, Item, list_items, read_items, suggest
from ..errors import UserError
from ..evaluation import PAPER

BUILDERS: dict[str, Callable[..., Any]] = {}
"""By its name: each function that builds the tables or draws the figure of an item."""
Builder = TypeVar("Builder", bound=Callable[..., Any])
Output = TypeVar("Output")


@dataclass(frozen=True)
class View:
    """What a table shows of the aggregates: times by which clock, and whether a row of bicubic."""

    clock: str = PAPER
    bicubic: bool = False


def register(builder: Builder) -> Builder:
    """Register a function that builds tables or draws a figure, by its name.

    Rows of config/items.tsv name it as their `maker`. It is called with the aggregates, with the
    `View` of a table or the differences of a figure from the paper, and with the row's `part`, if
    any.
    """
    BUILDERS[builder.__name__] = builder
    return builder


def build_item(item: Item, *arguments: Any) -> Any:
    """Build the tables or draw the figure of an item: call its builder, with the item's part.

    Raises `UserError` if the item's row names a builder that does not exist.
    """
    if item.maker not in BUILDERS:
        raise UserError(
            f"config/items.tsv: maker of {item.item!r} is {item.maker!r}; "
            f"{suggest(item.maker, [*BUILDERS])}"
        )
    part = [item.part] if item.part else []
    return BUILDERS[item.maker](*arguments, *part)


def select_items(kind: str, config: Config) -> dict[str, Item]:
    """Select the items of a kind, "table" or "figure", that a config allows, in their order.

    Beside those that the config's runs allow these are the others of the paper, which aggregates
    of other runs may allow, but for main tables of columns that the config does not have.
    """
    selected = list_items(config)
    table = {**read_items(), **selected}
    return {
        name: row
        for name, row in table.items()
        if row.kind == kind and (name in selected or row.maker != MAIN_TABLE)
    }


def list_short_differences(
    provenance: Provenance, item: Item, columns: Collection[str] | None = None
) -> list[str]:
    """List in few words how the run behind an item differs from the paper's.

    `columns` are the evaluation columns that are shown (default: all).
    """
    scopes = [Scope(name) for name in item.scopes.split()]
    differences = provenance.find_differences(scopes, columns=columns)
    return list(dict.fromkeys(difference.short for difference in differences))


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


def write_items(
    kind: str,
    names: Collection[str],
    only: Sequence[str],
    write: Callable[[str], object],
    folder: Path,
) -> tuple[list[str], dict[str, str]]:
    """Write the items of a kind; return the names of those written and why others were not.

    `only` names those that must be written (default: all of `names` that can be), `folder` holds
    the aggregates. Raises `UserError` for an unknown name, for one of `only` that cannot be
    written, and when nothing could be.
    """
    for name in only:
        if name not in names:
            raise UserError(f"There is no {kind} {name!r}; {suggest(name, [*names])}")
    for name in only:
        write(name)
    if only:
        return [*only], {}
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder; name one that holds aggregates.")
    written, failures = build_possible(names, write)
    if not written:
        raise UserError(f"{folder} holds no numbers of any {kind}.")
    return [*written], failures
