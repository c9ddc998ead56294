"""Write one HTML page about a results folder: claims, pictures, tables, figures, cost, provenance.

The page stands alone: styles and images are inside, it runs no script and asks no server. What a
run does not have is named on the page with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..analysis.claims.verdicts import count_claims, read_claims
from ..analysis.derived import psnr_gaps, read_value
from ..analysis.metrics import PSNR_Y
from ..analysis.reader import BICUBIC, Aggregates
from ..analysis.schemas import JOBS, aggregate_path, format_scale, list_inputs, list_made
from ..config import Config, Item, list_items, list_methods, read_items
from ..errors import UserError
from ..evaluation import list_compared_scales
from ..files import write_text
from ..progress import log
from .captions import compose_caption
from .claims import VERDICT_STYLES, count_by_topic, explain_verdicts, list_claims, summarize
from .items import QUALITATIVE, build_possible, find_figure, select_items
from .layout import Table, format_number
from .names import name_dataset
from .page import Links, PageSection, build_simple_table, list_links, render_html
from .pictures import compare_methods, compare_reconstructions, embed_picture
from .sections import (
    describe_runs,
    explain_preset,
    find_notes,
    list_differences,
    list_notes,
    list_training_costs,
)
from .tables.build import build_beside_paper, build_tables

SCORES, NOTES = "scores", "notes"
"""The addresses of the files with the scores of single images, and of what is said once."""
OF_IMAGES = ("native", "ablation", "asr_quality")
"""The aggregates that average scores of images."""
HOW_TO_COMPARE = (
    "One picture at a time, all in the same place: choose the first with the pointer, then change "
    "it with the arrow keys. Under each stand the scores of this very image and seed."
)
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
    judged = _build_or_explain("Claims", _build_claims, claims, source)
    pictures = _build_pictures(source, folder)
    figures = _build_items("figure", source, folder)
    tables = _build_items("table", source, folder)
    items = select_items("table", config) | select_items("figure", config)
    parts = [*tables.inside, *figures.inside, *pictures.inside]
    notes = find_notes(parts, items)
    listed = replace(list_notes(notes), key=NOTES)
    differences = replace(list_differences(source), inside=[listed])
    inside = [judged, pictures, differences, tables, figures]
    if preset == "demo":
        learned = _build_or_explain("What it learned", _build_learned, source)
        inside = [learned, pictures, figures, judged, differences, tables]
    inside.append(_build_or_explain("Cost", list_training_costs, source))
    inside.append(_build_provenance(source))
    inside.append(_list_files(source, claims, folder))
    page = PageSection("GB-LSR: the paper and this run", LEAD, inside=inside, elsewhere=notes)
    return render_html(page, explain_preset(preset), VERDICT_STYLES)


def _build_or_explain(
    title: str, build: Callable[..., PageSection], *arguments: object
) -> PageSection:
    """Build a section, or one that says why it cannot be built."""
    try:
        return build(*arguments)
    except UserError as error:
        return PageSection(title, str(error))


def _list_files(source: Aggregates, claims: Path, folder: Path) -> PageSection:
    """List the files of the run that readers may want, as links; not those of earlier configs."""
    made = (name for job in JOBS for name in list_made(job, source.config))
    items = list_items(source.config)
    files = ["config.yaml", *map(aggregate_path, made)]
    files += [f"tables/{name}{ending}.tex" for name in items for ending in ("", "_vs_paper")]
    files += [f"figures/{name}.pdf" for name in items]
    paths = {claims.name: claims, **{file: source.results / file for file in files}}
    scores = _list_scores(source, folder)
    inside = [PageSection("Scores of every image", links=scores, folded=True, key=SCORES)]
    return PageSection("Files", links=list_links(paths, folder), inside=inside if scores else [])


def _list_scores(source: Aggregates, folder: Path) -> Links:
    """List the files with the scores of single images, as links."""
    inputs = [file for name in OF_IMAGES for file in list_inputs(name, source.config)]
    files = [file for file in inputs if "/metrics/" in file]
    return list_links({file: source.results / file for file in files}, folder)


# --- claims ---------------------------------------------------------------------------------------


def _build_claims(path: Path, source: Aggregates) -> PageSection:
    """Build the section of claims; all of a demo's are folded up."""
    claims = read_claims(path)
    explained = replace(explain_verdicts(), folded=True)
    if source.config["preset"] == "demo":
        text = (
            f"{count_claims(claims)['code']} of {len(claims)} claims follow from the code alone; "
            "parameters are counted at the paper's size, not at that of the networks trained here. "
            "A demo can judge none of the others: they rest on the paper's data, training and "
            "device. What it measured for them is folded away below."
        )
        listed = replace(list_claims(claims), folded=True)
        return PageSection("Claims", text, inside=[explained, listed])
    by_topic = PageSection("Claims by topic", tables=[count_by_topic(claims)], folded=True)
    return PageSection(
        "Claims", summarize(claims), inside=[by_topic, explained, list_claims(claims)]
    )


# --- what a demo learned -------------------------------------------------------------------------


