"""Select the tables and figures of config/items.tsv, and write those that the aggregates allow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeVar

from ..analysis.provenance.differences import Provenance, Scope
from ..analysis.reader import Aggregates
from ..config import MAIN_TABLE, Config, Item, list_items, read_items, suggest
from ..errors import UserError

Output = TypeVar("Output")


def build_item(item: Item, *arguments: Any) -> Any:
    """Build the tables or draw the figure of an item, by the function that its row names.

    The function takes the aggregates, then for a table what to show of them (`layout.View`) or for
    a figure its differences from the paper, and the item's part, if any. Raises `UserError` if it
    does not exist.
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


def list_differences(
    provenance: Provenance, item: Item, columns: Collection[str] | None = None
) -> list[str]:
    """List how the run behind an item differs from the paper's, a sentence each.

    `columns` are the evaluation columns that are shown (default: all).
    """
    scopes = [Scope(name) for name in item.scopes.split()]
    differences = provenance.find_differences(scopes, columns=columns)
    return list(dict.fromkeys(difference.sentence for difference in differences))


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


def write(
    aggregates: Path, output: Path, config: Config, only: Sequence[str] = ()
) -> tuple[list[Path], dict[str, str]]:
    """Write tables and figures; return their files and why others were not written, by item.

    They are made of the aggregates in a folder, some also of images and fields in the folder above.
    Tables go to `output`/tables, also beside the paper's values, figures to `output`/figures.
    `only` names items that must be written (default: all that can be). Raises `UserError` for an
    unknown name, for one of `only` that cannot be written, and when nothing could be.
    """
    items = select_items("table", config) | select_items("figure", config)
    source = Aggregates(aggregates, config)
    for name in only:
        if name not in items:
            raise UserError(f"There is no table or figure {name!r}; {suggest(name, items)}")

    def write_item(name: str) -> list[Path]:
        # matplotlib takes a second to import, and tables do without.
        if items[name].kind == "table":
            from .tables import build

            return build.write_table(items[name], source, output / "tables")
        from . import figures

        return [*figures.draw(name, source, output / "figures")]

    if only:
        return [path for name in only for path in write_item(name)], {}
    if not aggregates.is_dir():
        raise UserError(f"{aggregates} is not a folder; name one that holds aggregates.")
    written, failures = build_possible(items, write_item)
    if not written:
        raise UserError(f"{aggregates} holds no numbers of any item; run the workflow first.")
    return [path for paths in written.values() for path in paths], failures
