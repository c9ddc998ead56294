"""Write one HTML page about a results folder: claims, tables, figures, cost, provenance.

The page stands alone: styles and images are inside, it runs no script and asks no server. What a
run does not have is named on the page with the reason.
"""

from __future__ import annotations

import base64
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

from PIL import Image

from ..analysis.claims.verdicts import count_claims, read_claims
from ..analysis.derived import psnr_gaps, read_value
from ..analysis.provenance.differences import BENCHMARKS
from ..analysis.reader import BICUBIC, Aggregates
from ..analysis.schemas import format_scale
from ..config import Config, Item, list_methods
from ..errors import UserError
from ..files import write_text
from ..metadata import read_metadata
from ..progress import log
from .captions import compose_caption
from .claims import VERDICT_STYLES, build_topics, count_by_topic, explain_verdicts, summarize
from .items import build_possible, select_items
from .layout import DASH, Table, format_number
from .names import name_dataset, sort_by_order
from .page import PageSection, Picture, build_simple_table, render_html
from .sections import describe_runs, explain_preset, list_differences, list_training_costs
from .tables.build import build_beside_paper, build_tables

FILE_PATTERNS = (
    "claims.csv", "config.yaml", "aggregates/[!.]*", "tables/*.tex", "figures/*.pdf",
)  # fmt: skip
LEAD = (
    "What the paper on the Global-Bandwidth Local Spectral Representation says, and what this run "
    "measured."
)


def write_page(results: Path, claims: Path, output: Path, config: Config) -> None:
    """Write the page about `results` to `output`. Raises `UserError` without that folder.

    `claims` is claims.csv, `config` the run's resolved configuration.
    """
    if not results.is_dir():
        raise UserError(f"{results} is not a folder; run the workflow first.")
    write_text(output, render_page(results, claims, output.parent, config))
    log.info("report: %s", output)


def render_page(results: Path, claims: Path, folder: Path, config: Config) -> str:
    """Render the page as HTML; its links are relative to `folder`."""
    source, preset = Aggregates(results / "aggregates", config), config["preset"]
    judged = _build_or_explain("Claims", partial(_build_claims, claims), source)
    compared = _build_or_explain("How this run differs from the paper's", list_differences, source)
    figures = _build_items("figure", _embed_figure, source, folder)
    tables = _build_items("table", _build_table, source, folder)
    inside = [judged, compared, tables, figures]
    if preset == "demo":
        learned = [_compare_with_mean_color(source), _compare_with_bicubic(source)]
        first = PageSection(
            "What it learned", tables=[table for table in learned if any(table.groups)]
        )
        inside = [first, figures, judged, compared, tables]
    inside.append(_build_or_explain("Cost", list_training_costs, source))
    inside.append(_build_provenance(source))
    inside.append(_list_files(results, folder))
    page = PageSection("GB-LSR: the paper and this run", LEAD, inside=inside)
    return render_html(page, explain_preset(preset), VERDICT_STYLES)


def _build_or_explain(
    title: str, build: Callable[[Aggregates], PageSection], source: Aggregates
) -> PageSection:
    """Build a section from the aggregates, or one that says why it cannot be built."""
    try:
        return build(source)
    except UserError as error:
        return PageSection(title, str(error))


def _list_files(results: Path, folder: Path) -> PageSection:
    """List the files of the results folder that readers may want, as links."""
    paths = [path for pattern in FILE_PATTERNS for path in sorted(results.glob(pattern))]
    links = _list_links({path.relative_to(results).as_posix(): path for path in paths}, folder)
    return PageSection("Files", "" if links else "No files yet.", links=links)


def _list_links(files: Mapping[str, Path], folder: Path) -> list[tuple[str, str]]:
    """List names with addresses relative to `folder`, of the files that exist."""
    return [
        (label, quote(Path(os.path.relpath(path, folder)).as_posix()))
        for label, path in files.items()
        if path.is_file()
    ]


# --- claims ---------------------------------------------------------------------------------------


def _build_claims(path: Path, source: Aggregates) -> PageSection:
    """Build the section of claims, with the claims of each topic folded up."""
    claims = read_claims(path)
    text, tables = summarize(claims), [count_by_topic(claims)]
    if source.config["preset"] == "demo":
        text = (
            f"{count_claims(claims)['code']} of {len(claims)} claims follow from the code alone; "
            "parameters are counted at the paper's size, not at that of the networks trained here. "
            "A demo can judge none of the others: they rest on the paper's data, training and "
            "device. What it measured for them is folded away below, topic by topic."
        )
        tables = []
    inside = [explain_verdicts(claims), *build_topics(claims)]
    return PageSection(
        "Claims", text, tables, inside=[replace(part, folded=True) for part in inside]
    )


# --- what a demo learned -------------------------------------------------------------------------


def _compare_with_mean_color(source: Aggregates) -> Table:
    """Compare on every set the PSNR of main arm and control with that of a mean color."""
    # torch takes seconds to import, and other pages do without.
    from ..evaluation.metrics import score_mean_color

    native, rows = source.config["native"], []
    arms = [native["main_arm"], native["control_arm"]]
    for dataset in source.evaluate:
        array = source.results / "native" / "arrays" / f"{dataset}.npy"
        numbers = [score_mean_color(array, source.config) if array.is_file() else math.nan]
        for arm in arms:
            measured = source.has("native")
            numbers.append(source.mean("native", dataset, arm, "psnr") if measured else math.nan)
        cells = (format_number(number, "{:.1f}") for number in numbers)
        rows.append((name_dataset(source, "native", dataset), *cells))
    header = ("Set", "Mean color", *(source.arms[arm].name for arm in arms))
    return build_simple_table(header, rows, "lrrr", (
        "Reconstruction: PSNR in dB. Mean color: each image replaced by its own mean color, what "
        "an arm reaches that has learned nothing else."
    ))  # fmt: skip


