"""The plot of a record: time against image size, plain and fast."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gblsr_repro.files import atomic_path

from .page import Row
from .record import read

# Case, title and what the horizontal axis tells the size of.
PANELS = (
    ("decoder gblsr_scalar", "native decoder, Scalar", "image"),
    ("decoder LE", "x4 decoder with local ensemble", "low-resolution image"),
    ("decoder noLE", "x4 decoder without local ensemble", "low-resolution image"),
)
TILED = "plain, tiled"  # goes on with the curve of the plain path
STYLES = {
    "plain": ("#4d4d4d", "o"),
    "fast": ("#0072b2", "s"),
    "folded": ("#0072b2", "s"),
    "folded, kernel rebuilt": ("#56b4e9", "D"),
    "separable": ("#d55e00", "^"),
}


def write_plot(record: Path, output: Path) -> None:
    """Draw the median times of a record (.csv) against image size, quartiles as bars (.png)."""
    rows = [row for row in read(record) if row["median_ms"] and row["scale"] in ("", "4")]
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    for axes, (case, title, shown) in zip(figure.subplots(1, len(PANELS)), PANELS, strict=True):
        of_case = [r for r in rows if r["case"] == case and r["group"] != "training"]
        axes.set(xscale="log", yscale="log")
        axes.set_title(title, fontsize="medium")
        axes.set(xlabel=f"size of the {shown} (pixels)", ylabel="time per image (ms)")
        axes.grid(alpha=0.3)
        sizes = {r["size"]: side(r) for r in of_case}
        axes.set_xticks(list(sizes.values()), list(sizes), fontsize="small")
        axes.set_xticks([], minor=True)
        draw(axes, of_case)
    with atomic_path(output) as temporary:
        figure.savefig(temporary, format="png", dpi=130)


def draw(axes: Axes, rows: list[Row]) -> None:
    """Draw one line per variant."""
    for variant, (color, marker) in STYLES.items():
        names = (variant, TILED) if variant == "plain" else (variant,)
        points = sorted((side(r), *times(r)) for r in rows if r["variant"] in names)
        if points:
            x, middle, low, high = zip(*points, strict=True)
            bars = [
                [m - a for m, a in zip(middle, low, strict=True)],
                [b - m for m, b in zip(middle, high, strict=True)],
            ]
            axes.errorbar(x, middle, bars, color=color, marker=marker, capsize=2, label=variant)
    if rows:
        axes.legend(fontsize="small")


def side(row: Row) -> float:
    height, width = map(int, row["size"].split("x"))
    return (height * width) ** 0.5


def times(row: Row) -> tuple[float, float, float]:
    median, low, high = (float(row[c]) for c in ("median_ms", "p25_ms", "p75_ms"))
    return median, low, high
