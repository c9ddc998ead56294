"""Keep the rows of a table while they are computed, so that a stopped job goes on from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import build_write_error
from ..files import compute_short_checksum
from ..locks import hold_lock
from ..progress import Progress, log

KeptRow = dict[str, Any]


def compute_rows(
    folder: Path,
    name: str,
    dependencies: Mapping[str, Any],
    images: Sequence[str],
    compute: Callable[[int], KeptRow],
    label: str,
) -> list[KeptRow]:
    """Compute a row of the table `name` for each of the `images`, keeping it in `folder` at once.

    Rows that were kept there are read and not computed again, so that a job that was killed repeats
    one row at most. Every value of `dependencies` has a file of its own: rows of other settings are
    neither read nor lost. `compute(position)` must depend on the position and the dependencies
    alone, and return values that JSON holds exactly. The image's name is no such value: a row has
    under `image` the present one. While another process computes the same rows this one waits.
    Raises `UserError` when the file cannot be written.
    """
    checksum = compute_short_checksum(json.dumps(dependencies, sort_keys=True))
    path = folder / f"{name}.{checksum}.jsonl"

    def wait() -> None:
        log.info("%s: waiting for another process, which computes the same", label)

    with hold_lock(path.with_name(f".{path.name}.lock"), wait):
        rows, size = _read_rows(path)
        count = len(images)
        if len(rows) >= count:
            log.info("%s: measured before from the same", label)
            return _name_images(rows, images)
        try:
            with path.open("ab") as stream, Progress(label, count, "image", len(rows)) as progress:
                stream.truncate(size)  # a line that a kill left unfinished goes
                for position in range(len(rows), count):
                    rows.append(compute(position))
                    text = json.dumps(rows[-1])
                    stream.write(f"{compute_short_checksum(text)} {text}\n".encode())
                    stream.flush()
                    progress.update()
        except OSError as error:
            raise build_write_error(path, error) from error
        return _name_images(rows, images)


def _name_images(rows: Sequence[KeptRow], images: Sequence[str]) -> list[KeptRow]:
    """Name the image of every row; files may have been renamed since the rows were kept."""
    return [{**row, "image": image} for image, row in zip(images, rows, strict=False)]


def _read_rows(path: Path) -> tuple[list[KeptRow], int]:
    """Read the rows in a file up to the first damaged line; return them and their bytes' number.

    A line is the checksum of a row and the row as JSON.
    """
    rows: list[KeptRow] = []
    size = 0
    for line in path.read_bytes().splitlines(keepends=True) if path.is_file() else []:
        checksum, _, text = line.decode(errors="replace").partition(" ")
        if not text.endswith("\n") or checksum != compute_short_checksum(text[:-1]):
            break
        rows.append(json.loads(text))
        size += len(line)
    return rows, size
