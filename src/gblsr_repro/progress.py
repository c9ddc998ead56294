"""Log the progress of long work."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

log = logging.getLogger("gblsr_repro")

LOG_INTERVAL_SECONDS = 15.0

Element = TypeVar("Element")


def set_up_logging() -> None:
    """Set up logging to standard error with the time of day."""
    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    log.setLevel(logging.INFO)


def format_duration(seconds: float) -> str:
    """Format a duration in seconds: 45s, 3m07s, 2h05m."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


def format_count(number: int, unit: str) -> str:
    """Format a number with its unit in singular or plural: 1 image, 2 images."""
    return f"{number} {unit}{'' if number == 1 else 's'}"


def format_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Format rows of cells as lines; all but the first and the last column align to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = ["<", *[">"] * (len(widths) - 2), "<"]
    return [
        "  ".join(f"{c:{a}{w}}" for c, a, w in zip(row, aligned, widths, strict=True)).rstrip()
        for row in rows
    ]


class Progress:
    """Counts units of work and logs their rate and the remaining time.

    A line is logged at the start, at most every `LOG_INTERVAL_SECONDS`, and at the end. `start`
    units were done before (by a resumed run) and do not count for the rate. `values`, such as the
    loss, are shown beside the count.
    """

    def __init__(self, label: str, total: int, unit: str = "step", start: int = 0) -> None:
        self.label, self.total, self.unit, self.done, self.start = label, total, unit, start, start
        self.values: dict[str, float] = {}
        self.began = self.logged_at = time.monotonic()
        resumed = f", resumed at {start}" if start else ""
        log.info("%s: %s%s", label, format_count(total, unit), resumed)

    @property
    def rate(self) -> float:
        """Units per second since this process began; 0 before the first unit."""
        elapsed = time.monotonic() - self.began
        return (self.done - self.start) / elapsed if elapsed > 0 else 0.0

    def update(self, count: int = 1) -> None:
        """Count `count` more units."""
        self.done += count
        now = time.monotonic()
        if now - self.logged_at < LOG_INTERVAL_SECONDS or self.done >= self.total:
            return
        self.logged_at = now
        rate = self.rate
        left = format_duration((self.total - self.done) / rate) if rate else "unknown"
        shown = "".join(f", {k} {v:.4g}" for k, v in self.values.items())
        log.info(
            "%s: %d/%d, %.3g %ss/s, %s left%s",
            self.label, self.done, self.total, rate, self.unit, left, shown,
        )  # fmt: skip

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *error: object) -> None:
        if error_type is None:
            log.info("%s: done in %s", self.label, format_duration(time.monotonic() - self.began))


def show_progress(items: Sequence[Element], label: str, unit: str) -> Iterator[Element]:
    """Yield items one by one and show the progress, if there is more than one item."""
    if len(items) < 2:
        yield from items
        return
    with Progress(label, len(items), unit) as progress:
        for item in items:
            yield item
            progress.update()
