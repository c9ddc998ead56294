"""Write the tables and figures of config/items.tsv for which there are aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..analysis.reader import Aggregates
from ..config import Config
from ..errors import UserError
from ..wording import suggest
from .items import build_possible, select_items


def write_items(aggregates: Path, output: Path, config: Config, only: Sequence[str] = ()) -> str:
    """Write tables and figures; return a line for each file, and why others were not written.

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
        return "\n".join(str(path) for name in only for path in write_item(name))
    if not aggregates.is_dir():
        raise UserError(f"{aggregates} is not a folder; name one that holds aggregates.")
    written, skipped = build_possible(items, write_item)
    if not written:
        raise UserError(f"{aggregates} holds no numbers of any item; run the workflow first.")
    files = (str(path) for paths in written.values() for path in paths)
    return "\n".join([*files, *(f"skipped {name}: {skipped[name]}" for name in skipped)])
