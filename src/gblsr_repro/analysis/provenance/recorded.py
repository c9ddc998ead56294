"""What the runs behind the numbers recorded, and what the paper says of its own runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ...config import Config, chosen, datasets, paper_device, protocol, within
from ...files import read_json
from .. import schemas
from ..schemas import BICUBIC_GRID, GRID, RUN, SCHEMAS, SCORES, TIMES
from .differences import PAPER_PRESET, Scope, join_values

SCOPES = {  # what the numbers are that a provenance file is about
    "provenance_native": (
        Scope.QUALITY,
        Scope.LOCALITY,
        Scope.ABLATION,
        Scope.LATENCY,
        Scope.COST,
    ),
    "provenance_asr": (Scope.ASR_QUALITY, Scope.ASR_COST),
    "provenance_asr_timing": (Scope.ASR_LATENCY,),
}
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

    @property
    def count(self) -> str:
        """How many images there are, and of how many where some are absent."""
        known = self.expected and not self.complete
        return f"{self.images:,} of {self.expected:,}" if known else f"{self.images:,}"


@dataclass(frozen=True)
class Recorded:
    """What the runs of one benchmark recorded. What is not known is empty.

    `scopes` are the numbers that were measured; `settings` hold the values that the runs had, by
    dotted name; `seeds` those trained and `timed_seeds` those timed, by arm or method; `evaluate`
    the image sets of every evaluation column; `devices` and `timed_on` names of devices; `passes`
    how many of a timing warm up and how many count; `shared_gpu` the arms or methods of which a
    time was taken while others used the GPU; `not_timed`, by arm or method, clock and timed set,
    why there is no time; `sizes_only` says whether images were timed blank; `without_lpips` why
    there is no LPIPS.
    """

    benchmark: str
    preset: str = PAPER_PRESET
    scopes: Sequence[Scope] = ()
    settings: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seeds: Mapping[str, Sequence[int]] = field(default_factory=dict)
    timed_seeds: Mapping[str, Sequence[int]] = field(default_factory=dict)
    train: Sequence[ImageSet] = ()
    validation: Sequence[ImageSet] = ()
    evaluate: Mapping[str, Sequence[ImageSet]] = field(default_factory=dict)
    devices: Sequence[str] = ()
    timed_on: Sequence[str] = ()
    passes: Sequence[int] = ()
    shared_gpu: Sequence[str] = ()
    not_timed: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    sizes_only: bool = False
    without_lpips: str = ""
    versions: Mapping[str, Any] = field(default_factory=dict)
    git: Mapping[str, Any] = field(default_factory=dict)


def gather(kind: str, results: Path, config: Config) -> Recorded:
    """Gather from the records under `results` what a provenance file of `SCHEMAS` is made from."""
    benchmark = SCHEMAS[kind].benchmark
    read = partial(_read, kind, results, config)
    runs, timings = [*read(RUN)], [*read(f"{TIMES}.json")]
    scored = [*read(f"{BICUBIC_GRID}.json"), *read(f"{GRID}.json")]
    columns = _columns(kind, config)
    arrays = _arrays(results / benchmark / "arrays", ["train", "validation", *columns])
    evaluate = arrays
    if benchmark == "asr":  # what was timed, or scored at any scale; bicubic needs no training
        sets = {each["timed"]: each["datasets"] for each in timings if each.get("datasets")}
        sets |= {each["column"]: each["datasets"] for each in scored}
        evaluate = {column: _image_sets(found) for column, found in sets.items()}
    measured = {"latency": timings, "quality": runs or scored}
    every = [*runs, *timings]
    return Recorded(
        benchmark=benchmark,
        preset=config["preset"],
        scopes=[scope for scope in SCOPES[kind] if measured.get(scope.measure, runs)],
        settings=_settings(config, benchmark, runs),
        seeds=_seeds(runs),
        timed_seeds=_seeds(timings),
        train=arrays.get("train", ()),
        validation=arrays.get("validation", ()) if benchmark == "native" else (),
        evaluate={column: evaluate.get(column, ()) for column in columns},
        devices=_distinct((run.get("device") or {}).get("name") for run in runs),
        timed_on=_distinct((t.get("device") or t).get("name") for t in timings),
        passes=[config["latency"]["warmup"], config["latency"]["passes"]] if timings else (),
        shared_gpu=_distinct(t["subject"] for t in timings if t.get("gpu_shared")),
        not_timed=_not_timed(timings),
        sizes_only=benchmark == "asr" and any(each.get("sizes_only") for each in timings),
        # One arm without LPIPS leaves a dash somewhere, so its reason is the one to tell.
        without_lpips=next(filter(None, map(_without_lpips, read(f"{SCORES}.json"))), ""),
        versions=join_values(each.get("versions") or {} for each in every),
        git=join_values(each.get("git") or {} for each in every),
    )


def _read(kind: str, results: Path, config: Config, pattern: str) -> Iterator[Json]:
    """Read the records by a pattern, if the kind is made from it, with the pattern's fields."""
    if pattern in SCHEMAS[kind].inputs:
        for fields, path in schemas.find_files(kind, results, config, pattern):
            yield read_json(path) | fields


