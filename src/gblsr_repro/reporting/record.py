"""Write a record of a run, small enough to be committed: numbers, tables, figures and a page."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from ..analysis.claims.rows import FILE
from ..analysis.provenance import Scope
from ..analysis.provenance.differences import join_values
from ..analysis.reader import Aggregates
from ..config import Config, load
from ..errors import UserError
from ..files import read_json, verify_checksum, write_atomically, write_text
from . import readings_page
from .captions import compose_caption
from .claims_page import Claims, count_by_topic, format_agreement, format_value, summarize
from .items import build_possible, select_items
from .layout import Table
from .page import Picture, Section, build_simple_table, render_markdown
from .sections import describe_runs, list_differences, list_training_costs
from .tables import build_beside_paper

LARGEST_BYTES = 3_000_000
WIDEST_FIGURE = 1200  # pixels
# Where files lie on one machine says nothing about the run, and may say too much about its owner.
LOCAL = ("mirror", "resources", "results", "lpips_backbone")
COPIED = (
    "claims.*", "aggregates/[!.]*", "tables/*.tex",
    "native/runs/*/seed*/*.json", "native/runs/*/seed*/*.csv", "native/latency/*/*/*.json",
    "asr/runs/*/seed*/*.json", "asr/runs/*/seed*/*.csv", "asr/latency/*/*/*.json",
)  # fmt: skip

OVERLAY = (
    "[overlay.yaml](overlay.yaml) has every setting in which this run differs from "
    "`config/config.yaml`; the other folders hold the records of the single runs."
)
MIRRORED = (
    f"{OVERLAY} `FOLDER` holds the image sets, laid out as the main README's section on data says; "
    "where it lacks the AlexNet backbone of LPIPS, `GBLSR_LPIPS_BACKBONE` names that file."
)


def write(results: Path, output: Path, config: Config) -> int:
    """Write a record of `results` into the new folder `output`; return its size in bytes.

    `config` is the run's resolved configuration. The folder is written under another name and
    renamed at the end. Raises `UserError` when `output` exists, when the run has no aggregates or
    claims yet, when an aggregate was changed after it was written, and when a record would be
    larger than 3 MB.
    """
    _check_folders(results, output)
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as temporary:
        folder = Path(temporary) / output.name
        _copy_files(results, COPIED, folder)
        for path in sorted((results / "figures").glob("*.png")):
            _shrink_figure(path, folder / "figures" / path.name)
        settings = {"results": f"results/{output.name}"} | build_overlay(config)
        write_text(folder / "overlay.yaml", yaml.safe_dump(settings, sort_keys=False))
        write_text(folder / "README.md", render_markdown(build_page(folder, output.name, config)))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        if size > LARGEST_BYTES:
            raise UserError(
                f"The record would take {size / 1e6:.1f} MB, and 3 MB are meant to be the most; "
                "leave out arms, seeds or figures in the results folder."
            )
        folder.rename(output)
    return size


def build_overlay(config: Config) -> Config:
    """Build the overlay of the settings in which a run differs from config/config.yaml.

    A table column that the run left out is null. What is local to a machine is left out.
    """
    return _list_changes(load(), {k: v for k, v in config.items() if k not in LOCAL})


def _check_folders(results: Path, output: Path) -> None:
    """Check that `output` is new and that the run is judged; raises `UserError`."""
    if output.exists():
        raise UserError(f"{output} exists already; name a new folder, or remove this one first.")
    judgeable = any((results / "aggregates").glob("provenance_*.json"))
    if not judgeable and not (results / "aggregates" / "readings.csv").is_file():
        raise UserError(f"{results} has no aggregates yet; run the workflow first.")
    if judgeable and not (results / FILE).is_file():
        raise UserError(f"{results} has no {FILE} yet; run gblsr-repro claims first.")


def _copy_files(results: Path, patterns: Iterable[str], folder: Path) -> None:
    """Copy the files of `results` that match a pattern; raises `UserError` for a damaged one."""
    for path in (path for pattern in patterns for path in sorted(results.glob(pattern))):
        if path.name.startswith("."):
            continue
        verify_checksum(path)
        copy = folder / path.relative_to(results)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _list_changes(base: Mapping[str, Any], other: Mapping[str, Any]) -> Config:
    """List the settings of `other` that `base` has otherwise, as nested as they are."""
    changes: Config = {}
    for key, value in other.items():
        old = base.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            inner = _list_changes(old, value)
            inner |= {removed: None for removed in old if removed not in value}
            if inner:
                changes[key] = inner
        elif value != old:
            changes[key] = value
    return changes


def _shrink_figure(path: Path, target: Path) -> None:
    """Write a figure with fewer pixels and colors."""
    with Image.open(path, formats=["PNG"]) as image:
        small = image.convert("RGB")
        small.thumbnail((WIDEST_FIGURE, WIDEST_FIGURE), Image.Resampling.LANCZOS)
        # 256 colors are enough for a plot, and more than enough to show what images look like.
        small = small.quantize(256, dither=Image.Dither.FLOYDSTEINBERG)
    target.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(target) as temporary:
        small.save(temporary, format="PNG", optimize=True)


# --- the page ------------------------------------------------------------------------------------


def build_page(folder: Path, name: str, config: Config) -> Section:
    """Build the README of a record from the files already in its folder."""
    source = Aggregates(folder / "aggregates", config)
    jobs = (folder.glob(pattern) for pattern in ("*/runs/*/*/run.json", "*/latency/*/*/*.json"))
    records = [read_json(path) for path in sorted(chain(*jobs))]
    source.provenance = replace(
        source.provenance,
        versions=join_values(job.get("versions") or {} for job in records),
        git=join_values(job.get("git") or {} for job in records),
    )
    inside = [list_differences(source)] if source.provenance.benchmarks else []
    inside += [*describe_runs(source), list_training_costs(source)]
    if source.has("readings"):
        inside.append(readings_page.build_page(source))
    if tables := _build_tables(source):
        inside.append(Section("Measured beside published", inside=tables))
    if (folder / FILE).is_file():
        inside.append(_summarize_claims(folder / FILE))
    if figures := _build_figures(source, folder):
        inside.append(Section("Figures", inside=figures))
    text = MIRRORED if config["mirror"] else OVERLAY
    inside.append(Section("Make it again", text, code=_format_command(name, config, source)))
    return Section(
        name,
        "Measured numbers of one run, beside the paper's. `gblsr-repro record` wrote this folder "
        f"on {date.today().isoformat()} from the run's files; none of it is typed by hand.",
        inside=inside,
    )


def _build_tables(source: Aggregates) -> list[Section]:
    """Build a section for every measured table, with the paper's values where it has them."""
    items = select_items("table", source.config)
    compared = [name for name, item in items.items() if item.compared == "yes"]
    tables, _ = build_possible(compared, lambda name: build_beside_paper(source, items[name]))
    return [Section(table.title, tables=[table]) for parts in tables.values() for table in parts]


