"""What all figures share: their sizes, the look of each arm and method, labels, notes, files."""

from __future__ import annotations

import itertools
import logging
import math
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from ...analysis.reader import BICUBIC, Aggregates
from ...config import read_table, repository_root
from ...files import atomic_path

TEXT_WIDTH = 5.5  # inches: the text width of the paper's page
COLUMN_WIDTH = 2.64  # inches: two figures side by side on it
LOG_FROM = 5.0  # a time axis that spans more than this ratio is logarithmic
INK = "#222222"
FAINT = "#6b6b6b"
MET = "#66C2A5"
NOT_MET = "#EF7B6C"
THRESHOLD = "#B2182B"
NARROW = 19  # letters of a line in the narrowest axes
LINE_SPACING = 1.25  # of the note's font size
DATASET_MARKERS = ("s", "^", "D", "v", "P", "X", "p")  # circles are means over data sets
DASHED = (0, (4, 2))
BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4}


@dataclass(frozen=True)
class Look:
    """How one arm or method is drawn wherever it appears: no two of a benchmark differ by color
    alone.

    A row of config/looks.tsv: a marker and a hatch of matplotlib, and the lengths of the dashes and
    gaps of lines (none: solid). A baseline of super-resolution has the look of the native arm whose
    decoder it shares; rows named `free` are for what has none of its own.
    """

    name: str
    color: str
    marker: str
    hatch: str
    dash: str

    @property
    def line(self) -> Any:
        """The line style."""
        return (0, tuple(map(float, self.dash.split()))) if self.dash else "-"


def looks_of(source: Aggregates) -> dict[str, Look]:
    """Return the look of every arm, every method and the bicubic reference.

    Each that has none takes the next free one of its table, beginning again after the last.
    """
    known = read_table(repository_root() / "config" / "looks.tsv", Look, "name")
    free = [look for name, look in known.items() if name.startswith("free")]
    found = {BICUBIC: known[BICUBIC]}
    for table in (source.arms, source.methods):
        unused = itertools.cycle(free)
        found |= {key: known[key] if key in known else next(unused) for key in table}
    return found


@contextmanager
def styled() -> Iterator[None]:
    """Apply config/figures.mplstyle, and nothing of the user's own, inside the block."""
    # Embedding a font into a PDF logs a hundred lines of detail at the level of our own messages.
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    with rc_context(fname=repository_root() / "config" / "figures.mplstyle"):
        yield


def new_figure(width: float, height: float, note: Sequence[str]) -> Figure:
    """Return an empty figure of that size in inches, with a canvas that can measure text.

    As much of `note` as one small line holds stands in the lower left corner, with how many more
    the caption has; the layout is kept clear of it.
    """
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    if not note:
        return figure
    size, margin = 6.0, 0.03  # points, inches
    artist = figure.text(margin / width, margin / height, "", fontsize=size, color=FAINT,
                         va="bottom", ha="left")  # fmt: skip
    artist.set_in_layout(False)
    for shown in range(len(note), 0, -1):
        rest = [f"{len(note) - shown} more in the caption"] if shown < len(note) else []
        artist.set_text(" · ".join([*note[:shown], *rest]))
        if artist.get_window_extent().width <= (width - 2 * margin) * figure.dpi:
            break
    used = (size * LINE_SPACING / 72 + 2 * margin) / height
    figure.set_layout_engine("constrained", rect=(0, used, 1, 1 - used))
    return figure


def point(look: Look, size: float, **more: Any) -> dict[str, Any]:
    """Return how the marker of an arm or method is drawn, `size` points wide."""
    return {"color": look.color, "marker": look.marker, "markersize": size,
            "markeredgecolor": INK} | more  # fmt: skip


def handle(label: str, **drawn: Any) -> Line2D:
    """Return a legend entry that is drawn so."""
    return Line2D([], [], label=label, **({"linestyle": "none"} | drawn))


def legend(
    figure: Figure | SubFigure, handles: Sequence[Artist], columns: int, **more: Any
) -> None:
    """Put a legend above the axes."""
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, **more)


def beside_point(axes: Axes, x: float, y: float, above: float, text: str) -> None:
    """Write `text` over (or, for a negative distance in points, under) a point."""
    axes.annotate(
        text, (x, y), xytext=(0, above), textcoords="offset points", ha="center",
        va="bottom" if above > 0 else "top", fontsize=7, linespacing=1.05, bbox=BOX,
    )  # fmt: skip


def name_rows(axes: Axes, names: Sequence[str], room: float = 0.45) -> None:
    """Name the rows of an axes, which lie at y = 0, 1, ... downwards."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - room, room - 1)


def log_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Return round numbers from `low` to `high` (both above 0) for a logarithmic axis.

    They are as dense as 1, 2, 5, 10, ... allows with at most `most` of them, else sparser.
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps, stride in (((1, 2, 5), 1), ((1, 3), 1), ((1,), 1), ((1,), 2), ((1,), 3)):
        ticks = [m * 10.0**d for d in decades[::stride] for m in steps]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) <= most:
            break
    return inside


def set_ticks(axis: Axis, ticks: Sequence[float], texts: Sequence[str] | None = None) -> None:
    """Set the ticks of an axis, with plain numbers unless there are `texts`, and no minor ones."""
    axis.set_ticks(ticks, texts or [f"{tick:g}" for tick in ticks])
    axis.set_ticks([], minor=True)


def time_axis(axes: Axes) -> None:
    """Make the x axis logarithmic, with plain numbers, where the data span a wide ratio."""
    low, high = axes.dataLim.intervalx
    if low > 0 and high / low > LOG_FROM:
        axes.set_xscale("log")
        axes.autoscale_view()
        set_ticks(axes.xaxis, log_ticks(*axes.get_xlim()))


def row_texts(axes: Axes, texts: Sequence[str]) -> None:
    """Write one text to the right of each row of an axes whose rows lie at y = 0, 1, ..."""
    right = axes.secondary_yaxis("right")
    right.set_yticks(range(len(texts)), texts)
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)


def picture(axes: Axes) -> None:
    """Frame an axes that has no scales, as that of an image."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)


def message(axes: Axes, text: str) -> None:
    """Fill an axes that has nothing to show with the reason, in place of empty scales."""
    picture(axes)
    for spine in axes.spines.values():
        spine.set_linestyle((0, (2, 2)))
    axes.text(0.5, 0.5, textwrap.fill(text, NARROW), transform=axes.transAxes, ha="center",
              va="center", fontsize=7, color=INK)  # fmt: skip


def save(figure: Figure, folder: Path, name: str) -> tuple[Path, Path]:
    """Write `<name>.pdf` and `<name>.png` into `folder`, atomically; return both paths.

    The same figure gives the same bytes: neither file holds a date or a program's version.
    """
    figure.draw_without_rendering()  # legends and tick labels move once more after a first pass
    plain = dict.fromkeys(("CreationDate", "Creator", "Producer"))
    small = {"pil_kwargs": {"optimize": True, "compress_level": 9}}
    pdf, png = folder / f"{name}.pdf", folder / f"{name}.png"
    for path, options in (
        (pdf, {"metadata": plain}),
        (png, {"metadata": {"Software": None}} | small),
    ):
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=path.suffix[1:], **options)
    return pdf, png
