"""A record of a run, small enough to be committed: numbers, tables, figures, and one page."""

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
from ..files import atomic_path, read_json, verify, write_text
from . import claims_page, readings
from .captions import caption
from .documents import (
    Section,
    benchmarks,
    cost,
    differences,
    render_markdown,
    simple_table,
)
from .items import attempt, select_items
from .layout import Table
from .tables import build_beside_paper

LARGEST_BYTES = 3_000_000
WIDEST_FIGURE = 1200  # pixels
# Where things lie on one machine says nothing about the run, and may say too much about its owner.
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

    `config` is the run's resolved configuration. The folder is made under another name and
    renamed at the end. Raises `UserError` when `output` exists, when the run has no aggregates or
    claims yet, when an aggregate was changed after it was written, and when a record would be
    larger than 3 MB.
    """
    if output.exists():
        raise UserError(f"{output} exists already; name a new folder, or remove this one first.")
    judgeable = any((results / "aggregates").glob("provenance_*.json"))
    if not judgeable and not (results / "aggregates" / "readings.csv").is_file():
        raise UserError(f"{results} has no aggregates yet; run the workflow first.")
    if judgeable and not (results / FILE).is_file():
        raise UserError(f"{results} has no {FILE} yet; run gblsr-repro claims first.")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as temporary:
        folder = Path(temporary) / output.name
        _copy(results, COPIED, folder)
        for path in sorted((results / "figures").glob("*.png")):
            _shrink(path, folder / "figures" / path.name)
        settings = {"results": f"results/{output.name}"} | overlay(config)
        write_text(folder / "overlay.yaml", yaml.safe_dump(settings, sort_keys=False))
        write_text(folder / "README.md", render_markdown(page(folder, output.name, config)))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        if size > LARGEST_BYTES:
            raise UserError(
                f"The record would take {size / 1e6:.1f} MB, and 3 MB are meant to be the most; "
                "leave out arms, seeds or figures in the results folder."
            )
        folder.rename(output)
    return size


def overlay(config: Config) -> Config:
    """Return the settings in which a run differs from config/config.yaml, as an overlay.

    A table column that the run left out is null. What is local to a machine is left out.
    """
    return _difference(load(), {k: v for k, v in config.items() if k not in LOCAL})


def _copy(source: Path, patterns: Iterable[str], target: Path) -> None:
    """Copy the files of `source` that a pattern names; raises `UserError` for a damaged one."""
    for path in (path for pattern in patterns for path in sorted(source.glob(pattern))):
        if path.name.startswith("."):
            continue
        verify(path)
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _difference(base: Mapping[str, Any], other: Mapping[str, Any]) -> Config:
    found: Config = {}
    for key, value in other.items():
        old = base.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            inner = _difference(old, value)
            inner |= {gone: None for gone in old if gone not in value}
            if inner:
                found[key] = inner
        elif value != old:
            found[key] = value
    return found


def _shrink(source: Path, target: Path) -> None:
    with Image.open(source, formats=["PNG"]) as image:
        small = image.convert("RGB")
        small.thumbnail((WIDEST_FIGURE, WIDEST_FIGURE), Image.Resampling.LANCZOS)
        # 256 colours are enough for a plot, and more than enough to show what images look like.
        small = small.quantize(256, dither=Image.Dither.FLOYDSTEINBERG)
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(target) as temporary:
        small.save(temporary, format="PNG", optimize=True)


# --- the page ------------------------------------------------------------------------------------


def page(folder: Path, name: str, config: Config) -> Section:
    """Return the README of a record, from the files already in its folder."""
    source = Aggregates(folder / "aggregates", config)
    jobs = (folder.glob(pattern) for pattern in ("*/runs/*/*/run.json", "*/latency/*/*/*.json"))
    records = [read_json(path) for path in sorted(chain(*jobs))]
    source.provenance = replace(
        source.provenance,
        versions=join_values(job.get("versions") or {} for job in records),
        git=join_values(job.get("git") or {} for job in records),
    )
    figures = select_items("figure", config)
    shown = [
        Section(path.stem, caption(figures[path.stem], source.provenance),
                image=(f"figures/{path.name}", path.stem))
        for path in sorted(folder.glob("figures/*.png"))
        if path.stem in figures
    ]  # fmt: skip
    again = Section(
        "Make it again",
        MIRRORED if config["mirror"] else OVERLAY,
        code=_command(name, config, source),
    )
    tables = _tables(source)
    return Section(
        name,
        "Measured numbers of one run, beside the paper's. `gblsr-repro record` wrote this folder "
        f"on {date.today().isoformat()} from the run's files; none of it is typed by hand.",
        inside=[
            *([differences(source)] if source.provenance.benchmarks else []),
            *benchmarks(source),
            cost(source),
            *([readings.page(source)] if source.has("readings") else []),
            *([Section("Measured beside published", inside=tables)] if tables else []),
            *([_claims(folder / FILE)] if (folder / FILE).is_file() else []),
            *([Section("Figures", inside=shown)] if shown else []),
            again,
        ],
    )


def _tables(source: Aggregates) -> list[Section]:
    """Return a section for every measured table, with the paper's values where it has them."""
    items = select_items("table", source.config)
    compared = [name for name, item in items.items() if item.compared == "yes"]
    made, _ = attempt(compared, lambda name: build_beside_paper(source, items[name]))
    return [Section(table.title, tables=[table]) for tables in made.values() for table in tables]


def _claims(path: Path) -> Section:
    """How many claims got each verdict, and what this run says of orderings and bounds."""
    claims = claims_page.Page.read(path)
    text = f"{claims_page.summarize(claims)} Every claim with its numbers: [claims.md](claims.md)."
    tables = [claims_page.count_by_topic(claims), *_relations(claims)]
    return Section("What the paper claims", text, tables)


def _relations(claims: claims_page.Page) -> list[Table]:
    """The orderings and bounds that the paper claims, and whether they hold in this run."""
    rows = []
    for row in claims.rows:
        bound = row.published.startswith(("<", ">", "≤", "≥")) and row.scope != Scope.STRUCTURE
        if bound and row.holds:
            sides = (
                claims_page.with_unit(text, row.unit) for text in (row.published, row.measured)
            )
            rows.append((row.sentence, *sides, claims_page.held(row)))
    caption = "Orderings and bounds that this run has numbers for"
    header = ("The paper says", "Bound", "Measured", "In this run")
    return [simple_table(header, rows, caption=caption)] if rows else []


def _command(name: str, config: Config, source: Aggregates) -> str:
    native, asr = map(source.provenance.benchmark, ("native", "asr"))
    words = ["snakemake", "--cores", "all", "--configfile", f"docs/records/{name}/overlay.yaml"]
    if config["mirror"]:
        words += ["--config", "mirror=FOLDER"]
    targets = ["native"] if native.seeds else ["native_timing"] if native.timed_on else []
    targets += ["readings"] if source.has("readings") else []
    timed = ["asr_timing"] if asr.timed_on else []
    targets += (["asr"] if timed else ["asr_eval"]) if asr.seeds else timed
    return shlex.join([*words, "--", *targets])