def _build_figures(source: Aggregates, folder: Path) -> list[Section]:
    """Build a section for every figure in the folder, with its caption."""
    items = select_items("figure", source.config)
    return [
        Section(
            path.stem,
            compose_caption(items[path.stem], source.provenance),
            picture=Picture(f"figures/{path.name}", path.stem),
        )
        for path in sorted(folder.glob("figures/*.png"))
        if path.stem in items
    ]


def _summarize_claims(path: Path) -> Section:
    """Summarize claims.csv: how many claims hold, and each ordering and bound."""
    claims = Claims.read(path)
    text = f"{summarize(claims)} Every claim with its numbers: [claims.md](claims.md)."
    return Section(
        "What the paper claims", text, [count_by_topic(claims), *_list_relations(claims)]
    )


def _list_relations(claims: Claims) -> list[Table]:
    """List the orderings and bounds that the paper claims, and whether they hold in this run."""
    rows = []
    for row in claims.rows:
        bound = row.published.startswith(("<", ">", "≤", "≥")) and row.scope != Scope.STRUCTURE
        if bound and row.holds:
            sides = (format_value(text, row.unit) for text in (row.published, row.measured))
            rows.append((row.sentence, *sides, format_agreement(row)))
    caption = "Orderings and bounds that this run has numbers for"
    header = ("The paper says", "Bound", "Measured", "In this run")
    return [build_simple_table(header, rows, caption=caption)] if rows else []


def _format_command(name: str, config: Config, source: Aggregates) -> str:
    """Format the command that runs the workflow again for what this run has."""
    native, asr = map(source.provenance.benchmark, ("native", "asr"))
    words = ["snakemake", "--cores", "all", "--configfile", f"docs/records/{name}/overlay.yaml"]
    if config["mirror"]:
        words += ["--config", "mirror=FOLDER"]
    targets = ["native"] if native.seeds else ["native_timing"] if native.timed_on else []
    targets += ["readings"] if source.has("readings") else []
    timed = ["asr_timing"] if asr.timed_on else []
    targets += (["asr"] if timed else ["asr_eval"]) if asr.seeds else timed
    return shlex.join([*words, "--", *targets])
