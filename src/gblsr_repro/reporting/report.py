"""One HTML page about a results folder: claims, tables, figures, cost, where it all came from.

The page stands alone: styles and images are inside, it runs no script and asks no server. What a
run did not make is named on the page with the reason.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import numpy as np
import pandas as pd
from markupsafe import Markup

from .. import __version__
from ..config import Config, Item, arms, items, methods
from ..errors import UserError
from ..files import read_json, write_text
from ..progress import duration
from . import claims, markup
from .aggregates import BICUBIC, Aggregates
from .captions import HALVES, facts
from .conditions import Conditions
from .figures import FIGURES, captions
from .kinds import scale_key
from .layout import DASH, Float, Line, Span
from .tables import VERSUS, builders
from .verdicts import Verdict

SYMBOLS = {
    Verdict.REPRODUCED: "✓",
    Verdict.WITHIN_NOISE: "≈",
    Verdict.HOLDS: "=",
    Verdict.NOT_REPRODUCED: "✗",
    Verdict.DIFFERENT: "≠",
    Verdict.NOT_JUDGED: "○",
    Verdict.NOT_MEASURED: "–",
}

FILE_PATTERNS = (
    "claims.csv", "claims.md", "preview.pdf", "config.yaml", "aggregates/[!.]*", "tables/*.tex",
    "figures/*.pdf",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A cell of an HTML table: what it holds, the columns it spans, and its scope if it heads."""

    html: Markup
    columns: int = 1
    align: str = "left"
    scope: str = ""


@dataclass(frozen=True)
class Grid:
    """One table of the page."""

    caption: Markup
    header: Sequence[Sequence[Cell]]
    groups: Sequence[Sequence[Sequence[Cell]]]


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of the paper: its number there, title, content, and files to link."""

    name: str
    number: str
    title: str
    grids: Sequence[Grid] = ()
    versus: Sequence[Grid] = ()
    image: str = ""
    alt: str = ""
    caption: str = ""
    links: Sequence[tuple[str, str]] = ()
    missing: str = ""


@dataclass(frozen=True)
class Cost:
    """A row of the cost table: the runs of one arm or method, or of a whole benchmark."""

    title: str
    runs: int
    steps: str
    each: str
    every: str
    rate: str
    memory: str
    device: str
    total: bool = False


@dataclass
class Page:
    """What the template shows; `absent` says why a part is not there.

    `learned` holds tables, each a list of rows by heading, with its caption.
    """

    title: str
    preset: str
    version: str
    claims: claims.Page | None
    tables: list[Exhibit]
    figures: list[Exhibit]
    cost: list[Cost]
    provenance: list[tuple[str, str]]
    arrays: list[dict[str, str]]
    config: str
    files: list[tuple[str, str]]
    learned: list[tuple[list[dict[str, str]], str]] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)


def write(results: Path, output: Path, config: Config) -> None:
    """Write the page about `results` to `output`. Raises `UserError` when there is no such folder.

    `config` is the run's resolved configuration.
    """
    if not results.is_dir():
        raise UserError(f"{results} is not a folder; run the workflow first.")
    page = collect(results, output.parent, config)
    write_text(output, render(page))


def render(page: Page) -> str:
    """Return the page as HTML."""
    templates = resources.files(__package__).joinpath("templates")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: templates.joinpath(name).read_text("utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "symbols": SYMBOLS,
        "meaning": claims.MEANING,
        "would_hold": claims.would_hold,
        "tolerance": claims.tolerance,
        "reasons": claims.reasons,
        "remarks": claims.remarks,
        "with_unit": claims.with_unit,
        "slug": lambda verdict: re.sub(r"\W+", "-", verdict).strip("-"),
    }
    return environment.get_template("report.html.j2").render(page=page)


def collect(results: Path, folder: Path, config: Config) -> Page:
    """Gather all that the page shows; links are relative to `folder`."""
    aggregates = results / "aggregates"
    run = Conditions.read(aggregates)
    page = Page(
        title="GB-LSR: the paper and this run",
        preset=config["preset"],
        version=__version__,
        claims=None,
        tables=[],
        figures=_figures(results, folder, run),
        cost=[],
        provenance=_provenance(results, run),
        arrays=_arrays(results),
        config=_text(results / "config.yaml"),
        files=_files(results, folder),
    )
    if not aggregates.is_dir():
        reason = f"There are no aggregates in {results.name} yet; run the aggregate step."
        page.absent = dict.fromkeys(("claims", "tables", "cost"), reason)
        return page
    source = Aggregates(aggregates, config)
    page.tables = _tables(source, results, folder)
    page.cost = _cost(source)
    if page.preset == "demo":
        page.learned = [part for part in (_learned(source), _enlarged(source)) if part[0]]
        page.figures.sort(key=lambda exhibit: exhibit.name != "qualitative")
    try:
        page.claims = claims.evaluate(aggregates, config)
    except UserError as error:
        page.absent["claims"] = str(error)
    return page


# --- what a demo learned -------------------------------------------------------------------------


def _learned(source: Aggregates) -> tuple[list[dict[str, str]], str]:
    """The main arm's PSNR on every set beside the control's and that of each image's mean color."""
    native, rows = source.config["native"], []
    for column in source.evaluate:
        array = source.results / "native" / "arrays" / f"{column}.npy"
        flat = _flat_psnr(array, native["metrics"]["psnr_epsilon"]) if array.is_file() else None
        row = {"Set": source.title("native", column), "Mean color": _decibels(flat)}
        for arm in (native["control_arm"], native["main_arm"]):
            cell = source.cell("native", column, arm, "psnr") if source.has("native") else None
            row[source.arms[arm].name] = _decibels(cell.mean if cell else None)
        rows.append(row)
    return rows, (
        "Reconstruction: PSNR in dB. Mean color: each image replaced by its own mean color, what "
        "an arm reaches that has learned nothing else."
    )


