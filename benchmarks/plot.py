"""Plot the times of a record against image size, plain and fast."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gblsr_repro.files import write_atomically

from .page import Row
from .record import read_rows

# Case, title, and the image whose size the horizontal axis shows.
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


def write_plot(record: Path, output: Path) -> bool:
    """Draw the median times of a record (.csv) against image size, quartiles as bars (.png).

    A panel for each case that the record has; returns False where it has none, and draws nothing.
    """
    rows = [row for row in read_rows(record) if row["median_ms"] and row["scale"] in ("", "4")]
    by_case = {
        case: [r for r in rows if r["case"] == case and r["group"] != "training"]
        for case, *_ in PANELS
    }
    panels = [panel for panel in PANELS if by_case[panel[0]]]
    if not panels:
        return False
    figure = Figure(figsize=(3.7 * len(panels), 3.6), layout="constrained")
    grid = figure.subplots(1, len(panels), squeeze=False)
    for axes, (case, title, shown) in zip(grid[0], panels, strict=True):
        axes.set(xscale="log", yscale="log")
        axes.set_title(title, fontsize="medium")
        axes.set(xlabel=f"size of the {shown} (pixels)", ylabel="time per image (ms)")
        axes.grid(alpha=0.3)
        sizes = {r["size"]: compute_side(r) for r in by_case[case]}
        axes.set_xticks(list(sizes.values()), list(sizes), fontsize="small")
        axes.set_xticks([], minor=True)
        draw_variants(axes, by_case[case])
    with write_atomically(output) as temporary:
        figure.savefig(temporary, format="png", dpi=130)
    return True


def draw_variants(axes: Axes, rows: list[Row]) -> None:
    """Draw one line per variant."""
    for variant, (color, marker) in STYLES.items():
        names = (variant, TILED) if variant == "plain" else (variant,)
        points = sorted((compute_side(r), *read_times(r)) for r in rows if r["variant"] in names)
        if points:
            x, middle, low, high = zip(*points, strict=True)
            bars = [
                [m - a for m, a in zip(middle, low, strict=True)],
                [b - m for m, b in zip(middle, high, strict=True)],
            ]
            axes.errorbar(x, middle, bars, color=color, marker=marker, capsize=2, label=variant)
    axes.legend(fontsize="small")


def compute_side(row: Row) -> float:
    """Compute the side of a square of as many pixels as the size of a row."""
    height, width = map(int, row["size"].split("x"))
    return (height * width) ** 0.5


def read_times(row: Row) -> tuple[float, float, float]:
    """Read the median and the quartiles of a row's times in milliseconds."""
    median, low, high = (float(row[c]) for c in ("median_ms", "p25_ms", "p75_ms"))
    return median, low, high
