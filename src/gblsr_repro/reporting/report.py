"""One HTML page about a results folder: claims, tables, figures, cost, where it all came from.

The page stands alone: styles and images are inside, it runs no script and asks no server. What a
run did not make is named on the page with the reason.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

import numpy as np

from ..analysis.claims.rows import Verdict
from ..analysis.provenance import BENCHMARKS
from ..analysis.reader import BICUBIC, Aggregates
from ..analysis.schemas import format_scale
from ..config import Config, Item
from ..errors import UserError
from ..files import read_json, write_text
from . import claims_page
from .captions import caption
from .documents import Section, benchmarks, cost, differences, render_html, simple_table
from .items import attempt, select_items
from .layout import DASH, Table, format_number
from .names import name_dataset, sort_by_order
from .tables import build, build_beside_paper

FILE_PATTERNS = (
    "claims.csv", "claims.md", "config.yaml", "aggregates/[!.]*", "tables/*.tex",
    "figures/*.pdf",
)  # fmt: skip
LEAD = (
    "What the paper on the Global-Bandwidth Local Spectral Representation says, and what this run "
    "measured."
)


def write(results: Path, claims: Path, output: Path, config: Config) -> None:
    """Write the page about `results` to `output`. Raises `UserError` when there is no such folder.

    `claims` is claims.csv, `config` the run's resolved configuration.
    """
    if not results.is_dir():
        raise UserError(f"{results} is not a folder; run the workflow first.")
    write_text(output, page(results, claims, output.parent, config))


def page(results: Path, claims: Path, folder: Path, config: Config) -> str:
    """Return the page as HTML; its links are relative to `folder`."""
    source, preset = Aggregates(results / "aggregates", config), config["preset"]
    judged = _or_why("Claims", partial(_claims, claims), source)
    compared = _or_why("How this run differs from the paper's", differences, source)
    figures, tables = (
        _items("figure", _figure, source, folder),
        _items("table", _table, source, folder),
    )
    warning = (
        f"**Not the paper's experiment.** This is a run of the preset “{preset}”. What depends on "
        "data, training or device is shown, never called reproduced."
    )
    shown = [judged, compared, tables, figures]
    if preset == "demo":
        shown = [_learned(source), figures, judged, compared, tables]
    found = [path for pattern in FILE_PATTERNS for path in sorted(results.glob(pattern))]
    links = _links({path.relative_to(results).as_posix(): path for path in found}, folder)
    files = Section("Files", "" if links else "There are none yet.", links=links)
    parts = [*shown, _or_why("Cost", cost, source), _provenance(source), files]
    whole = Section("GB-LSR: the paper and this run", LEAD, inside=parts)
    return render_html(whole, warning="" if preset == "paper" else warning)


def _or_why(title: str, make: Callable[[Aggregates], Section], source: Aggregates) -> Section:
    """Return what is made of the aggregates, or a section that says why that cannot be."""
    try:
        return make(source)
    except UserError as error:
        return Section(title, str(error))


def _links(files: Mapping[str, Path], folder: Path) -> list[tuple[str, str]]:
    return [
        (label, quote(Path(os.path.relpath(path, folder)).as_posix()))
        for label, path in files.items()
        if path.is_file()
    ]


# --- claims ---------------------------------------------------------------------------------------


def _claims(path: Path, source: Aggregates) -> Section:
    page = claims_page.Page.read(path)
    topics = claims_page.topics(page)
    text, tables = claims_page.summarize(page), [claims_page.count_by_topic(page)]
    if source.config["preset"] == "demo":
        holding = sum(row.verdict == Verdict.HOLDS for row in page.rows)
        text = (
            f"{holding} of {len(page.rows)} claims are about structure alone and hold here; "
            "parameters are counted at the paper's size, not at that of the networks trained here. "
            "A demo can judge none of the others: they rest on the paper's data, training and "
            "device. What it measured for them is folded away below, topic by topic."
        )
        tables = []
    inside = [claims_page.explain_verdicts(page), *topics]
    return Section("Claims", text, tables, inside=[replace(p, folded=True) for p in inside])


# --- what a demo learned -------------------------------------------------------------------------


def _learned(source: Aggregates) -> Section:
    made = [table for table in (_reconstructed(source), _enlarged(source)) if any(table.groups)]
    return Section("What it learned", tables=made)


def _reconstructed(source: Aggregates) -> Table:
    """The main arm's PSNR on every set beside the control's and that of each image's mean color."""
    native, rows = source.config["native"], []
    arms = [native["main_arm"], native["control_arm"]]
    for column in source.evaluate:
        array = source.results / "native" / "arrays" / f"{column}.npy"
        flat = _flat_psnr(array, native["metrics"]["psnr_epsilon"]) if array.is_file() else np.nan
        measured = source.has("native")
        means = [source.mean("native", column, a, "psnr") if measured else np.nan for a in arms]
        rows.append(
            (
                name_dataset(source, "native", column),
                *(format_number(v, "{:.1f}") for v in (flat, *means)),
            )
        )
    header = ("Set", "Mean color", *(source.arms[arm].name for arm in arms))
    return simple_table(header, rows, "lrrr", (
        "Reconstruction: PSNR in dB. Mean color: each image replaced by its own mean color, what "
        "an arm reaches that has learned nothing else."
    ))  # fmt: skip