def _compare_with_bicubic(source: Aggregates) -> Table:
    """Compare at the lowest trained scale the PSNR-Y of the methods with that of bicubic."""
    asr, methods = source.config["asr"], source.methods
    scale, base = format_scale(min(asr["trained_scales"])), asr["base_method"]
    rows: list[Sequence[str]] = []
    for dataset in asr["evaluate"]:
        gain = {
            method: read_value(source, psnr_gaps, method, BICUBIC, [(dataset, scale)])
            for method in list_methods(source.config)
        }
        gain = {method: value for method, value in gain.items() if not math.isnan(value)}
        if not gain:
            continue
        best = max(gain, key=gain.__getitem__)
        bicubic = source.mean("asr_quality", dataset, BICUBIC, scale, "psnr_y")
        row = (
            name_dataset(source, "asr", dataset),
            format_number(bicubic, "{:.1f}"),
            _format_gain(gain.get(base, math.nan)),
            f"{methods[best].name} {_format_gain(gain[best])}",
        )
        rows.append(row)
    header = ("Set", "Bicubic", methods[base].name, "Best method")
    caption = f"Super-resolution ×{scale}: PSNR-Y of bicubic in dB; the methods' distance from it."
    return build_simple_table(header, rows, "lrrl", caption)


def _format_gain(value: float) -> str:
    return format_number(value, "{:+z.2f} dB")


# --- tables and figures --------------------------------------------------------------------------


def _build_items(
    kind: str, build: Callable[[Aggregates, Item], PageSection], source: Aggregates, folder: Path
) -> PageSection:
    """Build a section for every table or figure of the run, and say why it lacks the others."""
    items = select_items(kind, source.config)
    first = ["qualitative"] if source.config["preset"] == "demo" else []  # it says most at a glance
    sections, failures = build_possible(
        sort_by_order(items, first), lambda name: build(source, items[name])
    )
    titles = {name: f"{item.title} ({item.paper})" for name, item in items.items()}
    inside = []
    for name, section in sections.items():
        files = {"LaTeX": f"tables/{name}.tex", "PDF": f"figures/{name}.pdf"}
        paths = {label: source.results / file for label, file in files.items()}
        inside.append(replace(section, title=titles[name], links=_list_links(paths, folder)))
    if failures:
        reasons = [(titles[name], reason) for name, reason in failures.items()]
        table = build_simple_table(("What", "Why"), reasons)
        inside.append(PageSection("Not in this run", tables=[table]))
    return PageSection(f"{kind}s".title(), inside=inside)


def _build_table(source: Aggregates, item: Item) -> PageSection:
    """Build the section of a table, with the paper's values beside it folded up."""
    beside = build_beside_paper(source, item) if item.compared else []
    inside = (
        [PageSection("Beside the paper's values", tables=beside, folded=True)] if beside else []
    )
    return PageSection(item.title, tables=build_tables(source, item), inside=inside)


def _embed_figure(source: Aggregates, item: Item) -> PageSection:
    """Build the section of a figure, with the image inside the page."""
    png = source.results / "figures" / f"{item.item}.png"
    if not png.is_file():
        raise UserError("not drawn.")
    with Image.open(png, formats=["PNG"]) as image:
        width = image.width
    address = "data:image/png;base64," + base64.b64encode(png.read_bytes()).decode("ascii")
    picture = Picture(address, f"{item.title}, described below", width)
    caption = compose_caption(item, source.provenance)
    return PageSection(item.title, caption.on_page, picture=picture)


# --- provenance --------------------------------------------------------------------------------


def _build_provenance(source: Aggregates) -> PageSection:
    """Build the section about what was run, the image arrays and the configuration."""
    try:
        inside = describe_runs(source)
    except UserError as error:
        inside = [PageSection("What was run", str(error))]
    inside.append(_list_arrays(source.results))
    if (settings := source.results / "config.yaml").is_file():
        code = settings.read_text(encoding="utf-8")
        inside.append(PageSection("Configuration of this run", code=code, folded=True))
    return PageSection("Provenance", inside=inside)


def _list_arrays(results: Path) -> PageSection:
    """List the image arrays with the checksums that the standardize step recorded."""
    rows = []
    for benchmark in BENCHMARKS:
        for path in sorted((results / benchmark / "arrays").glob("*.json")):
            metadata = read_metadata(path)
            if metadata.get("sha256"):
                images = str(metadata.get("images", DASH))
                rows.append((f"{benchmark}/{path.stem}", images, str(metadata["sha256"])))
    if not rows:
        return PageSection("Image arrays", "No image array is standardized yet.")
    caption = "Standardized images; two runs with the same checksums saw the same pixels."
    table = build_simple_table(("Array", "Images", "SHA-256"), rows, caption=caption)
    return PageSection("Image arrays", tables=[table])
