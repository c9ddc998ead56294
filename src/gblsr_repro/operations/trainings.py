"""Report the progress of unfinished trainings from the files beside their states."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..files import read_json
from ..progress import format_columns, format_duration

HEADINGS = ["run", "step", "of", "steps/s", "left", "last update"]


def list_trainings(results: Path) -> str:
    """List the unfinished trainings in a results folder as a table, one line a training.

    Of a stopped training the step of its saved state is shown, from which it resumes. A killed
    training is still listed as running; the time since its last sign of life shows that it is not
    (a running training writes every 15 seconds).
    """
    rows = []
    for path in sorted(results.glob("*/state/*/*.json")):
        training = read_json(path)
        if training["saved"] < training["steps"]:
            rows.append(_format_row(training, max(time.time() - path.stat().st_mtime, 0.0)))
    if not rows:
        return f"No training in {results} is unfinished."
    return "\n".join(format_columns([HEADINGS, *rows], right=True))


def _format_row(training: Mapping[str, Any], silence: float) -> list[str]:
    """Format the cells of one training that last wrote `silence` seconds ago."""
    step = training["step"] if training["running"] else training["saved"]
    rate = training["steps_per_second"]
    return [
        training["run"],
        f"{step:,}",
        f"{training['steps']:,}",
        f"{rate:.3g}" if rate else "unknown",
        format_duration((training["steps"] - step) / rate) if rate else "unknown",
        f"{format_duration(silence)} ago" if training["running"] else "stopped",
    ]