def _columns(kind: str, config: Config) -> list[str]:
    """Return the evaluation columns that a kind's numbers are of."""
    if SCHEMAS[kind].benchmark == "native":
        return list(config["native"]["data"]["evaluate"])
    asr = config["asr"]
    return list(asr["evaluate"] if RUN in SCHEMAS[kind].inputs else asr["timing"]["datasets"])


def _arrays(folder: Path, names: Iterable[str]) -> dict[str, list[ImageSet]]:
    paths = [path for name in names if (path := folder / f"{name}.json").is_file()]
    return {path.stem: _image_sets(read_json(path)["datasets"]) for path in paths}


def _image_sets(records: Iterable[Json]) -> list[ImageSet]:
    return TypeAdapter(list[ImageSet]).validate_python(records)


def _seeds(records: Iterable[Json]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for record in records:
        seeds = found.setdefault(record["subject"], [])
        if record["seed"] not in seeds:
            seeds.append(record["seed"])
    return found


def _not_timed(timings: Iterable[Json]) -> dict[str, dict[str, dict[str, str]]]:
    """Return by arm or method, clock and timed set why there is no time."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for timing in timings:
        for clock, reason in (timing.get("not_timed") or {}).items():
            of_clock = found.setdefault(timing["subject"], {}).setdefault(clock, {})
            of_clock[timing["timed"]] = reason
    return found


def _without_lpips(record: Json) -> str:
    lpips = record.get("lpips") or {"measured": True}
    return "" if lpips.get("measured") else lpips.get("reason") or "the reason is not recorded"


def _settings(config: Config, benchmark: str, runs: Sequence[Json]) -> dict[str, list[Any]]:
    """Return the values of the settings of a benchmark: those of its runs, else the config's.

    Training that did not happen has none, and what none of the runs looks up, as another encoder's
    sizes, is the config's.
    """
    names = [
        name for part in (benchmark, "latency", "diagnostics") for name in within(config, part)
    ]
    training = f"{benchmark}.training."
    found = {k: [v] for k, v in chosen(config, names).items() if not k.startswith(training)}
    if not runs:
        return found
    trained = [run.get("identity") or {} for run in runs]
    for name in names:
        of_run = name.startswith((f"{benchmark}.model.", training))
        if of_run or any(name in run for run in trained):
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


# --- the paper's ----------------------------------------------------------------------------------


@cache
def of_paper(benchmark: str) -> Recorded:
    """Return what the paper's numbers were measured under.

    The settings are those of config/paper/protocol.yaml, the images those of config/datasets.tsv.
    """
    config = protocol()
    native = benchmark == "native"
    data = config["native"]["data"] if native else config["asr"]
    subjects = config["native"]["arms"] if native else config["asr"]["methods"]
    training = chosen(config, [f"{benchmark}.training"])
    every: list[int] = config["seeds"]
    kinds_of_it = (kind for kind in SCOPES if SCHEMAS[kind].benchmark == benchmark)
    return Recorded(
        benchmark=benchmark,
        scopes=[*chain.from_iterable(SCOPES[kind] for kind in kinds_of_it)],
        settings=_settings(config, benchmark, ()) | {k: [v] for k, v in training.items()},
        seeds=dict.fromkeys(subjects, every),
        timed_seeds=dict.fromkeys(subjects, every),
        train=_published(data["train"]),
        validation=_published(data["train"]) if native else (),
        evaluate={column: _published([name]) for column, name in data["evaluate"].items()},
        devices=[paper_device()],
        timed_on=[paper_device()],
        passes=[config["latency"]["warmup"], config["latency"]["passes"]],
    )


def _published(names: Iterable[str]) -> list[ImageSet]:
    rows = [datasets()[name] for name in names]
    return [ImageSet(r.dataset, r.title, int(r.images), int(r.images), True) for r in rows]