def _build_learned(source: Aggregates) -> PageSection:
    """Build the section that compares what a demo trained with what needs no training."""
    tables = [_compare_with_mean_color(source), _compare_with_bicubic(source)]
    return PageSection("What it learned", tables=[table for table in tables if any(table.groups)])


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
        if all(map(math.isnan, numbers)):
            continue
        cells = (format_number(number, "{:.1f}") for number in numbers)
        rows.append((name_dataset(source, "native", dataset), *cells))
    header = ("Set", "Mean color", *(source.arms[arm].name for arm in arms))
    return build_simple_table(header, rows, "lrrr", (
        "Reconstruction: PSNR in dB. Mean color: each image replaced by its own mean color, what "
        "an arm reaches that has learned nothing else."
    ))  # fmt: skip


def _compare_with_bicubic(source: Aggregates) -> Table:
    """Compare at the lowest trained scale the PSNR-Y of the methods with that of bicubic."""
    asr, rows = source.config["asr"], []
    sets, scale = [*asr["evaluate"]], format_scale(min(asr["trained_scales"]))
    if source.has("asr_quality"):
        means = (source.mean("asr_quality", name, BICUBIC, scale, PSNR_Y.name) for name in sets)
        rows.append(("Bicubic", *(format_number(mean, "{:.1f}") for mean in means)))
        for key, method in list_methods(source.config).items():
            cells = ([(name, scale)] for name in sets)
            gains = (read_value(source, psnr_gaps, key, BICUBIC, cell) for cell in cells)
            rows.append((method.name, *(format_number(gain, "{:+z.2f}") for gain in gains)))
    header = ("Method", *(name_dataset(source, "asr", name) for name in sets))
    caption = f"Super-resolution ×{scale}: PSNR-Y of bicubic in dB; the methods' distance from it."
    return build_simple_table(header, rows, "l" + "r" * len(sets), caption)


# --- tables and figures --------------------------------------------------------------------------


def _build_items(kind: str, source: Aggregates, folder: Path) -> PageSection:
    """Build a section for every table or figure of the run, and say why it lacks the others."""
    items = select_items(kind, source.config)
    items.pop(QUALITATIVE, None)  # a reader compares its pictures
    sections, failures = build_possible(
        items, lambda name: _build_item(items[name], source, folder)
    )
    inside = [*sections.values()]
    if failures:
        reasons = [(_name_item(items[name]), reason) for name, reason in failures.items()]
        table = build_simple_table(("What", "Why"), reasons)
        inside.append(PageSection("Not in this run", tables=[table]))
    return PageSection(f"{kind}s".title(), inside=inside)


def _build_item(item: Item, source: Aggregates, folder: Path) -> PageSection:
    """Build the section of a figure, the image inside, or of a table, the paper's folded up."""
    links = _list_sources(item, source, folder)
    section = PageSection(_name_item(item), key=item.item, links=links)
    if item.kind == "figure":
        png = find_figure(item, source, "png")
        picture = embed_picture(png, f"{item.title}, described below")
        return replace(section, picture=picture, caption=compose_caption(item, source.provenance))
    inside = []
    if item.compared:
        beside = build_beside_paper(source, item)
        inside.append(PageSection("Beside the paper's values", tables=beside, folded=True))
    return replace(section, tables=build_tables(source, item), inside=inside)


def _name_item(item: Item) -> str:
    return f"{item.title} ({item.paper})"


def _list_sources(item: Item, source: Aggregates, folder: Path) -> Links:
    """List the files of an item, those that it was made of, and where the scores per image are."""
    files = [f"figures/{item.item}.png", f"figures/{item.item}.pdf", f"tables/{item.item}.tex"]
    files += [f"aggregates/{name}.csv" for name in filter(source.has, item.needs)]
    links = list_links({Path(file).name: source.results / file for file in files}, folder)
    if {*OF_IMAGES} & {*item.needs} and _list_scores(source, folder):
        links.append(("scores of every image", f"#{SCORES}"))
    return [*links, ("notes", f"#{NOTES}")]


def _build_pictures(source: Aggregates, folder: Path) -> PageSection:
    """Build the section of the pictures that a reader compares, of both benchmarks."""
    item = read_items()[QUALITATIVE]
    native = replace(
        _build_or_explain(_name_item(item), compare_reconstructions, source, folder),
        title=_name_item(item),
        key=QUALITATIVE,
        links=_list_sources(item, source, folder),
        caption=compose_caption(item, source.provenance),
    )
    scales = " and ".join(f"×{scale:g}" for scale in list_compared_scales(source.config))
    title = f"Super-resolution {scales}"
    enlarged = _build_or_explain(title, compare_methods, source, folder)
    inside = [native, replace(enlarged, title=title, key="enlarged")]
    return PageSection("Pictures", HOW_TO_COMPARE, inside=inside)


# --- provenance --------------------------------------------------------------------------------


def _build_provenance(source: Aggregates) -> PageSection:
    """Build the section about what was run, and the configuration."""
    inside = [_build_or_explain("What was run", describe_runs, source)]
    if (settings := source.results / "config.yaml").is_file():
        code = settings.read_text(encoding="utf-8")
        inside.append(PageSection("Configuration of this run", code=code, folded=True))
    return PageSection("Provenance", inside=inside)
