"""How far the trainings in a results folder are, from what each writes beside its state."""

from __future__ import annotations

import time
from pathlib import Path

from ..files import read_json
from ..progress import format_columns, format_duration

HEADINGS = ["run", "step", "of", "steps/s", "left", "last heard"]


def list_trainings(results: Path) -> str:
    """Return a table of the trainings that have begun and not ended, a line each.

    A stopped training goes on from its saved state, whose step is shown; one that was killed could
    not say so, and shows by how long ago it was last heard (a training writes every 15 seconds).
    """
    rows = []
    for path in sorted(results.glob("*/state/*/*.json")):
        told = read_json(path)
        if told["saved"] >= told["steps"]:
            continue
        step = told["step"] if told["running"] else told["saved"]
        rate = told["steps_per_second"]
        left = format_duration((told["steps"] - step) / rate) if rate else "unknown"
        heard = f"{format_duration(max(time.time() - path.stat().st_mtime, 0.0))} ago"
        rows.append(
            [
                told["run"],
                f"{step:,}",
                f"{told['steps']:,}",
                f"{rate:.3g}" if rate else "unknown",
                left,
                heard if told["running"] else "stopped",
            ]
        )
    if not rows:
        return f"No training has begun in {results} that has not ended."
    return "\n".join(format_columns([HEADINGS, *rows], right=True))
