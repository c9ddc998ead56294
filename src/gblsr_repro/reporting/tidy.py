"""The tidy aggregate files: their columns, and reading them back checked."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

from ..errors import UserError
from ..evaluation import GRAPH, OURS, PAPER
from ..files import verify
from .statistics import Summary

Key = tuple[str, ...]
Summaries = dict[Key, Summary]
Row = dict[str, str]

VALUES = ("mean", "std", "n")

KEYS = {
    "native": ("dataset", "arm", "metric"),
    "readings": ("dataset", "arm", "metric"),
    "locality": ("arm", "statistic"),
    "ablation": ("arm", "metric"),
    "asr_quality": ("dataset", "method", "scale", "metric"),
    "asr_latency": ("dataset", "method", "scale", "clock", "metric"),
}

BUDGET_COLUMNS = ("arm", "parameters")

NATIVE_TIMES = {PAPER: "inference_ms", OURS: "ours_ms", GRAPH: "graph_ms"}
"""The metric of the native aggregate that holds the times by a clock."""

RUN_COLUMNS = (
    "benchmark",
    "arm",
    "seed",
    "steps",
    "parameters",
    "wall_seconds",
    "steps_per_second",
    "peak_memory_mib",
    "device",
    "finished",
)


def read_rows(path: Path, columns: Sequence[str]) -> list[Row]:
    """Read a CSV file that has at least `columns`; `UserError` names the file and what is wrong."""
    verify(path)
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.DictReader(stream)
            absent = [c for c in columns if c not in (reader.fieldnames or [])]
            if absent:
                raise UserError(f"{path} lacks the column {absent[0]!r}; make it again.")
            rows = []
            for row in reader:
                if None in row or None in row.values():
                    raise UserError(
                        f"{path}, line {reader.line_num}: the row does not have as many cells as "
                        "the header; make the file again."
                    )
                rows.append(row)
            return rows
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; run the step that makes it first.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} is not a CSV text file; delete it and make it again.") from error


def number(text: str, path: Path, what: str) -> float | None:
    """Return a cell as a finite number, None for an empty one; else `UserError`."""
    if text == "":
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{path}: {what} is {text!r}, not a number; make the file again.")
    return value


def read_summaries(path: Path, keys: Sequence[str]) -> Summaries:
    """Read a tidy aggregate: one `Summary` per row, by the values of its `keys` columns.

    Rows without a mean are left out. Scales are normalised (2.0 is 2). Raises `UserError` on a
    missing column, a cell that is no number, or two rows with the same keys.
    """
    found: Summaries = {}
    for row in read_rows(path, (*keys, *VALUES)):
        key = tuple(scale_key(row[k]) if k == "scale" else row[k] for k in keys)
        what = " ".join(key)
        mean, std, n = (number(row[v], path, f"{v} of {what}") for v in VALUES)
        if key in found:
            raise UserError(f"{path} has two rows for {what}; make it again.")
        if mean is not None:
            found[key] = Summary(mean, std, None if n is None else round(n))
    return found


def scale_key(scale: float | str) -> str:
    """Return a scale factor as it stands in file names and tables: 2, 2.5."""
    try:
        return f"{float(scale):g}"
    except ValueError:
        return str(scale)
