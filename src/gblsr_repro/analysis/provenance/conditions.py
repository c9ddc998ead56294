"""Gather the conditions that runs recorded, and those that the paper states."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ...config import Config, find_row, load_protocol, read_datasets, read_paper_device
from ...dependencies import collect_dependencies, identify_run
from ...metadata import Images, ReleasedOrigin, read_metadata
from ..schemas import (
    BICUBIC_GRID,
    GRID_FILE,
    LATENCY_FILES,
    RUN_FILE,
    SCHEMAS,
    expand_pattern,
    find_jobs,
    list_inputs,
)
from .differences import PAPER_PRESET, Scope, join_values

SCOPES = {  # the numbers that a provenance file is about
    "provenance_native": (Scope.QUALITY, Scope.LATENCY, Scope.COST),
    "provenance_native_ablation": (Scope.LOCALITY, Scope.ABLATION, Scope.COST),
    "provenance_asr": (Scope.ASR_QUALITY, Scope.ASR_COST),
    "provenance_asr_timing": (Scope.ASR_LATENCY,),
}
Json = Mapping[str, Any]
MetadataByFile = Mapping[str, Json]
"""The content of JSON files by their path below the results folder."""


@dataclass(frozen=True)
class ComparedSettings:
    """The dependencies of a run of an arm or method, and those that the paper's has, by name.

    An empty `subject` stands for what no run records: the settings of scores and times.
    """

    subject: str
    recorded: dict[str, Any]
    published: dict[str, Any]


@dataclass(frozen=True)
class RunConditions:
    """The recorded conditions of one benchmark's runs; what was not recorded is empty.

    `scopes`: the numbers that were measured. `settings`: the dependencies of each run. `passes` of
    a timing to warm up and timed. `seeds`, `timed_seeds`: trained and timed seeds by arm or method.
    `imported`: weights that were not trained here, by arm or method. `train`, `validation`,
    `evaluate`: image sets, the last by column. `devices`, `timed_on`: names of devices.
    `shared_gpu`: arms or methods timed while other processes used the GPU. `not_timed`: arm or
    method, clock, set and reason of absent times. `sizes_only`: blank images were timed.
    """

    benchmark: str
    preset: str = PAPER_PRESET
    scopes: Sequence[Scope] = ()
    settings: Sequence[ComparedSettings] = ()
    passes: Sequence[int] = ()
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


def read_inputs(name: str, results: Path, config: Config) -> MetadataByFile:
    """Read the metadata below `results` that a provenance file of `SCHEMAS` is made from."""
    arrays = ("train", "validation", *_list_columns(name, config))
    files = [f"{SCHEMAS[name].benchmark}/arrays/{array}.json" for array in arrays]
    files += [file for file in list_inputs(name, config) if file.endswith(".json")]
    return {file: read_metadata(results / file) for file in files if (results / file).is_file()}


def gather(name: str, metadata: MetadataByFile, config: Config) -> RunConditions:
    """Gather the conditions of runs from the metadata that a provenance file is made from."""
    benchmark = SCHEMAS[name].benchmark

    def select(pattern: str) -> list[Json]:
        if pattern not in SCHEMAS[name].inputs:
            return []
        files = expand_pattern(name, config, pattern)
        return [{**metadata[file], **fields} for fields, file in files if file in metadata]

    runs, timings = select(RUN_FILE), select(f"{LATENCY_FILES}.json")
    scored = [*select(f"{BICUBIC_GRID}.json"), *select(f"{GRID_FILE}.json")]
    columns = _list_columns(name, config)
    arrays = {
        array: _read_images(metadata[file])
        for array in ("train", "validation", *columns)
        if (file := f"{benchmark}/arrays/{array}.json") in metadata
    }
    evaluate = arrays
    if benchmark == "asr":  # what was timed, or scored at any scale; bicubic needs no training
        evaluate = {each["timed"]: _read_images(each) for each in timings if each.get("datasets")}
        evaluate |= {each["column"]: _read_images(each) for each in scored}
    trained = [run for run in runs if "released" not in run]
    measured = {"latency": timings, "quality": runs or scored, "cost": trained}
    every = [*runs, *timings]
    return RunConditions(
        benchmark=benchmark,
        preset=config["preset"],
        scopes=[scope for scope in SCOPES[name] if measured.get(scope.measure, runs)],
        settings=collect_settings([name], runs, config),
        passes=[config["latency"]["warmup"], config["latency"]["passes"]],
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


def _list_columns(name: str, config: Config) -> list[str]:
    """List the evaluation columns of a provenance file."""
    if SCHEMAS[name].benchmark == "native":
        return list(config["native"]["data"]["evaluate"])
    asr = config["asr"]
    return list(asr["evaluate"] if RUN_FILE in SCHEMAS[name].inputs else asr["timing"]["datasets"])


def _read_images(metadata: Json) -> list[Images]:
    return [Images.model_validate(images) for images in metadata.get("datasets", [])]


def _collect_seeds(runs: Iterable[Json]) -> dict[str, list[int]]:
    """Collect the seeds of every arm or method in ascending order, however the config has them."""
    found: dict[str, set[int]] = {}
    for metadata in runs:
        found.setdefault(metadata["subject"], set()).add(metadata["seed"])
    return {subject: sorted(seeds) for subject, seeds in found.items()}


def collect_settings(
    names: Collection[str], runs: Sequence[Json], config: Config
) -> list[ComparedSettings]:
    """Collect what the numbers of some provenance files depend on, here and in the paper.

    A run has recorded it. What no run records, such as the settings of metrics, is the config's.
    """
    settings = [_read_identity(run) for run in runs]
    of_runs = {name for each in settings for name in each.recorded | each.published}
    others = ComparedSettings("", {}, {})
    for job in find_jobs(names):
        published = collect_dependencies("aggregate", job, load_protocol())
        for name, value in collect_dependencies("aggregate", job, config).items():
            if name not in of_runs and ".training." not in name:
                others.recorded[name], others.published[name] = value, published.get(name)
    return [*settings, others]


def _read_identity(run: Json) -> ComparedSettings:
    """Read the dependencies of a run; of an imported run of this project the original ones."""
    subject, released = run["subject"], run.get("released") or {}
    identity = {**(run.get("identity") or {}), **(released.get("identity") or {})}
    imported = [subject] if released and released.get("identity") is None else []
    config = load_protocol() | {"released": dict.fromkeys(imported, "")}
    return ComparedSettings(subject, identity, identify_run(find_row(subject), config))


def _list_distinct(values: Iterable[Any]) -> list[Any]:
    """List the distinct values but for empty ones."""
    return [*dict.fromkeys(value for value in values if value)]


# --- the paper ------------------------------------------------------------------------------------


@cache
def read_paper(benchmark: str) -> RunConditions:
    """Return the conditions of the paper's numbers.

    The images are those of config/datasets.tsv; each run is compared with its own `Settings`.
    """
    config = load_protocol()
    data = config["native"]["data"] if benchmark == "native" else config["asr"]
    subjects = config["native"]["arms"] if benchmark == "native" else config["asr"]["methods"]
    seeds: list[int] = config["seeds"]
    return RunConditions(
        benchmark=benchmark,
        seeds=dict.fromkeys(subjects, seeds),
        train=_list_published_sets(data["train"]),
        evaluate={
            column: _list_published_sets([name]) for column, name in data["evaluate"].items()
        },
        devices=[read_paper_device()],
        timed_on=[read_paper_device()],
    )


def _list_published_sets(names: Iterable[str]) -> list[Images]:
    rows = [read_datasets()[name] for name in names]
    return [
        Images(dataset=row.dataset, title=row.title, images=row.images, complete=True)
        for row in rows
    ]
