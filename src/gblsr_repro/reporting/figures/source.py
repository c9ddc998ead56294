"""What the figures are drawn from: aggregates as frames, the looks and names of their rows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import pandas as pd

from ...config import Config
from ...errors import UserError
from ..source import BICUBIC, Source
from ..tidy import KEYS
from .style import Look, looks


class FigureSource(Source):
    """The aggregates of one folder and, beside them, the results folder.

    Only the figures that show images or patch fields read `results` (default: the folder that
    holds the aggregates' folder).
    """

    def __init__(self, folder: Path | str, config: Config, results: Path | None = None) -> None:
        super().__init__(folder, config)
        self.results = Path(results) if results else self.folder.parent

    def frame(self, aggregate: str) -> pd.DataFrame:
        """Return a tidy aggregate with its key columns, mean, std (NaN: one seed) and n.

        Raises `UserError` when the file is missing, unfit or without a single number.
        """
        rows = [
            {**dict(zip(KEYS[aggregate], key, strict=True)), "mean": s.mean, "std": s.std, "n": s.n}
            for key, s in getattr(self, aggregate).items()
        ]
        frame = pd.DataFrame(rows, columns=[*KEYS[aggregate], "mean", "std", "n"])
        self.require(frame, aggregate, "rows")
        return frame.astype({"mean": float, "std": float})

    def require(self, frame: pd.DataFrame, aggregate: str, what: str) -> pd.DataFrame:
        """Return `frame`, or raise `UserError` that the aggregate's file has no such rows."""
        if frame.empty:
            raise UserError(f"{self.path(aggregate)} has no {what}; run the jobs that measure it.")
        return frame

    @cached_property
    def looks(self) -> dict[str, Look]:
        """The look of every arm, every method and the bicubic reference."""
        return looks(self.arms) | looks(self.methods) | looks([BICUBIC])

    def label(self, key: str) -> str:
        """Return the name of an arm or method that a figure shows.

        The family goes by its full names; the native baselines by their short ones, because how
        they were rebuilt is for the caption to tell.
        """
        if key in self.methods:
            return self.methods[key].name
        if key in self.arms:
            arm = self.arms[key]
            return arm.name if arm.group in ("family", "ablation") else arm.short
        return key.capitalize()

    def lpips_reason(self) -> str:
        """Return why the aggregates hold no LPIPS."""
        native = self.conditions.native
        return (native and native.without_lpips) or "no value in the aggregates"

    def on_device(self, half: str) -> str:
        """Return " on <device>" for the axis of a timing, nothing where none is recorded."""
        run = self.conditions.half(half)
        return f" on {' and '.join(run.timed_on)}" if run and run.timed_on else ""


def ordered(found: Iterable[str], order: Iterable[str]) -> list[str]:
    """Return what was found in the order of `order`, then the rest as it came."""
    unique = list(dict.fromkeys(found))
    known = [key for key in order if key in unique]
    return known + [key for key in unique if key not in known]
