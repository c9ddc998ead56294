"""Draw the figures from aggregates."""

from __future__ import annotations

import os
from pathlib import Path

# matplotlib refuses to be imported where this names a backend that is not installed, as in the
# processes that a notebook starts.
os.environ["MPLBACKEND"] = "Agg"

from ...analysis.reader import Aggregates
from ..items import build_item, describe_differences, select_items
from .style import apply_style, save_figure


def draw(name: str, source: Aggregates, output: Path) -> tuple[Path, Path]:
    """Draw one figure into `output`; return the paths of the PDF and the PNG.

    Raises `UserError` naming what is missing.
    """
    item = select_items("figure", source.config)[name]
    with apply_style():
        figure = build_item(item, source, describe_differences(source.provenance, item))
        return save_figure(figure, Path(output), name)