def _flat_psnr(array: Path, epsilon: float) -> float:
    """Return the mean PSNR in dB of images (N, S, S, 3), uint8, against their mean colors."""
    images = np.load(array, allow_pickle=False) / 255
    errors = ((images - images.mean((1, 2), keepdims=True)) ** 2).mean((1, 2, 3))
    return float(np.mean(-10 * np.log10(errors + epsilon)))


def _enlarged(source: Aggregates) -> Table:
    """PSNR-Y of bicubic, and the methods' distance from it, at the lowest trained scale."""
    asr, names = source.config["asr"], source.methods
    scale, base = format_scale(min(asr["trained_scales"])), asr["base_method"]
    rows: list[Sequence[str]] = []
    if source.has("asr_quality"):
        means = source.pivot("asr_quality", ["dataset"], "method", scale=scale, metric="psnr_y")
        means = means.reindex(asr["evaluate"], columns=[BICUBIC, *asr["methods"]])
        gains = means.sub(means.pop(BICUBIC), axis=0).dropna(how="all")
        for column, own in gains.iterrows():
            bicubic = source.mean("asr_quality", str(column), BICUBIC, scale, "psnr_y")
            best, title = str(own.idxmax()), name_dataset(source, "asr", str(column))
            gained = _gain(own.get(base, np.nan)), f"{names[best].name} {_gain(own[best])}"
            rows.append((title, format_number(bicubic, "{:.1f}"), *gained))
    header = ("Set", "Bicubic", names[base].name, "Best method")
    told = f"Super-resolution ×{scale}: PSNR-Y of bicubic in dB; the methods' distance from it."
    return simple_table(header, rows, "lrrl", told)


def _gain(value: float) -> str:
    return format_number(value, "{:+z.2f} dB")


# --- tables and figures --------------------------------------------------------------------------


def _items(
    kind: str, make: Callable[[Aggregates, Item], Section], source: Aggregates, folder: Path
) -> Section:
    """Return a section for every table or figure that was made, and why the others were not."""
    table = select_items(kind, source.config)
    first = ["qualitative"] if source.config["preset"] == "demo" else []  # it says most at a glance
    made, missing = attempt(sort_by_order(table, first), lambda name: make(source, table[name]))
    titles = {name: f"{item.title} ({item.paper})" for name, item in table.items()}
    sections = []
    for name, section in made.items():
        files = {"LaTeX": f"tables/{name}.tex", "PDF": f"figures/{name}.pdf"}
        links = _links({label: source.results / file for label, file in files.items()}, folder)
        sections.append(replace(section, title=titles[name], links=links))
    if missing:
        reasons = simple_table(
            ("What", "Why"), [(titles[name], why) for name, why in missing.items()]
        )
        sections.append(Section("Not in this run", tables=[reasons]))
    return Section(f"{kind}s".title(), inside=sections)


def _table(source: Aggregates, item: Item) -> Section:
    beside = build_beside_paper(source, item) if item.compared == "yes" else []
    inside = [Section("Beside the paper's values", tables=beside, folded=True)] if beside else []
    return Section(item.title, tables=build(source, item), inside=inside)


def _figure(source: Aggregates, item: Item) -> Section:
    png = source.results / "figures" / f"{item.item}.png"
    if not png.is_file():
        raise UserError("not drawn.")
    image = "data:image/png;base64," + base64.b64encode(png.read_bytes()).decode("ascii")
    told = caption(item, source.provenance)
    return Section(item.title, told, image=(image, f"{item.title}, told below"))


# --- provenance --------------------------------------------------------------------------------


def _provenance(source: Aggregates) -> Section:
    """What was run, the image arrays as the standardize step recorded them, the configuration."""
    rows = []
    for benchmark in BENCHMARKS:
        for path in sorted((source.results / benchmark / "arrays").glob("*.json")):
            record = read_json(path)
            if isinstance(record, dict) and record.get("sha256"):
                images = str(record.get("images", DASH))
                rows.append((f"{benchmark}/{path.stem}", images, str(record["sha256"])))
    told = "Standardized images; two runs with the same checksums saw the same pixels."
    arrays = [simple_table(("Array", "Images", "SHA-256"), rows, caption=told)] if rows else []
    text = "" if rows else "No image array is made yet."
    try:
        inside = benchmarks(source)
    except UserError as error:
        inside = [Section("What was run", str(error))]
    inside.append(Section("Image arrays", text, arrays))
    if (settings := source.results / "config.yaml").is_file():
        code = settings.read_text(encoding="utf-8")
        inside.append(Section("Configuration of this run", code=code, folded=True))
    return Section("Provenance", inside=inside)
