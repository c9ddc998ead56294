"""Gather the conditions that runs recorded, and those that the paper states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from ...config import Config, load_protocol, read_datasets, read_paper_device
from ...dependencies import list_settings, select_settings
from ...records import Images, ReleasedOrigin, read_record
from .. import schemas
from ..schemas import BICUBIC_GRID, GRID, RUN, SCHEMAS, TIMES
from .differences import PAPER_PRESET, Scope, join_values

SCOPES = {  # the numbers that a provenance file is about
    "provenance_native": (Scope.QUALITY, Scope.LATENCY, Scope.COST),
    "provenance_native_ablation": (Scope.LOCALITY, Scope.ABLATION, Scope.COST),
    "provenance_asr": (Scope.ASR_QUALITY, Scope.ASR_COST),
    "provenance_asr_timing": (Scope.ASR_LATENCY,),
}
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Recorded:
    """The recorded conditions of one benchmark's runs; what was not recorded is empty.

    `scopes`: the numbers that were measured. `settings`: the values of the runs by dotted name.
    `seeds`, `timed_seeds`: trained and timed seeds by arm or method. `imported`: weights that were
    not trained here, by arm or method. `train`, `validation`, `evaluate`: image sets, the last by
    column. `devices`, `timed_on`: names of devices. `shared_gpu`: arms or methods timed while other
    processes used the GPU. `not_timed`: arm or method, clock, set and reason of absent times.
    `sizes_only`: blank images were timed.
    """

    benchmark: str
    preset: str = PAPER_PRESET
    scopes: Sequence[Scope] = ()
    settings: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seeds: Mapping[str, Sequence[int]] = field(default_factory=dict)
    timed_seeds: Mapping[str, Sequence[int]] = field(default_factory=dict)
    imported: Mapping[str, ReleasedOrigin] = field(default_factory=dict)
    train: Sequence[Images] = ()
    validation: Sequence[Images] = ()
    evaluate: Mapping[str, Sequence[Images]] = field(default_factory=dict)
    devices: Sequence[str] = ()
    timed_on: Sequence[str] = ()
    shared_gpu: Sequence[str] = ()
    not_timed: Sequence[tuple[str, str, str, str]] = ()
    sizes_only: bool = False
    versions: Mapping[str, Any] = field(default_factory=dict)
    git: Mapping[str, Any] = field(default_factory=dict)


def gather(name: str, results: Path, config: Config) -> Recorded:
    """Gather the records below `results` that a provenance file of `SCHEMAS` is made from."""
    benchmark = SCHEMAS[name].benchmark
    read = partial(_read, name, results, config)
    runs, timings = [*read(RUN)], [*read(f"{TIMES}.json")]
    scored = [*read(f"{BICUBIC_GRID}.json"), *read(f"{GRID}.json")]
    columns = _list_columns(name, config)
    folder = results / benchmark / "arrays"
    paths = [folder / f"{name}.json" for name in ("train", "validation", *columns)]
    arrays = {path.stem: _read_images(read_record(path)) for path in paths if path.is_file()}
    evaluate = arrays
    if benchmark == "asr":  # what was timed, or scored at any scale; bicubic needs no training
        evaluate = {each["timed"]: _read_images(each) for each in timings if each.get("datasets")}
        evaluate |= {each["column"]: _read_images(each) for each in scored}
    trained = [run for run in runs if "released" not in run]
    measured = {"latency": timings, "quality": runs or scored, "cost": trained}
    every = [*runs, *timings]
    return Recorded(
        benchmark=benchmark,
        preset=config["preset"],
        scopes=[scope for scope in SCOPES[name] if measured.get(scope.measure, runs)],
        settings=_collect_settings(config, benchmark, runs),
        seeds=_collect_seeds(runs),
        timed_seeds=_collect_seeds(timings),
        imported={
            run["subject"]: ReleasedOrigin.model_validate(run["released"])
            for run in runs
            if "released" in run
        },
        train=arrays.get("train", ()),
        validation=arrays.get("validation", ()) if benchmark == "native" else (),
        evaluate={column: evaluate.get(column, ()) for column in columns},
        devices=_list_distinct((run.get("device") or {}).get("name") for run in trained),
        timed_on=_list_distinct((t.get("device") or t).get("name") for t in timings),
        shared_gpu=_list_distinct(t["subject"] for t in timings if t.get("gpu_shared")),
        not_timed=_list_distinct(
            (each["subject"], clock, each["timed"], reason)
            for each in timings
            for clock, reason in (each.get("not_timed") or {}).items()
        ),
        sizes_only=benchmark == "asr" and any(each.get("sizes_only") for each in timings),
        versions=join_values(each.get("versions") or {} for each in every),
        git=join_values(each.get("git") or {} for each in every),
    )


def _read(name: str, results: Path, config: Config, pattern: str) -> Iterator[Json]:
    """Read the records of a pattern with its fields, if the file is made from that pattern."""
    if pattern in SCHEMAS[name].inputs:
        for fields, path in schemas.find_files(name, results, config, pattern):
            yield read_record(path) | fields


def _list_columns(name: str, config: Config) -> list[str]:
    """List the evaluation columns of a provenance file."""
    if SCHEMAS[name].benchmark == "native":
        return list(config["native"]["data"]["evaluate"])
    asr = config["asr"]
    return list(asr["evaluate"] if RUN in SCHEMAS[name].inputs else asr["timing"]["datasets"])


def _read_images(record: Json) -> list[Images]:
    return [Images.model_validate(images) for images in record.get("datasets", [])]


def _collect_seeds(records: Iterable[Json]) -> dict[str, list[int]]:
    """Collect the seeds of every arm or method in ascending order, however the config has them."""
    found: dict[str, set[int]] = {}
    for record in records:
        found.setdefault(record["subject"], set()).add(record["seed"])
    return {subject: sorted(seeds) for subject, seeds in found.items()}


def _collect_settings(config: Config, benchmark: str, runs: Sequence[Json]) -> dict[str, list[Any]]:
    """Collect the values of a benchmark's settings: those of its runs, else the config's.

    Without runs, training settings have no values. A setting that no run reads, such as the size
    of another encoder, has the config's.
    """
    names = [
        name
        for part in (benchmark, "latency", "diagnostics")
        for name in list_settings(config, part)
    ]
    training = f"{benchmark}.training."
    found = {
        k: [v] for k, v in select_settings(config, names).items() if not k.startswith(training)
    }
    if not runs:
        return found
    identities = [_read_identity(run) for run in runs]
    for name in names:
        of_run = name.startswith((f"{benchmark}.model.", training))
        if of_run or any(name in run for run in identities):
            known = _list_distinct((run[name] for run in identities if name in run), empty=True)
            # A run without an identity makes its settings unknown.
            found[name] = (known or found.get(name, [])) if all(identities) else []
    return found


def _read_identity(run: Json) -> Json:
    """Read the dependencies of a run; of an imported run of this project the original ones."""
    identity = run.get("identity") or {}
    return {**identity, **((run.get("released") or {}).get("identity") or {})}


def _list_distinct(values: Iterable[Any], empty: bool = False) -> list[Any]:
    """Return the distinct values, which need not be hashable; empty ones only with `empty`."""
    found: list[Any] = []
    for value in values:
        if value not in found and (value or empty):
            found.append(value)
    return found


# --- the paper ------------------------------------------------------------------------------------


@cache
def read_paper(benchmark: str) -> Recorded:
    """Return the conditions of the paper's numbers.

    The settings are those of config/paper/protocol.yaml, the images those of config/datasets.tsv.
    """
    config = load_protocol()
    native = benchmark == "native"
    data = config["native"]["data"] if native else config["asr"]
    subjects = config["native"]["arms"] if native else config["asr"]["methods"]
    training = select_settings(config, [f"{benchmark}.training"])
    seeds: list[int] = config["seeds"]
    files = (name for name in SCOPES if SCHEMAS[name].benchmark == benchmark)
    return Recorded(
        benchmark=benchmark,
        scopes=[*chain.from_iterable(SCOPES[name] for name in files)],
        settings=_collect_settings(config, benchmark, ()) | {k: [v] for k, v in training.items()},
        seeds=dict.fromkeys(subjects, seeds),
        timed_seeds=dict.fromkeys(subjects, seeds),
        train=_list_published_sets(data["train"]),
        validation=_list_published_sets(data["train"]) if native else (),
        evaluate={
            column: _list_published_sets([name]) for column, name in data["evaluate"].items()
        },
        devices=[read_paper_device()],
        timed_on=[read_paper_device()],
    )


def _list_published_sets(names: Iterable[str]) -> list[Images]:
    return [
        Images(
            dataset=name,
            title=read_datasets()[name].title,
            images=read_datasets()[name].images,
            complete=True,
        )
        for name in names
    ]
