"""Draw the figures from aggregates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

# matplotlib refuses to be imported where this names a backend that is not installed, as in the
# processes that a notebook starts.
os.environ["MPLBACKEND"] = "Agg"

from ...analysis.reader import Aggregates
from ...config import Config
from ..items import build_item, list_differences, select_items, write_items
from .style import apply_style, save_figure


def draw(name: str, source: Aggregates, output: Path) -> tuple[Path, Path]:
    """Draw one figure into `output`; return the paths of the PDF and the PNG.

    Raises `UserError` naming what is missing.
    """
    item = select_items("figure", source.config)[name]
    with apply_style():
        figure = build_item(item, source, list_differences(source.provenance, item))
        return save_figure(figure, Path(output), name)


def write(
    aggregates: Path, output: Path, config: Config, only: Sequence[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """Write figures to `output`/<name>.pdf and .png, see `items.write_items`.

    Those of images and fields read them in the folder above `aggregates`.
    """
    source, items = Aggregates(aggregates, config), select_items("figure", config)
    return write_items("figure", items, only, lambda name: draw(name, source, output), aggregates)
