"""Read the metadata that a provenance file is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ...config import Config, Scope
from ...dependencies import RELEASED
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

SCOPES = {  # the numbers that a provenance file is about
    "provenance_native": (Scope.QUALITY, Scope.LATENCY, Scope.COST),
    "provenance_native_ablation": (Scope.LOCALITY, Scope.ABLATION, Scope.COST),
    "provenance_asr": (Scope.ASR_QUALITY, Scope.ASR_COST),
    "provenance_asr_timing": (Scope.ASR_LATENCY,),
}
Json = Mapping[str, Any]
MetadataByFile = Mapping[str, Json]
"""The content of JSON files by their path below the results folder."""


def read_inputs(name: str, results: Path, config: Config) -> MetadataByFile:
    """Read the metadata below `results` that a provenance file of `SCHEMAS` is made from."""
    benchmark = SCHEMAS[name].benchmark
    evaluated = config["native"]["data"]["evaluate"] if benchmark == "native" else ()
    files = [f"{benchmark}/arrays/{array}.json" for array in ("train", "validation", *evaluated)]
    files += [file for file in list_inputs(name, config) if file.endswith(".json")]
    return {file: read_metadata(results / file) for file in files if (results / file).is_file()}


class RunMetadata:
    """The metadata of runs, timings and scores that a provenance file is made from.

    Each has the fields of its path. `trained` are the runs without those imported, `scopes` the
    numbers that were measured.
    """

    def __init__(self, name: str, files: MetadataByFile, config: Config) -> None:
        self.name, self.config, self._files = name, config, files
        self.benchmark = SCHEMAS[name].benchmark
        self.runs = self._select(RUN_FILE)
        self.timings = self._select(f"{LATENCY_FILES}.json")
        self.scores = [*self._select(f"{BICUBIC_GRID}.json"), *self._select(f"{GRID_FILE}.json")]
        self.trained = [run for run in self.runs if RELEASED not in run]
        measured = {
            "latency": self.timings,
            "quality": self.runs or self.scores,
            "cost": self.trained,
        }
        self.scopes = [each for each in SCOPES[name] if measured.get(each.measure, self.runs)]

    def _select(self, pattern: str) -> list[Json]:
        if pattern not in SCHEMAS[self.name].inputs:
            return []
        files = expand_pattern(self.name, self.config, pattern)
        return [{**self._files[file], **fields} for fields, file in files if file in self._files]

    def select_scopes(self, *measures: str) -> tuple[Scope, ...]:
        """Select the measured numbers of some measures."""
        return tuple(scope for scope in self.scopes if scope.measure in measures)

    @cached_property
    def imported(self) -> dict[str, ReleasedOrigin]:
        """The weights that were not trained here, by arm or method."""
        runs = (run for run in self.runs if RELEASED in run)
        return {run["subject"]: ReleasedOrigin.model_validate(run[RELEASED]) for run in runs}

    @property
    def foreign(self) -> list[str]:
        """The arms or methods with weights of others, whose training is not recorded."""
        return [name for name, weights in self.imported.items() if weights.identity is None]

    def read_array(self, array: str) -> list[Images]:
        """Read the image sets of a standardized array; none where they were not recorded."""
        return _read_images(self._files.get(f"{self.benchmark}/arrays/{array}.json", {}))

    def read_evaluated(self) -> dict[str, list[Images]]:
        """Read the image sets of every column: in super-resolution of all scores or timings.

        One column has several where its runs are of different images, as in a record.
        """
        if self.benchmark == "native":
            columns = self.config["native"]["data"]["evaluate"]
            return {column: self.read_array(column) for column in columns}
        found: dict[str, list[Images]] = {}
        for measured in [*self.timings, *self.scores]:
            known = found.setdefault(measured["dataset"], [])
            known += [images for images in _read_images(measured) if images not in known]
        return found


def _read_images(metadata: Json) -> list[Images]:
    return [Images.model_validate(images) for images in metadata.get("datasets", [])]


def collect_seeds(runs: Iterable[Json]) -> dict[str, list[int]]:
    """Collect the seeds of every arm or method in ascending order, however the config has them."""
    found: dict[str, set[int]] = {}
    for metadata in runs:
        found.setdefault(metadata["subject"], set()).add(metadata["seed"])
    return {subject: sorted(seeds) for subject, seeds in found.items()}


def list_devices(metadata: Iterable[Json]) -> list[str]:
    """List the names of the devices of trainings or timings, each once."""
    names = ((each.get("device") or {}).get("name") or "not recorded" for each in metadata)
    return [*dict.fromkeys(names)]
