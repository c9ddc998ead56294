"""Gather the conditions that runs recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...config import Config
from ...metadata import Images, ReleasedOrigin, read_metadata
from ..schemas import (
    BICUBIC_GRID,
    GRID_FILE,
    LATENCY_FILES,
    RUN_FILE,
    SCHEMAS,
    expand_pattern,
    list_inputs,
)
from .differences import PAPER_PRESET, Scope
from .settings import ComparedSettings, Json, collect_seeds, collect_settings

SCOPES = {  # the numbers that a provenance file is about
    "provenance_native": (Scope.QUALITY, Scope.LATENCY, Scope.COST),
    "provenance_native_ablation": (Scope.LOCALITY, Scope.ABLATION, Scope.COST),
    "provenance_asr": (Scope.ASR_QUALITY, Scope.ASR_COST),
    "provenance_asr_timing": (Scope.ASR_LATENCY,),
}
MetadataByFile = Mapping[str, Json]
"""The content of JSON files by their path below the results folder."""


@dataclass(frozen=True)
class RunConditions:
    """The recorded conditions of one benchmark's runs; what was not recorded is empty.

    `scopes`: the numbers that were measured. `passes` of a timing to warm up and timed. `seeds`:
    those of the weights, by arm or method. `imported`: weights that were not trained here, by arm
    or method. `train`, `validation`, `evaluate`: image sets, the last by column. `devices`,
    `timed_on`: names of devices. `shared_gpu`: arms or methods timed while other processes used the
    GPU. `not_timed`: arm or method, clock, set and reason of absent times. `sizes_only`: blank
    images were timed. `versions`, `git`: the distinct values of each entry.
    """

    benchmark: str
    preset: str = PAPER_PRESET
    scopes: Sequence[Scope] = ()
    settings: Sequence[ComparedSettings] = ()
    passes: tuple[int, int] = (0, 0)
    seeds: Mapping[str, Sequence[int]] = field(default_factory=dict)
    imported: Mapping[str, ReleasedOrigin] = field(default_factory=dict)
    train: Sequence[Images] = ()
    validation: Sequence[Images] = ()
    evaluate: Mapping[str, Sequence[Images]] = field(default_factory=dict)
    devices: Sequence[str] = ()
    timed_on: Sequence[str] = ()
    shared_gpu: Sequence[str] = ()
    not_timed: Sequence[tuple[str, str, str, str]] = ()
    sizes_only: bool = False
    versions: dict[str, list[Any]] = field(default_factory=dict)
    git: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def foreign(self) -> list[str]:
        """The arms or methods with weights of others, whose training is not recorded."""
        return [name for name, weights in self.imported.items() if weights.identity is None]

    def select_scopes(self, *measures: str) -> tuple[Scope, ...]:
        """Select the measured numbers of some measures."""
        return tuple(scope for scope in self.scopes if scope.measure in measures)


def read_inputs(name: str, results: Path, config: Config) -> MetadataByFile:
    """Read the metadata below `results` that a provenance file of `SCHEMAS` is made from."""
    arrays = ("train", "validation", *_list_columns(name, config))
    files = [f"{SCHEMAS[name].benchmark}/arrays/{array}.json" for array in arrays]
    files += [file for file in list_inputs(name, config) if file.endswith(".json")]
    return {file: read_metadata(results / file) for file in files if (results / file).is_file()}


def gather(name: str, metadata: MetadataByFile, config: Config) -> RunConditions:
    """Gather the conditions of runs from the metadata that a provenance file is made from."""
    benchmark, columns = SCHEMAS[name].benchmark, _list_columns(name, config)

    def select(pattern: str) -> list[Json]:
        if pattern not in SCHEMAS[name].inputs:
            return []
        files = expand_pattern(name, config, pattern)
        return [{**metadata[file], **fields} for fields, file in files if file in metadata]

    def read_array(array: str) -> list[Images]:
        return _read_images(metadata.get(f"{benchmark}/arrays/{array}.json", {}))

    runs, timings = select(RUN_FILE), select(f"{LATENCY_FILES}.json")
    scored = [*select(f"{BICUBIC_GRID}.json"), *select(f"{GRID_FILE}.json")]
    if benchmark == "native":
        evaluate = {column: read_array(column) for column in columns}
    else:  # what was timed, or scored at any scale
        measured_on = {each["dataset"]: _read_images(each) for each in [*timings, *scored]}
        evaluate = {column: measured_on.get(column, []) for column in columns}
    trained = [run for run in runs if "released" not in run]
    measured = {"latency": timings, "quality": runs or scored, "cost": trained}
    scopes = [scope for scope in SCOPES[name] if measured.get(scope.measure, runs)]
    return RunConditions(
        benchmark=benchmark,
        preset=config["preset"],
        scopes=scopes,
        settings=collect_settings(scopes, runs, timings, config),
        passes=(config["latency"]["warmup"], config["latency"]["passes"]),
        seeds=collect_seeds(runs),
        imported={
            run["subject"]: ReleasedOrigin.model_validate(run["released"])
            for run in runs
            if "released" in run
        },
        train=read_array("train"),
        validation=read_array("validation") if benchmark == "native" else (),
        evaluate=evaluate,
        devices=_list_distinct((run.get("device") or {}).get("name") for run in trained),
        timed_on=_list_distinct((t.get("device") or t).get("name") for t in timings),
        shared_gpu=_list_distinct(t["subject"] for t in timings if t.get("gpu_shared")),
        not_timed=_list_distinct(
            (each["subject"], clock, each["timed"], reason)
            for each in timings
            for clock, reason in (each.get("not_timed") or {}).items()
        ),
        sizes_only=benchmark == "asr" and any(each.get("sizes_only") for each in timings),
        versions=_collect_values(each.get("versions") for each in [*runs, *timings]),
        git=_collect_values(each.get("git") for each in [*runs, *timings]),
    )


def _list_columns(name: str, config: Config) -> list[str]:
    """List the evaluation columns of a provenance file."""
    if SCHEMAS[name].benchmark == "native":
        return list(config["native"]["data"]["evaluate"])
    asr = config["asr"]
    return list(asr["evaluate"] if RUN_FILE in SCHEMAS[name].inputs else asr["timing"]["datasets"])


def _read_images(metadata: Json) -> list[Images]:
    return [Images.model_validate(images) for images in metadata.get("datasets", [])]


def _collect_values(maps: Iterable[Json | None]) -> dict[str, list[Any]]:
    """Collect the distinct values of every key of some maps."""
    pairs = [pair for each in maps for pair in (each or {}).items() if pair[1] is not None]
    return {key: _list_distinct([v for k, v in pairs if k == key]) for key, _ in pairs}


def _list_distinct(values: Iterable[Any]) -> list[Any]:
    """List the distinct values but for None and empty ones."""
    return [*dict.fromkeys(value for value in values if value not in (None, ""))]
