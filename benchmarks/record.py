"""Keep the record of a run: one row per variant, written anew after every case."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gblsr_repro import runtime
from gblsr_repro.devices import is_gpu_shared
from gblsr_repro.files import write_text

from .measure import Case, Comparison, Result

COLUMNS = (
    "group", "case", "variant", "reference", "size", "scale", "items",
    "median_ms", "p25_ms", "p75_ms", "items_per_s", "peak_mib", "difference",
    "ratio_to_reference", "ratio_p25", "ratio_p75", "memory_ratio", "repeats", "note", "device",
    "threads", "busy_elsewhere", "gpu_shared", "torch", "date", "commit",
)  # fmt: skip


class Record:
    """The rows so far, and the file that holds them.

    Rows of other groups than `groups` that the file held before stay in it.
    """

    def __init__(self, path: Path, device: torch.device, groups: Iterable[str]) -> None:
        self.path = path
        described, git = runtime.describe_device(device), runtime.describe_commit()
        commit = git["commit"] and git["commit"][:12] + ("+" if git["modified"] else "")
        self.common = {
            "device": described["name"],
            "threads": described["threads"],
            "gpu_shared": is_gpu_shared(device),
            "torch": torch.__version__,
            "date": datetime.now(UTC).date().isoformat(),
            "commit": commit,
        }
        kept = read_rows(path) if path.exists() else []
        self.rows: list[dict[str, Any]] = [row for row in kept if row["group"] not in groups]

    def add(self, group: str, case: Case, results: list[Result], busy_elsewhere: float) -> None:
        """Add a case's rows and write the file."""
        shared = self.common | {
            "group": group,
            "case": case.name,
            "reference": case.variants[0].name,
            "size": case.size,
            "scale": case.scale,
            "items": case.items,
            "busy_elsewhere": round(busy_elsewhere, 2),
        }
        self.rows += [shared | build_columns(case, result, results[0]) for result in results]
        write_rows(self.path, self.rows)


def build_columns(case: Case, own: Result, reference: Result) -> dict[str, Any]:
    """Build the columns that differ between the variants of a case."""
    comparison = Comparison.compare(own, reference)
    quarter, middle, three_quarters = np.percentile(own.all_times, [25, 50, 75])
    return {
        "variant": own.variant.name,
        "median_ms": middle,
        "p25_ms": quarter,
        "p75_ms": three_quarters,
        "items_per_s": case.items / middle * 1e3,
        "peak_mib": own.peak_mib,
        "difference": own.difference,
        "ratio_to_reference": comparison.speedup,
        "ratio_p25": comparison.quartiles[0],
        "ratio_p75": comparison.quartiles[1],
        "memory_ratio": comparison.memory_saving,
        "repeats": len(own.times),
        "note": "output differs from the reference's" if own.is_wrong else "",
    }


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as CSV, atomically, numbers with five significant digits."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({c: _format_cell(row.get(c)) for c in COLUMNS} for row in rows)
    write_text(path, text.getvalue())


def _format_cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.5g}" if isinstance(value, float) else value


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read the rows of a record as text."""
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))
