"""What every kind of job looks up, what it follows from, and what code that is.

One table for the rules, which ask for a job again when something it follows from changes, and for
the jobs, which see of the config what stands here and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from .identity import (
    DEFINING,
    TRAINING_ARRAY,
    Identity,
    chosen,
    definition,
    model_of,
    run_settings,
    watches,
)
from .source_digest import digest_of
from .tables import Arm, Config, Dataset, Method


@dataclass(frozen=True)
class Job:
    """A kind of job.

    It is asked for again when a setting that it `follows` changes; those that it `reads` besides
    change how it works and not what it makes. A section stands for all in it, `{row}` for the
    column or array that the job is about. `run` says that it follows the identity of a run too.
    `code` are source files; those of models/ and training/ bring what they import from there.
    """

    follows: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    run: bool = False


# Where and how any job works.
PLACE = ("device", "threads", "results", "resources", "mirror", "accept_partial")
REPORTED = Job(("preset", "seeds", "native", "asr", "latency", "diagnostics", "claims"))
SPLITS = ("train", "validation")
ROOMS = ("models", "training")  # whose code is followed through its imports

JOBS = {
    "fetch": Job(("mirror", "resources", "accept_partial")),
    "native standardize": Job(
        ("native.data.image_size", "native.data.evaluate.{row}"), reads=("native.data.evaluate",)
    ),
    "budget": Job(("native.model",), code=("models/native.py",)),
    "structure": Job(code=("models/structure.py",)),
    "native regions": Job(("native.metrics", "native.model.patch")),
    "native train": Job(code=("training/native.py", "data/arrays.py", "runtime.py"), run=True),
    "native evaluate": Job(
        (
            "native.metrics",
            "native.data.evaluate",
            "native.data.exemplars",
            "diagnostics.images",
            "lpips_backbone",
        ),
        reads=("require_lpips",),
        code=(
            "models/native.py",
            "evaluation/native.py",
            "evaluation/metrics.py",
            "evaluation/perceptual.py",
            "evaluation/regions.py",
        ),
        run=True,
    ),
    "native exemplars": Job(("native.data.evaluate", "native.data.exemplars")),
    "native fields": Job(
        ("native.metrics", "diagnostics.images"),
        code=("models/native.py", "evaluation/metrics.py", "evaluation/regions.py"),
        run=True,
    ),
    "native latency": Job(
        ("latency", "native.model", "native.data.evaluate"),
        code=("models/native.py", "evaluation/latency.py"),
    ),
    "asr standardize": Job(("asr.train",)),
    "asr train": Job(
        # The validation curve is measured as the evaluation measures.
        reads=(
            "asr.evaluate",
            "asr.downsampling",
            "asr.shave_extra",
            "asr.tile_pixels",
        ),
        code=(
            "training/asr.py",
            "data/superres.py",
            "data/arrays.py",
            "data/resize.py",
            "runtime.py",
        ),
        run=True,
    ),
    "asr evaluate": Job(
        ("asr.evaluate", "asr.scales", "asr.downsampling", "asr.shave_extra"),
        reads=("asr.tile_pixels",),
        code=("models/asr/model.py", "evaluation/asr.py", "evaluation/luma.py", "data/resize.py"),
        run=True,
    ),
    "asr bicubic": Job(
        ("asr.evaluate.{row}", "asr.scales", "asr.downsampling", "asr.shave_extra.{row}"),
        reads=("asr.evaluate",),
        code=("evaluation/asr.py", "evaluation/luma.py", "data/resize.py"),
    ),
    "asr latency": Job(
        (
            "latency",
            "asr.timing",
            "asr.tile_pixels",
            "asr.downsampling",
            "asr.training.scale_range",
        ),
        reads=("asr.evaluate",),
        code=("models/asr/model.py", "evaluation/asr_latency.py", "evaluation/latency.py"),
    ),
    **dict.fromkeys(("aggregate", "readings", "tables", "figures", "claims", "report"), REPORTED),
}

Row = Arm | Method | Dataset | str | None


def settings_of(job: str, row: Row, config: Config) -> Identity:
    """Return all that a job follows from, by name: settings, and the defining columns of its row.

    `row` is what the job is about: an arm, method or data set, the name of a column or array, or
    None.
    """
    columns = definition(row) if type(row) in DEFINING else {}
    settings = chosen(config, _names(job, row, config))
    return columns | {name: value for name, value in settings.items() if not watches(name)}


def _names(job: str, row: Row, config: Config) -> list[str]:
    """Return the settings that a job follows from, and those that watch a run it follows from."""
    if job == "native standardize" and row in SPLITS:
        return list(TRAINING_ARRAY)
    names = [name.format(row=row) for name in JOBS[job].follows]
    if isinstance(row, Arm | Method) and JOBS[job].run:
        names += run_settings(row, config)
    if isinstance(row, Method) and job == "asr latency":
        timed = config["asr"]["timing"]["datasets"]
        names += [*model_of(row, config), *(f"asr.evaluate.{column}" for column in timed)]
    return names


class Declared(dict[str, Any]):
    """A section with the settings that a job declares; a look-up of another one fails."""

    def __init__(self, job: str, place: str = "") -> None:
        super().__init__()
        self.job, self.place = job, place

    def __missing__(self, key: str) -> NoReturn:
        raise KeyError(f"{self.place}{key} is not among what config/jobs.py says {self.job} reads")

    def get(self, key: str, default: Any = None) -> Any:
        """Do what a look-up does: a section has no optional settings."""
        return self[key]


def restrict(config: Config, job: str, row: Row = None) -> Config:
    """Return what a job sees of a config: what it follows from, reads besides, and its place."""
    names = [*_names(job, row, config), *JOBS[job].reads, *PLACE]
    seen = Declared(job)
    for name, value in chosen(config, names).items():
        *path, last = name.split(".")
        section = seen
        for key in path:
            section = section.setdefault(key, Declared(job, f"{section.place}{key}."))
        section[last] = value
    return seen


# --- code -----------------------------------------------------------------------------------------

IMPORT = re.compile(r"^ *from (\.+)([\w.]*) import (\([^)]*\)|.+)$", re.MULTILINE)
PACKAGE = Path(__file__).resolve().parents[1]


def code_of(job: str) -> list[str]:
    """Return the source files that a job follows from, from the checkout's top, sorted."""
    return sorted(str(Path("src", PACKAGE.name, f.relative_to(PACKAGE))) for f in _files(job))


def code_digest(job: str, own: Iterable[Path] = ()) -> str:
    """Return the digest (see `digest_of`) of the code that a job follows from.

    `own` are files besides those of the package, as that of an arm's own class.
    """
    return digest_of([*_files(job), *own])


def _files(job: str) -> set[Path]:
    found: set[Path] = set()
    for name in JOBS[job].code:
        _gather(PACKAGE / name, found)
    return found


def _gather(file: Path, found: set[Path]) -> None:
    """Add a file and, where it is of models/ or training/, what it imports from there."""
    found.add(file)
    if _room(file) in ROOMS:
        for path in _imports(file):
            if path not in found and _room(path) in ROOMS:
                _gather(path, found)


def _room(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0]


@cache
def _imports(file: Path) -> tuple[Path, ...]:
    """Return the files of the package that a module imports by relative imports."""
    found = []
    for dots, module, names in IMPORT.findall(file.read_text(encoding="utf-8")):
        base = file.parents[len(dots) - 1].joinpath(*module.split("."))
        modules = [base, *(base / name for name in re.findall(r"\w+", names))]
        found += [path for each in modules if (path := each.with_suffix(".py")).is_file()]
    return tuple(found)
