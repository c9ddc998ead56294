"""What the numbers of a results folder were measured under: data, settings, seeds, devices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ..config import Config, chosen, datasets, merge, paper_device, protocol, within
from ..files import read_json, write_json
from . import kinds
from .kinds import BICUBIC_GRID, GRID, KINDS, RUN, SCORES, TIMES

HALVES = {"native": "Native benchmark", "asr": "Super-resolution"}
CONDITIONS = tuple(name for name in KINDS if name.startswith("conditions"))
Json = Mapping[str, Any]


@dataclass(frozen=True)
class ImageSet:
    """A data set as a job read it; `stands_in_for` names the one it replaces, if any."""

    dataset: str
    title: str
    images: int
    expected: int | None = None
    complete: bool = False
    stands_in_for: str | None = None


@dataclass(frozen=True)
class Half:
    """One benchmark of a run. What is not known is empty.

    `settings` holds the values that its runs had, by dotted name; `seeds` those trained, by arm or
    method; `evaluate` the image sets by column; `devices` and `timed_on` the names of devices;
    `shared_gpu` the arms or methods of which a time was taken while others used the GPU;
    `not_timed`, by arm or method, clock and timed set, why there is no time;
    `sizes_only` says whether images were timed blank; `without_lpips` why there is no LPIPS.
    """

    settings: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seeds: Mapping[str, Sequence[int]] = field(default_factory=dict)
    train: Sequence[ImageSet] = ()
    validation: Sequence[ImageSet] = ()
    evaluate: Mapping[str, Sequence[ImageSet]] = field(default_factory=dict)
    devices: Sequence[str] = ()
    timed_on: Sequence[str] = ()
    shared_gpu: Sequence[str] = ()
    not_timed: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    sizes_only: bool = False
    without_lpips: str = ""

    @property
    def all_seeds(self) -> list[int]:
        """Every seed that any arm or method was trained with."""
        return sorted({seed for seeds in self.seeds.values() for seed in seeds})


@dataclass(frozen=True)
class Conditions:
    """Conditions of a run, or of the paper; a half that was not run is None."""

    preset: str = ""
    native: Half | None = None
    asr: Half | None = None
    versions: Mapping[str, Any] = field(default_factory=dict)
    git: Mapping[str, Any] = field(default_factory=dict)

    def half(self, name: str) -> Half | None:
        """Return the half of that name."""
        return self.native if name == "native" else self.asr

    @classmethod
    def read(cls, aggregates: Path) -> Conditions:
        """Merge the conditions*.json files of an aggregates folder; empty when there is none.

        What trained runs say of a half goes before what its timing says.
        """
        records = [read_json(path) for path in sorted(aggregates.glob("conditions*.json"))]
        merged: dict[str, Any] = {}
        for record in records:
            merged = merge(record, merged)
        for name in ("versions", "git"):
            merged[name] = joined(record.get(name) or {} for record in records)
        return TypeAdapter(cls).validate_python(merged)


def _image_sets(records: Iterable[Json]) -> list[ImageSet]:
    return TypeAdapter(list[ImageSet]).validate_python(records)


def write(name: str, results: Path, config: Config, output: Path) -> None:
    """Write the conditions of a kind of `KINDS`, from the records under `results`, as JSON."""
    record = asdict(collect(results, config, [name]))
    for half in HALVES:
        record[half] = {k: v for k, v in (record[half] or {}).items() if v}
    write_json(output, {key: value for key, value in record.items() if value})


def collect(results: Path, config: Config, names: Sequence[str] = CONDITIONS) -> Conditions:
    """Gather what the named kinds of conditions are made from; native are the main tables' arms.

    A half without runs, timings and scores is None. Where runs differ, versions and git hold their
    distinct values, joined by commas.
    """
    found: dict[str, Half | None] = {}
    every: list[Json] = []
    for half in HALVES:
        patterns = {p for name in names if (kind := KINDS[name]).half == half for p in kind.inputs}
        records = partial(_records, results, config, half, patterns)
        runs = [*records(RUN)]
        found[half] = _collect(results, config, half, runs, records)
        every += [*runs, *records(f"{TIMES}.json")]
    versions, git = (joined(run.get(key) or {} for run in every) for key in ("versions", "git"))
    return Conditions(config["preset"], versions=versions, git=git, **found)


def _collect(
    results: Path,
    config: Config,
    half: str,
    runs: Sequence[Json],
    records: Callable[[str], Iterator[Json]],
) -> Half | None:
    native = half == "native"
    columns = list((config["native"]["data"] if native else config["asr"])["evaluate"])
    made = (
        results / half / "arrays" / f"{name}.json" for name in ("train", "validation", *columns)
    )
    arrays = {p.stem: _image_sets(read_json(p)["datasets"]) for p in made if p.is_file()}
    timings = [*records(f"{TIMES}.json")]
    if native:
        evaluate = {column: arrays[column] for column in columns if column in arrays}
    else:  # what was timed, or scored at any scale; the bicubic row needs no training
        sets = {k: v for timing in timings for k, v in timing.get("datasets", {}).items()}
        scored = chain(records(f"{BICUBIC_GRID}.json"), records(f"{GRID}.json"))
        sets |= {record["column"]: record["datasets"] for record in scored}
        evaluate = {column: _image_sets(sets[column]) for column in columns if column in sets}
    if not runs and not timings and (native or not evaluate):
        return None
    seeds: dict[str, list[int]] = {}
    for run in runs:
        seeds.setdefault(run["subject"], []).append(run["seed"])
    return Half(
        settings=_settings(config, half, runs),
        seeds=seeds,
        train=arrays.get("train", ()),
        validation=arrays.get("validation", ()) if native else (),
        evaluate=evaluate,
        devices=_distinct((run.get("device") or {}).get("name") for run in runs),
        timed_on=_distinct((t.get("device") or t).get("name") for t in timings),
        shared_gpu=_distinct(t["subject"] for t in timings if t.get("gpu_shared")),
        not_timed={t["subject"]: t["not_timed"] for t in timings if t.get("not_timed")},
        sizes_only=not native and any(timing.get("sizes_only") for timing in timings),
        # One arm without LPIPS leaves a dash somewhere, so its reason is the one to tell.
        without_lpips=next(filter(None, map(_without_lpips, records(f"{SCORES}.json"))), ""),
    )


def _without_lpips(record: Json) -> str:
    told = record.get("lpips") or {"measured": True}
    return "" if told.get("measured") else told.get("reason") or "the reason is not recorded"


def _records(
    results: Path, config: Config, half: str, patterns: Collection[str], pattern: str
) -> Iterator[Json]:
    """Read what the runs of a half left by one of `patterns`, with the pattern's fields."""
    if pattern in patterns:
        for fields, path in kinds.found(f"conditions_{half}", results, config, pattern):
            yield read_json(path) | fields


