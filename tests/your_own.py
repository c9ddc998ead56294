"""What docs/your-own.md has its reader write: files, and rows of tables of the config."""

from __future__ import annotations

from pathlib import Path

import made
import pages
from PIL import Image

PAGE = (pages.ROOT / "docs/your-own.md").read_text(encoding="utf-8")
FILES = pages.read_files(PAGE)
ROWS = {cells[next(iter(cells))]: (table, cells) for table, cells in pages.read_rows(PAGE)}
IMAGES = {"my_photos": ("png", 3), "my_textures": ("jpg", 8)}


def format_row(key: str, **changes: str) -> str:
    """The line of a row of the page, some of its cells changed."""
    _, cells = ROWS[key]
    assert changes.keys() <= cells.keys()
    return "\t".join((cells | changes).values()) + "\n"


def add_row(folder: Path, key: str, **changes: str) -> None:
    """Add a row of the page to its table in a checkout."""
    with (folder / ROWS[key][0]).open("a") as table:
        table.write(format_row(key, **changes))


def follow(folder: Path) -> None:
    """Write the files of the page into a checkout, its rows, and images of its data sets."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    for key in ROWS:
        add_row(folder, key)
    for name, (ending, count) in IMAGES.items():
        place = folder / "resources" / name
        place.mkdir(parents=True)
        for number in range(count):
            picture = Image.fromarray(made.noise(200, 220, 3, seed=number))
            picture.save(place / f"{number}.{ending}")