def _flat_psnr(array: Path, epsilon: float) -> float:
    """Return the mean PSNR in dB of images (N, S, S, 3), uint8, against their mean colors."""
    images = np.load(array, allow_pickle=False) / 255
    errors = ((images - images.mean((1, 2), keepdims=True)) ** 2).mean((1, 2, 3))
    return float(np.mean(-10 * np.log10(errors + epsilon)))


def _enlarged(source: Aggregates) -> tuple[list[dict[str, str]], str]:
    """PSNR-Y of bicubic, of the best method and of the main one at the lowest trained scale."""
    asr, rows = source.config["asr"], []
    if not source.has("asr_quality"):
        return [], ""
    names, base = source.methods, asr["base_method"]
    scale = scale_key(min(asr["trained_scales"]))
    for column in asr["evaluate"]:
        cells = {m: source.cell("asr_quality", column, m, scale, "psnr_y") for m in asr["methods"]}
        found = {method: cell.mean for method, cell in cells.items() if cell}
        bicubic = source.cell("asr_quality", column, BICUBIC, scale, "psnr_y")
        if not found or not bicubic:
            continue
        best = max(found, key=found.__getitem__)
        rows.append(
            {
                "Set": source.title("asr", column),
                "Bicubic": _decibels(bicubic.mean),
                "Best method": f"{names[best].name} {_gain(found[best] - bicubic.mean)}",
                names[base].name: _gain(found[base] - bicubic.mean) if base in found else DASH,
            }
        )
    return (
        rows,
        f"Super-resolution ×{scale}: PSNR-Y of bicubic in dB; the methods' distance from it.",
    )


def _decibels(value: float | None) -> str:
    return DASH if value is None else f"{value:.1f}"


def _gain(value: float) -> str:
    return f"{value:+.2f} dB".replace("-", "−")


# --- tables --------------------------------------------------------------------------------------


def _tables(source: Aggregates, results: Path, folder: Path) -> list[Exhibit]:
    known = builders(source.config)
    titles = {name: item for name, item in items().items() if item.kind == "table"}
    exhibits = []
    for name, make in known.items():
        if name.endswith(VERSUS):
            continue
        item = titles.get(name)
        number, title = (item.paper, item.title) if item else ("", name)
        try:
            grids = [grid(part) for part in make(source).floats]
        except UserError as error:
            exhibits.append(Exhibit(name, number, title, missing=str(error)))
            continue
        versus = _versus(known.get(name + VERSUS), source)
        path = results / "tables" / f"{name}.tex"
        links = [("LaTeX", _link(path, folder))] if path.is_file() else []
        exhibits.append(Exhibit(name, number, title, grids, versus, links=links))
    return _in_paper_order(exhibits, titles)


def _versus(make: Callable[[Aggregates], Any] | None, source: Aggregates) -> list[Grid]:
    if make is None:
        return []
    try:
        return [grid(part) for part in make(source).floats]
    except UserError:  # the paper has no counterpart, as for columns of one's own
        return []


def _in_paper_order(exhibits: Iterable[Exhibit], titles: dict[str, Item]) -> list[Exhibit]:
    order = list(titles)
    return sorted(exhibits, key=lambda e: order.index(e.name) if e.name in order else len(order))


def grid(part: Float) -> Grid:
    """Turn a float into a table of the page: first cells of body rows are row headers."""
    aligns = ["right" if column == "r" else "left" for column in part.columns]
    return Grid(
        Markup(markup.html(part.caption)),
        [_cells(line, aligns, header=True) for line in part.header],
        [[_cells(line, aligns, header=False) for line in group] for group in part.groups],
    )


