"""Add the numbers of a results folder to a record, and write what follows from its values."""

from __future__ import annotations

import copy
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import yaml
from PIL import Image

from ..analysis.claims import judge
from ..analysis.claims.verdicts import CLAIMS_FILE, write_claims
from ..config import Config, complete, drop_folder, get_setting, load, merge, read_yaml
from ..errors import UserError
from ..files import write_atomically, write_text
from ..reporting import figures
from ..reporting.items import build_possible, select_items
from ..reporting.page import render_markdown
from .page import Part, build_page, build_tables_page
from .restoring import OVERLAYS, list_setups, restore
from .sources import PROVENANCE_FILE as SOURCES
from .sources import collect_sources, merge_sources, read_sources
from .values import MAIN, add_tables, collect_tables

FIGURES = "figures"
WIDEST_FIGURE = 1200  # pixels
# Where files lie on one machine says nothing about the run, and may say too much about its owner.
LOCAL = ("mirror", "resources", "results")
LISTED = ("seeds", "native.arms", "asr.methods", "asr.scales", "asr.timing.datasets")
"""Settings that list what is run: a setup lists what any of its runs does."""


def update(results: Path, record: Path, config: Config, setup: str) -> None:
    """Add the numbers below `results` to a record folder.

    `config` is the run's resolved configuration, `setup` its name in the record. The lines of a run
    measured again are replaced, and all others of the setup stay. Raises `UserError` when nothing
    was measured, when a file of the run is damaged, when the folder is no record, when the name is
    none for a file, and when another process changed the record meanwhile.
    """
    if not re.fullmatch(r"\w+", setup):
        raise UserError(f"--setup {setup!r} must be a name of letters, digits and _.")
    if record.exists() and not list_setups(record):
        raise UserError(f"{record} exists and is no record; name a new folder or a record.")
    tables = collect_tables(results, config, setup)
    if not any(map(len, tables.values())):
        raise UserError(f"{results} has no numbers yet; run the workflow first.")
    with _edit(record) as folder:
        add_tables(folder, tables)
        merge_sources(folder, setup, collect_sources(results, config))
        overlay = folder / OVERLAYS / f"{setup}.yaml"
        if overlay.exists():
            config = join_settings(complete(read_yaml(overlay)), config)
        settings = {"results": f"results/{setup}"} | build_overlay(config)
        write_text(overlay, yaml.safe_dump(settings, sort_keys=False))
        derive_files(folder, results / FIGURES if setup == MAIN else None)


def rebuild(record: Path) -> None:
    """Write what follows from the values of a record again."""
    if not list_setups(record):
        raise UserError(f"{record} is no record: it has no {SOURCES}.")
    with _edit(record) as folder:
        derive_files(folder)


@contextmanager
def _edit(record: Path) -> Iterator[Path]:
    """Yield a copy of a record folder, or a new one; put it in the record's place at the end.

    Raises `UserError` where the record has other runs by then, which the copy would undo.
    """
    record = record.resolve()  # "." has no name of its own
    record.parent.mkdir(parents=True, exist_ok=True)
    before = read_sources(record)
    with tempfile.TemporaryDirectory(prefix=f".{record.name}.", dir=record.parent) as temporary:
        folder = Path(temporary) / record.name
        if record.exists():
            shutil.copytree(record, folder)
        try:
            yield folder
        except UserError as error:  # about a file of the copy, which will be gone
            raise UserError(str(error).replace(str(folder), str(record))) from error
        if read_sources(record) != before:
            raise UserError(f"{record} was changed meanwhile; run the same command again.")
        if record.exists():
            record.rename(Path(temporary) / "before")
        folder.rename(record)


def join_settings(earlier: Config, config: Config) -> Config:
    """Join the settings of two runs of a setup: what either runs, and else those of `config`."""
    joined = merge(earlier, copy.deepcopy(config))
    for name in LISTED:
        listed = get_setting(joined, name)
        listed += [each for each in get_setting(earlier, name) if each not in listed]
    return joined


def build_overlay(config: Config) -> Config:
    """Build the overlay of the settings in which a run differs from those of the checkout.

    A table column that the run left out is null. What is local to a machine is left out, and of
    released weights the folder.
    """
    settings = {key: value for key, value in config.items() if key not in LOCAL}
    settings["released"] = {row: drop_folder(a) for row, a in config["released"].items()}
    return _list_changes(load(), settings)


def _list_changes(base: Mapping[str, object], other: Mapping[str, object]) -> Config:
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


# --- what follows from the values -----------------------------------------------------------------


def derive_files(folder: Path, pictures: Path | None = None) -> None:
    """Write what follows from the values of a record: claims.csv, figures and pages.

    A figure is drawn from the first setup that has its numbers. One of images or bandwidth
    fields cannot be drawn from values: it is copied from `pictures`, the figures of the main run.
    """
    parts = [Part(name, restore(folder, name)) for name in list_setups(folder)]
    drawn: dict[str, Part] = {}
    for part in parts:
        if part.setup == MAIN:
            write_claims(judge.judge_all(part.source), folder / CLAIMS_FILE)
        drawn |= dict.fromkeys(draw_figures(part, folder / FIGURES, drawn), part)
    for path in sorted(pictures.glob("*.png") if pictures else []):
        if path.stem not in drawn:
            shrink_picture(path, folder / FIGURES / path.name)
    write_text(folder / "README.md", render_markdown(build_page(folder, parts, drawn)))
    write_text(folder / "tables.md", render_markdown(build_tables_page(parts)))


def draw_figures(part: Part, output: Path, drawn: Collection[str]) -> set[str]:
    """Draw every figure that some values allow, but for those drawn already; return their names."""
    names = [name for name in select_items("figure", part.source.config) if name not in drawn]
    with tempfile.TemporaryDirectory() as temporary:

        def draw(name: str) -> None:
            _, picture = figures.draw(name, part.source, Path(temporary))
            shrink_picture(picture, output / picture.name, plot=True)

        done, _ = build_possible(names, draw)
    return {*done}


def shrink_picture(path: Path, target: Path, plot: bool = False) -> None:
    """Write a picture with fewer pixels and, of a plot, fewer colors; in a photo they show."""
    with Image.open(path, formats=["PNG"]) as image:
        small = image.convert("RGB")
    small.thumbnail((WIDEST_FIGURE, WIDEST_FIGURE), Image.Resampling.LANCZOS)
    if plot:
        small = small.quantize(256, dither=Image.Dither.FLOYDSTEINBERG)
    target.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(target) as temporary:
        small.save(temporary, format="PNG", optimize=True)
