"""A record of a run, small enough to be committed: numbers, tables, figures, and one page."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml
from PIL import Image

from ..config import Config, arms, load, methods
from ..errors import UserError
from ..files import atomic_path, verify, write_text
from ..progress import duration
from . import claims
from .aggregates import Aggregates
from .captions import HALVES, facts, run_notes, sentence
from .compare import Scope
from .conditions import Conditions, of_paper
from .figures import captions
from .kinds import RUN_COLUMNS
from .layout import DASH, environment, grid, markdown
from .tables import VERSUS, builders
from .verdicts import Verdict

LARGEST_BYTES = 3_000_000
WIDEST_FIGURE = 1200  # pixels
# Where things lie on one machine says nothing about the run, and may say too much about its owner.
LOCAL = ("mirror", "resources", "results", "lpips_backbone")
COPIED = (
    "claims.csv", "claims.md", "aggregates/[!.]*", "tables/*.tex",
    "native/runs/*/seed*/*.json", "native/runs/*/seed*/*.csv", "native/latency/*/*.json",
    "asr/runs/*/seed*/*.json", "asr/runs/*/seed*/*.csv", "asr/latency/*/*.json",
)  # fmt: skip

HELD = {
    Verdict.REPRODUCED: "held",
    Verdict.WITHIN_NOISE: "within noise",
    Verdict.NOT_REPRODUCED: "not held",
}


class Section(NamedTuple):
    """A heading of the page with lines of Markdown."""

    title: str
    lines: list[str]


def write(results: Path, output: Path, config: Config) -> int:
    """Write a record of `results` into the new folder `output`; return its size in bytes.

    `config` is the run's resolved configuration. The folder is made under another name and
    renamed at the end. Raises `UserError` when `output` exists, when the run has no aggregates
    yet, when an aggregate was changed after it was written, and when a record would be larger
    than 3 MB.
    """
    if output.exists():
        raise UserError(f"{output} exists already; name a new folder, or remove this one first.")
    if not any((results / "aggregates").glob("conditions*.json")):
        raise UserError(f"{results} has no aggregates yet; run the workflow first.")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as temporary:
        folder = Path(temporary) / output.name
        for path in (path for pattern in COPIED for path in sorted(results.glob(pattern))):
            if path.name.startswith("."):
                continue
            verify(path)
            copy = folder / path.relative_to(results)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        for path in sorted((results / "figures").glob("*.png")):
            _shrink(path, folder / "figures" / path.name)
        settings = {"results": f"results/{output.name}"} | overlay(config)
        write_text(folder / "overlay.yaml", yaml.safe_dump(settings, sort_keys=False))
        write_text(folder / "README.md", page(folder, output.name, config))
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


def page(folder: Path, name: str, config: Config) -> str:
    """Return the README of a record, from the files already in its folder."""
    aggregates = folder / "aggregates"
    run = Conditions.read(aggregates)
    verdicts = claims.evaluate(aggregates, config)
    return (
        environment("md")
        .get_template("record.md.j2")
        .render(
            name=name,
            date=date.today().isoformat(),
            halves=_halves(aggregates, run, config),
            tables=_tables(aggregates, config),
            counts=[f"{n} {verdict}" for verdict, n in verdicts.counts().items() if n],
            relations=_relations(verdicts),
            figures=[
                (path.stem, captions(path.stem, run))
                for path in sorted(folder.glob("figures/*.png"))
            ],
            command=_command(name, config, run),
            mirrored=bool(config["mirror"]),
        )
    )


def _halves(aggregates: Path, run: Conditions, config: Config) -> list[Section]:
    """Say of each half what was run, beside the paper's, and in what that differs."""
    paper, source = of_paper(), Aggregates(aggregates, config)
    sections = []
    for half, known, kind in (("native", arms(), "runs"), ("asr", methods(), "asr_runs")):
        here, there = run.half(half), paper.half(half)
        if here is None or there is None:
            continue
        runs = source.frame(kind) if source.has(kind) else pd.DataFrame(columns=RUN_COLUMNS)
        names = [known[n].name if n in known else n for n in runs["arm"].unique()]
        published = facts(there)
        rows = [("trained", ", ".join(names) or "nothing", "all")]
        rows += [(label, text, published.get(label, DASH)) for label, text in facts(here).items()]
        if names:
            rows.append(("training time, all runs", duration(runs["wall_seconds"].sum()), DASH))
        scopes = [s for s in Scope if s.half == half and (names or s.kind == "latency")]
        alone = replace(run, asr=None) if half == "native" else replace(run, native=None)
        notes = run_notes(alone, scopes, perceptual=half == "native")
        lines = [*markdown(("", "This run", "Paper"), rows), "", " ".join(map(sentence, notes))]
        sections.append(Section(HALVES[half], lines))
    if run.git.get("commit") and sections:
        state = " with uncommitted changes" if "True" in str(run.git.get("modified")) else ""
        versions = ", ".join(f"{k} {v}" for k, v in run.versions.items())
        sections[-1].lines.extend(["", f"Runs of commit {run.git['commit']}{state}. {versions}."])
    return sections


def _tables(aggregates: Path, config: Config) -> list[Section]:
    """The measured tables: those that the paper's values can stand beside, with them."""
    source = Aggregates(aggregates, config)
    sections = []
    for name, make in builders(config).items():
        try:
            parts = make(source).floats if name.endswith(VERSUS) else ()
        except UserError:  # not measured: the record shows what was
            continue
        for part in parts:
            title, _, rest = part.caption.removeprefix("**").partition(".**")
            sections.append(Section(title, [*grid(part), "", rest.strip()]))
    return sections


def _relations(verdicts: claims.Page) -> list[str]:
    """The orderings and bounds that the paper claims, and whether they hold in this run."""
    rows = []
    for result in verdicts.results:
        claim = result.claim
        bound = claim.published.startswith(("<", ">")) and claim.scope != Scope.STRUCTURE
        if bound and result.agreement is not None:
            sides = (claims.with_unit(text, claim.unit) for text in (result.paper, result.measured))
            rows.append((claim.claim, *sides, HELD[result.agreement]))
    header = ("The paper says", "Bound", "Measured", "In this run")
    return markdown(header, rows) if rows else []


def _command(name: str, config: Config, run: Conditions) -> str:
    words = ["snakemake", "--cores", "all", "--configfile", f"docs/records/{name}/overlay.yaml"]
    if config["mirror"]:
        words += ["--config", "mirror=FOLDER"]
    targets = ["native"] if run.native else []
    if run.asr:
        targets.append("asr" if run.asr.seeds else "asr_timing")
    return shlex.join([*words, "--", *targets])