def _settings(config: Config, half: str, runs: Sequence[Json]) -> dict[str, list[Any]]:
    """Return the values of the settings of a half: those of its runs, else those of the config.

    Training that did not happen has none, and what none of the runs looks up, as another encoder's
    sizes, is the config's.
    """
    sections = (half, "latency", "diagnostics")
    wanted = [name for section in sections for name in within(config, section)]
    training = f"{half}.training."
    found = {k: [v] for k, v in chosen(config, wanted).items() if not k.startswith(training)}
    if not runs:
        return found
    trained = [run.get("identity") or {} for run in runs]
    for name in wanted:
        if name.startswith((f"{half}.model.", training)) or any(name in run for run in trained):
            known = _distinct((run[name] for run in trained if name in run), empty=True)
            # A run that does not say what it follows from makes all of that unknown.
            found[name] = (known or found.get(name, [])) if all(trained) else []
    return found


def _distinct(values: Iterable[Any], empty: bool = False) -> list[Any]:
    """Return values that may not be hashable, each once, those that say nothing only if asked."""
    found: list[Any] = []
    for value in values:
        if value not in found and (value or empty):
            found.append(value)
    return found


def joined(maps: Iterable[Json]) -> dict[str, Any]:
    """Return by key the distinct values, joined by commas; values may be so joined already."""
    values: dict[str, list[Any]] = {}
    for key, value in (pair for record in maps for pair in record.items() if pair[1] is not None):
        parts = value.split(", ") if isinstance(value, str) else [value]
        values[key] = _distinct([*values.get(key, []), *parts], empty=True)
    return {k: v[0] if len(v) == 1 else ", ".join(map(str, v)) for k, v in values.items()}


# --- the paper's ----------------------------------------------------------------------------------


@cache
def of_paper() -> Conditions:
    """Return what the paper's numbers were measured under.

    The settings are those of config/paper/protocol.yaml, the images those of config/datasets.tsv.
    """
    config = protocol()
    device = paper_device()
    native, asr = config["native"]["data"], config["asr"]
    seeds: list[int] = config["seeds"]
    native_half, asr_half = (
        Half(
            settings=_settings(config, name, ())
            | {k: [v] for k, v in chosen(config, [f"{name}.training"]).items()},
            seeds=dict.fromkeys(config[name][rows], seeds),
            train=_published(data["train"]),
            validation=_published(data["train"]) if name == "native" else (),
            evaluate={column: _published([row]) for column, row in data["evaluate"].items()},
            devices=[device],
            timed_on=[device],
        )
        for name, data, rows in (("native", native, "arms"), ("asr", asr, "methods"))
    )
    return Conditions(config["preset"], native_half, asr_half)


def _published(names: Iterable[str]) -> list[ImageSet]:
    rows = [datasets()[name] for name in names]
    return [ImageSet(r.dataset, r.title, int(r.images), int(r.images), True) for r in rows]
