"""Style all figures alike: sizes, the look of each arm and method, legends, ticks, files."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import is_color_like
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator
from pydantic import AfterValidator, BeforeValidator, Field

from ...analysis.reader import Aggregates
from ...config import TableRow, find_repository_root, read_table
from ...config.rows import split_words
from ...files import write_atomically
from ...progress import format_count
from ...validation import match

TEXT_WIDTH = 5.5  # inches: the text width of the paper's page
COLUMN_WIDTH = 2.64  # inches: two figures side by side on it
LOG_FROM = 5.0  # an axis that spans more than this ratio of times or scales is logarithmic
INK = "#222222"
FAINT = "#6b6b6b"
MET = "#66C2A5"
NOT_MET = "#EF7B6C"
THRESHOLD = "#B2182B"
LINE_SPACING = 1.25  # of the font size of the differences
DATASET_MARKERS = ("s", "^", "D", "v", "P", "X", "p")  # circles are means over data sets
DASHED = (0, (4, 2))
ABOVE: Final = "outside upper center"  # of all axes: the place of most legends


def _require_color(text: str) -> str:
    """Refuse a text that is no color of matplotlib."""
    if not is_color_like(text):
        raise ValueError("write a color of matplotlib, as #RRGGBB")
    return text


Color = Annotated[str, AfterValidator(_require_color)]
Marker = Annotated[
    str, match(r"^[.,ov^<>1234spP*hH+xXDd|_8]$", "write one of matplotlib's markers, such as o")
]
Hatch = Annotated[str, match(r"^[-/\\|+xoO.*]*$", "write one of matplotlib's hatches, such as ///")]
Length = Annotated[float, Field(ge=0, lt=1000)]


class Look(TableRow):
    """The look of an arm or method in every figure; no two of a benchmark differ by color alone.

    A row of config/looks.tsv: a marker and a hatch of matplotlib, and the lengths of the dashes and
    gaps of lines (none: solid). A baseline of super-resolution has the look of the native arm whose
    decoder it shares; rows named `free` are for arms and methods without a row.
    """

    name: str
    color: Color
    marker: Marker
    hatch: Hatch = ""
    dash: Annotated[tuple[Length, ...], BeforeValidator(split_words)] = ()

    @property
    def line(self) -> Any:
        """The line style."""
        return (0, self.dash) if self.dash else "-"


def read_looks(source: Aggregates) -> dict[str, Look]:
    """Read the look of every arm and every method.

    Arms and methods without a look take the next free one, beginning again after the last.
    """
    rows = read_table(find_repository_root() / "config" / "looks.tsv", Look, "name")
    free = [look for name, look in rows.items() if name.startswith("free ")]
    looks: dict[str, Look] = {}
    for table in (source.arms, source.methods):
        unused = itertools.cycle(free)
        looks |= {key: rows[key] if key in rows else next(unused) for key in table}
    return looks


@contextmanager
def apply_style() -> Iterator[None]:
    """Apply config/figures.mplstyle, and no style of the user's, inside the block."""
    # Embedding a font into a PDF logs a hundred lines of detail at the level of our messages.
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    with rc_context(fname=find_repository_root() / "config" / "figures.mplstyle"):
        yield


def create_figure(width: float, height: float, differences: Sequence[str]) -> Figure:
    """Create an empty figure of a size in inches, with a canvas that can measure text.

    The `differences` from the paper, or their number where one small line does not hold them, stand
    in the lower left corner; the layout is kept clear of it.
    """
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    if not differences:
        return figure
    size, margin = 6.0, 0.03  # points, inches
    artist = figure.text(margin / width, margin / height, "", fontsize=size, color=FAINT,
                         va="bottom", ha="left")  # fmt: skip
    artist.set_in_layout(False)
    number = format_count(len(differences), "condition")
    for told in ("; ".join(differences), f"{number} unlike the paper's, listed in the report"):
        artist.set_text(told)
        if artist.get_window_extent().width <= (width - 2 * margin) * figure.dpi:
            break
    used = (size * LINE_SPACING / 72 + 2 * margin) / height
    figure.set_layout_engine("constrained", rect=(0, used, 1, 1 - used))
    return figure


def style_marker(look: Look, size: float, **more: Any) -> dict[str, Any]:
    """Style the marker of an arm or method, `size` points wide, as arguments of matplotlib."""
    return {"color": look.color, "marker": look.marker, "markersize": size,
            "markeredgecolor": INK} | more  # fmt: skip


def build_legend_entry(label: str, **style: Any) -> Line2D:
    """Build a legend entry of a marker or a line in a style."""
    return Line2D([], [], label=label, **({"linestyle": "none"} | style))


def name_rows(axes: Axes, names: Sequence[str], room: float = 0.45) -> None:
    """Name the rows of an axes, which lie at y = 0, 1, ... downwards."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - room, room - 1)


def make_logarithmic(axis: XAxis | YAxis, steps: Sequence[int]) -> None:
    """Make an axis logarithmic, with plain numbers at some steps of each decade."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(LogLocator(subs=steps, numticks=9))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())


def scale_time_axis(axes: Axes) -> None:
    """Make the x axis logarithmic where the data span a wide ratio."""
    low, high = axes.xaxis.get_data_interval()
    if low > 0 and high / low > LOG_FROM:
        make_logarithmic(axes.xaxis, (1, 2, 5))


def annotate_rows(axes: Axes, texts: Sequence[str]) -> None:
    """Annotate each row of an axes, at y = 0, 1, ..., with a text to its right."""
    right = axes.secondary_yaxis("right")
    right.set_yticks(range(len(texts)), texts)
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)


def frame_image(axes: Axes) -> None:
    """Frame an axes that has no scales, as that of an image."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)


def draw_message(axes: Axes, text: str) -> None:
    """Write into an axes why it has no data, in place of empty scales."""
    frame_image(axes)
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=7,
              color=INK)  # fmt: skip


def save_figure(figure: Figure, folder: Path, name: str) -> tuple[Path, Path]:
    """Save a figure as `<name>.pdf` and `<name>.png` in `folder`, atomically; return both paths.

    The same figure gives the same bytes: neither file holds a date or a program's version, and
    what the layout's solver leaves to chance, the last digits of a position, is rounded away.
    """
    for _ in range(2):  # legends and tick labels move once more after a first pass
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = (round(side, 6) for side in axes.get_position().bounds)
        axes.set_position((left, bottom, width, height))
    plain = dict.fromkeys(("CreationDate", "Creator", "Producer"))
    small = {"pil_kwargs": {"optimize": True, "compress_level": 9}}
    pdf, png = folder / f"{name}.pdf", folder / f"{name}.png"
    for path, options in (
        (pdf, {"metadata": plain}),
        (png, {"metadata": {"Software": None}} | small),
    ):
        with write_atomically(path) as temporary:
            figure.savefig(temporary, format=path.suffix[1:], **options)
    return pdf, png
