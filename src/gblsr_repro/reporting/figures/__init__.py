"""The figures, drawn from aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...analysis.reader import Aggregates
from ...config import Config
from ..items import make, make_each, note, select_items
from . import asr, comparison, locality, native, qualitative  # noqa: F401 (register)
from .style import save, styled


def render(name: str, source: Aggregates, output: Path) -> tuple[Path, Path]:
    """Draw one figure into `output`; return the paths of the PDF and the PNG.

    Raises `UserError` naming what is missing.
    """
    with styled():
        item = select_items("figure", source.config)[name]
        return save(make(item, source, note(source.provenance, item)), Path(output), name)


def write(
    aggregates: Path, output: Path, config: Config, only: Sequence[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """Draw figures to `output`/<name>.pdf and .png, see `items.make_each`.

    Those of images and fields read them in the folder above `aggregates`.
    """
    source, names = Aggregates(aggregates, config), select_items("figure", config)
    return make_each("figure", names, only, lambda name: render(name, source, output), aggregates)