def _cells(line: Line, aligns: Sequence[str], header: bool) -> list[Cell]:
    cells = []
    place = 0
    for text in line:
        columns = text.columns if isinstance(text, Span) else 1
        words = text.text if isinstance(text, Span) else text
        scope = ("colgroup" if columns > 1 else "col") if header else ""
        if not header and place == 0:
            scope = "rowgroup" if columns == len(aligns) else "row"
        if not words.strip():
            scope = ""  # an empty cell heads nothing
        align = aligns[place]
        if isinstance(text, Span):
            align = "center" if text.align == "c" else "left"
        cells.append(Cell(Markup(markup.html(words)), columns, align, scope))
        place += columns
    return cells


# --- figures -------------------------------------------------------------------------------------


def _figures(results: Path, folder: Path, run: Conditions) -> list[Exhibit]:
    known = items()
    drawn = [name for name, item in known.items() if item.kind == "figure"]
    exhibits = []
    for name in drawn + [name for name in FIGURES if name not in known]:
        item = known.get(name)
        number, title = (item.paper, item.title) if item else ("", name.replace("_", " "))
        png = results / "figures" / f"{name}.png"
        if not png.is_file():
            exhibits.append(Exhibit(name, number, title, missing="not drawn."))
            continue
        pdf = png.with_suffix(".pdf")
        exhibits.append(
            Exhibit(
                name,
                number,
                title[:1].upper() + title[1:],
                image="data:image/png;base64," + base64.b64encode(png.read_bytes()).decode("ascii"),
                alt=f"{title}, described in the caption below.",
                caption=Markup(markup.html(captions(name, run))),
                links=[("PDF", _link(pdf, folder))] if pdf.is_file() else [],
            )
        )
    return exhibits


# --- cost ----------------------------------------------------------------------------------------


def _cost(source: Aggregates) -> list[Cost]:
    """One row per arm or method that was trained, and a total per benchmark."""
    rows = []
    for half, names in (("native", arms()), ("asr", methods())):
        try:
            runs = source.frame("runs" if half == "native" else "asr_runs")
        except UserError:
            continue
        for name in runs["arm"].unique():
            title = names[name].name if name in names else name
            rows.append(_cost_row(title, runs[runs["arm"] == name]))
        title = "All native runs" if half == "native" else "All super-resolution runs"
        rows.append(_cost_row(title, runs, total=True))
    return rows


def _cost_row(title: str, runs: pd.DataFrame, total: bool = False) -> Cost:
    def shown(value: float, form: Callable[[float], str]) -> str:
        return DASH if pd.isna(value) else form(value)

    seconds, steps = runs["wall_seconds"], runs["steps"].dropna()
    span = dict.fromkeys(f"{step:,.0f}" for step in (steps.min(), steps.max()))
    return Cost(
        title,
        len(runs),
        " to ".join(span) if len(steps) else DASH,
        shown(seconds.mean(), duration),
        shown(seconds.sum(min_count=1), duration),
        shown(runs["steps_per_second"].mean(), "{:,.3g}".format),
        shown(runs["peak_memory_mib"].max(), "{:,.0f}".format),
        ", ".join(device for device in runs["device"].unique() if device) or DASH,
        total,
    )


# --- provenance ----------------------------------------------------------------------------------


def _provenance(results: Path, run: Conditions) -> list[tuple[str, str]]:
    """Facts about code, versions and devices, from the records of the runs."""
    found: list[tuple[str, str]] = []
    if run.git.get("commit"):
        state = " (with uncommitted changes)" if "True" in str(run.git.get("modified")) else ""
        found.append(("Code", f"commit {run.git['commit']}{state}"))
    for name, title in HALVES.items():
        half = run.half(name)
        if half is None:
            continue
        found += [(f"{title}: {label}", text) for label, text in facts(half).items()]
    return found + [(f"Version of {name}", value) for name, value in run.versions.items()]


def _arrays(results: Path) -> list[dict[str, str]]:
    """The image arrays with their checksums, as the standardise step recorded them."""
    rows = []
    for half in ("native", "asr"):
        for path in sorted((results / half / "arrays").glob("*.json")):
            record = read_json(path)
            if isinstance(record, dict) and record.get("sha256"):
                rows.append(
                    {
                        "name": f"{half}/{path.stem}",
                        "images": str(record.get("images", DASH)),
                        "sha256": str(record["sha256"]),
                    }
                )
    return rows


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _files(results: Path, folder: Path) -> list[tuple[str, str]]:
    found = [path for pattern in FILE_PATTERNS for path in sorted(results.glob(pattern))]
    return [(path.relative_to(results).as_posix(), _link(path, folder)) for path in found]


def _link(path: Path, folder: Path) -> str:
    return quote(Path(os.path.relpath(path, folder)).as_posix())
