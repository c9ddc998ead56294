"""Keep the record of a run, anew after every case: results.csv, a row a variant."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import torch

from gblsr_repro import runtime
from gblsr_repro.devices import is_gpu_shared
from gblsr_repro.files import write_text
from gblsr_repro.wording import format_commit

from .measure import TOLERANCE, Case, Result

COLUMNS = (
    "group", "case", "variant", "reference", "size", "scale", "items",
    "median_ms", "p25_ms", "p75_ms", "items_per_s", "peak_mib", "difference",
    "ratio_to_reference", "ratio_p25", "ratio_p75", "memory_ratio", "repeats", "note", "device",
    "threads", "gpu_shared", "torch", "date", "commit",
)  # fmt: skip


class Record:
    """The rows so far, and the folder that holds them.

    Rows of other groups than `groups` that the folder held before stay in it.
    """

    def __init__(self, folder: Path, device: torch.device, groups: Collection[str]) -> None:
        self.folder, described = folder, runtime.describe_device(device)
        self.common = {
            "device": described["name"],
            "threads": described["threads"],
            "gpu_shared": "yes" if is_gpu_shared(device) else "no",
            "torch": torch.__version__,
            "date": datetime.now(UTC).date().isoformat(),
            "commit": format_commit(runtime.describe_commit()),
        }
        path = folder / "results.csv"
        self.rows: list[dict[str, Any]] = []
        if path.exists():
            kept = pd.read_csv(path, dtype=str, keep_default_na=False)
            self.rows = kept[~kept["group"].isin(groups)].to_dict("records")

    def add(self, group: str, case: Case, results: list[Result]) -> None:
        """Add a case's rows and write results.csv, with at most five significant digits."""
        shared = self.common | {
            "group": group,
            "case": case.name,
            "reference": case.variants[0].name,
            "size": case.size,
            "scale": case.scale,
            "items": case.items,
        }
        for variant, result in zip(case.variants, results, strict=True):
            columns = compare(result, results[0], case.items)
            self.rows.append(shared | {"variant": variant.name} | columns)
        table = pd.DataFrame(self.rows, columns=[*COLUMNS])
        text = table.to_csv(index=False, float_format="%.5g", lineterminator="\n")
        write_text(self.folder / "results.csv", text)


def compare(own: Result, reference: Result, items: int) -> dict[str, Any]:
    """Compare a variant with the reference of its case: the columns in which they differ."""
    pairs = zip(reference.times, own.times, strict=True)
    ratios = [median(slow) / median(fast) for slow, fast in pairs]
    low, high = np.percentile(ratios, [25, 75])
    quarter, middle, three_quarters = np.percentile(own.all_times, [25, 50, 75])
    is_wrong = own.difference is not None and not own.difference <= TOLERANCE
    peaks = reference.peak_mib, own.peak_mib
    return {
        "median_ms": middle,
        "p25_ms": quarter,
        "p75_ms": three_quarters,
        "items_per_s": items / middle * 1e3,
        "peak_mib": own.peak_mib,
        "difference": own.difference,
        "ratio_to_reference": median(ratios),
        "ratio_p25": low,
        "ratio_p75": high,
        "memory_ratio": peaks[0] / peaks[1] if all(peaks) else None,
        "repeats": len(own.times),
        "note": "output differs from the reference's" if is_wrong else "",
    }
