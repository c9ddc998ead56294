"""Read aggregates/provenance_*.json: what was run, and how it differs from the paper."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ConfigDict, TypeAdapter

from ...errors import UserError
from ...files import read_json

BENCHMARKS = {"native": "Native benchmark", "asr": "Super-resolution"}
PAPER_PRESET, RELEASED_PRESET = "paper", "released"
DEVICE, SHARED_GPU = "device", "latency.shared_gpu"  # names of differences


class Scope(StrEnum):
    """A group of numbers that depend on the same conditions."""

    STRUCTURE = "structure"
    QUALITY = "quality"
    LOCALITY = "locality"
    ABLATION = "ablation"
    LATENCY = "latency"
    COST = "cost"
    ASR_QUALITY = "asr_quality"
    ASR_LATENCY = "asr_latency"
    ASR_COST = "asr_cost"

    @property
    def benchmark(self) -> str:
        """The benchmark: native or asr."""
        return "asr" if self.startswith("asr") else "native"

    @property
    def measure(self) -> str:
        """The scope without its benchmark."""
        return self.removeprefix("asr_")


class Effect(StrEnum):
    """What a difference makes of the verdict on a number.

    Where it `BLOCKS`, the number cannot be compared with the paper's; where it `QUALIFIES`, the
    verdict names it.
    """

    BLOCKS = "blocks"
    QUALIFIES = "qualifies"
    NONE = "none"


@dataclass(frozen=True)
class Difference:
    """A condition of a run that differs from the paper's.

    `name` is dotted, that of a setting where it is one, and `sentence` states the condition with
    the paper's. `scopes` are the numbers that it concerns, `subjects` the arms or methods and
    `columns` the evaluation columns (None: all).
    """

    name: str
    sentence: str
    scopes: tuple[Scope, ...] = ()
    effect: Effect = Effect.BLOCKS
    subjects: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def concerns(
        self, scope: Scope, subjects: Collection[str] | None, columns: Collection[str] | None
    ) -> bool:
        """Return whether it concerns numbers of a scope, of any of the subjects and columns."""
        return (
            scope in self.scopes
            and _overlap(self.subjects, subjects)
            and _overlap(self.columns, columns)
        )


NOT_RECORDED = Difference("run", "conditions not recorded", tuple(Scope))


def _overlap(names: Collection[str] | None, others: Collection[str] | None) -> bool:
    return names is None or others is None or not {*names}.isdisjoint(others)


@dataclass(frozen=True)
class Benchmark:
    """The conditions of one benchmark's runs.

    `seeds` trained by arm or method; `timed_on`, names of devices; `passes` of a timing to warm up
    and timed; `facts` by label, this run's side and the paper's.
    """

    seeds: Mapping[str, Sequence[int]] = field(default_factory=dict)
    timed_on: Sequence[str] = ()
    passes: Sequence[int] = ()
    facts: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def merge(self, other: Benchmark) -> Benchmark:
        """Merge the conditions of two jobs; where both have a value, this one's counts."""
        return Benchmark(
            {**other.seeds, **self.seeds},
            self.timed_on or other.timed_on,
            self.passes or other.passes,
            {**self.facts, **other.facts, **self.facts},
        )


@dataclass(frozen=True)
class Provenance:
    """The content of a file provenance_*.json, or of all those of one run.

    `scopes` are the numbers whose conditions were compared with the paper's.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    preset: str = ""
    scopes: tuple[Scope, ...] = ()
    differences: tuple[Difference, ...] = ()
    benchmarks: Mapping[str, Benchmark] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(default_factory=dict)
    git: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def paper(cls) -> Provenance:
        """Return the provenance of the paper's numbers, without a difference."""
        return cls(PAPER_PRESET, tuple(Scope))

    @classmethod
    def read(cls, aggregates: Path) -> Provenance:
        """Read and merge the provenance_*.json files of an aggregates folder."""
        parts = []
        for path in sorted(aggregates.glob("provenance_*.json")):
            try:
                parts.append(CONTENT.validate_python(read_json(path)))
            except ValueError as error:
                raise UserError(
                    f"{path} is no provenance file of this version; make the aggregates again."
                ) from error
        return cls.join(parts)

    @classmethod
    def join(cls, parts: Iterable[Provenance]) -> Provenance:
        """Join the contents of several files."""
        return functools.reduce(cls.merge, parts, cls())

    def merge(self, other: Provenance) -> Provenance:
        """Merge the contents of two files."""
        benchmarks = {**self.benchmarks}
        for name, more in other.benchmarks.items():
            benchmarks[name] = benchmarks[name].merge(more) if name in benchmarks else more
        return Provenance(
            self.preset or other.preset,
            (*self.scopes, *other.scopes),
            (*self.differences, *other.differences),
            benchmarks,
            join_values([self.versions, other.versions]),
            join_values([self.git, other.git]),
        )

    def benchmark(self, name: str) -> Benchmark:
        """Return the conditions of a benchmark's runs, empty where it was not run."""
        return self.benchmarks.get(name) or Benchmark()

    def find_differences(
        self,
        scopes: Iterable[Scope],
        subjects: Collection[str] | None = None,
        columns: Collection[str] | None = None,
    ) -> list[Difference]:
        """Find the differences that concern numbers of some scopes, each once.

        Those of the first scope come first, then what the next scopes add. `subjects` are the arms
        or methods of the numbers, `columns` their evaluation columns (default: all). A scope
        without recorded conditions is skipped, unless all of them lack these.
        """
        scopes = list(scopes)
        recorded = [scope for scope in scopes if scope in self.scopes]
        merged: dict[tuple[str, str], Difference] = {}
        for scope in recorded:
            for difference in self.differences:
                if difference.concerns(scope, subjects, columns):
                    key = (difference.name, difference.sentence)
                    before = merged[key].scopes if key in merged else ()
                    united = tuple(dict.fromkeys(before + difference.scopes))
                    merged[key] = replace(difference, scopes=united)
        return list(merged.values()) if recorded or not scopes else [NOT_RECORDED]


CONTENT = TypeAdapter(Provenance)


def join_values(maps: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Join the distinct values of every key by commas; values may be such joins themselves."""
    values: dict[str, dict[str, Any]] = {}
    for key, value in (pair for each in maps for pair in each.items() if pair[1] is not None):
        parts = value.split(", ") if isinstance(value, str) else [value]
        values.setdefault(key, {}).update({str(part): part for part in parts})
    return {
        key: next(iter(distinct.values())) if len(distinct) == 1 else ", ".join(distinct)
        for key, distinct in values.items()
    }
