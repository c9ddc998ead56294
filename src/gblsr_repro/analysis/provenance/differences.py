"""Reading aggregates/provenance_*.json: what was run, and in what it differs from the paper's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from ...errors import UserError
from ...files import read_json

BENCHMARKS = {"native": "Native benchmark", "asr": "Super-resolution"}
PAPER_PRESET = "paper"
SHARED_GPU = "timed on a shared GPU"


class Scope(StrEnum):
    """A kind of number, by what it depends on."""

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


@dataclass(frozen=True)
class Difference:
    """One thing that is not as in the paper.

    `short` says it in few words, `long` in more where there are any, with the paper's side.
    `scopes` are the numbers that it concerns, `subjects` the arms or methods and `columns` the
    evaluation columns (None: all). `blocks_verdict` says whether a number measured so says nothing
    about the paper's.
    """

    short: str
    long: str = ""
    scopes: tuple[Scope, ...] = ()
    subjects: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    blocks_verdict: bool = True

    @classmethod
    def parse(cls, record: Mapping[str, Any]) -> Difference:
        """Read one entry of a provenance file."""
        lists = {key: record[key] for key in ("subjects", "columns")}
        return cls(
            short=record["short"],
            long=record["long"],
            scopes=tuple(map(Scope, record["scopes"])),
            blocks_verdict=record["blocks_verdict"],
            **{key: None if value is None else tuple(value) for key, value in lists.items()},
        )

    def concerns(
        self, scope: Scope, subjects: Collection[str] | None, columns: Collection[str] | None
    ) -> bool:
        """Whether it concerns numbers of a scope, of any of the subjects and columns."""
        return (
            scope in self.scopes
            and _overlap(self.subjects, subjects)
            and _overlap(self.columns, columns)
        )


NOT_RECORDED = Difference(
    "conditions not recorded",
    "the conditions of this run (data, steps, seeds, device) are not recorded",
    tuple(Scope),
)


def _overlap(own: Collection[str] | None, asked: Collection[str] | None) -> bool:
    return own is None or asked is None or not {*own}.isdisjoint(asked)


@dataclass(frozen=True)
class Benchmark:
    """What one benchmark was run with.

    `seeds` are those trained, by arm or method; `timed_on` names of devices; `passes` how many of
    a timing warm up and how many count; `without_lpips` says why there is no LPIPS; `facts` are
    rows of a label, this run's side and the paper's.
    """

    seeds: Mapping[str, list[int]] = field(default_factory=dict)
    timed_on: list[str] = field(default_factory=list)
    passes: list[int] = field(default_factory=list)
    without_lpips: str = ""
    facts: list[list[str]] = field(default_factory=list)

    def joined(self, other: Benchmark) -> Benchmark:
        """Return what either knows; where both do, this one's."""
        labels = {label for label, *_ in self.facts}
        return Benchmark(
            self.seeds or other.seeds,
            self.timed_on or other.timed_on,
            self.passes or other.passes,
            self.without_lpips or other.without_lpips,
            [*self.facts, *(row for row in other.facts if row[0] not in labels)],
        )


@dataclass(frozen=True)
class Provenance:
    """What the files provenance_*.json of one run say; empty where there are none.

    `scopes` are the numbers whose conditions were compared with the paper's.
    """

    preset: str = ""
    scopes: tuple[Scope, ...] = ()
    every: tuple[Difference, ...] = ()
    benchmarks: Mapping[str, Benchmark] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(default_factory=dict)
    git: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_paper(cls) -> Provenance:
        """Return that of the paper's own numbers, which differs in nothing."""
        return cls(PAPER_PRESET, tuple(Scope))

    @classmethod
    def read(cls, aggregates: Path) -> Provenance:
        """Read and join the provenance_*.json files of an aggregates folder."""
        found = cls()
        for path in sorted(aggregates.glob("provenance_*.json")):
            try:
                found = found.joined(cls.parse(read_json(path)))
            except (KeyError, TypeError, ValueError) as error:
                raise UserError(
                    f"{path} is no provenance file of this version; make the aggregates again."
                ) from error
        return found

    @classmethod
    def parse(cls, record: Mapping[str, Any]) -> Provenance:
        """Read the content of one provenance file."""
        known = ("seeds", "timed_on", "passes", "without_lpips", "facts")
        return cls(
            preset=record["preset"],
            scopes=tuple(map(Scope, record["scopes"])),
            every=tuple(map(Difference.parse, record["differences"])),
            benchmarks={record["benchmark"]: Benchmark(**{key: record[key] for key in known})},
            versions=record["versions"],
            git=record["git"],
        )

    def joined(self, other: Provenance) -> Provenance:
        """Return what two files say together."""
        benchmarks = {**self.benchmarks}
        for name, more in other.benchmarks.items():
            benchmarks[name] = benchmarks[name].joined(more) if name in benchmarks else more
        return Provenance(
            self.preset or other.preset,
            (*self.scopes, *other.scopes),
            (*self.every, *other.every),
            benchmarks,
            join_values([self.versions, other.versions]),
            join_values([self.git, other.git]),
        )

    def benchmark(self, name: str) -> Benchmark:
        """Return what a benchmark was run with, empty where it was not."""
        return self.benchmarks.get(name) or Benchmark()

    def differences(
        self,
        scopes: Iterable[Scope],
        subjects: Collection[str] | None = None,
        columns: Collection[str] | None = None,
    ) -> list[Difference]:
        """Return in what numbers of some scopes differ from the paper's, each thing once.

        They are those of the first scope, then what the next ones add. `subjects` are the arms or
        methods that the numbers are of, `columns` the evaluation columns (default: all). A scope
        of which nothing is recorded is passed over, unless none of the scopes has a record.
        """
        asked = list(scopes)
        recorded = [scope for scope in asked if scope in self.scopes]
        found: dict[tuple[str, str], Difference] = {}
        for scope in recorded:
            for each in self.every:
                if each.concerns(scope, subjects, columns):
                    key = (each.short, each.long)
                    before = found[key].scopes if key in found else ()
                    found[key] = replace(each, scopes=tuple(dict.fromkeys(before + each.scopes)))
        return list(found.values()) if recorded or not asked else [NOT_RECORDED]


def join_values(maps: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return by key the distinct values, joined by commas; values may be so joined already."""
    values: dict[str, dict[str, Any]] = {}
    for key, value in (pair for each in maps for pair in each.items() if pair[1] is not None):
        parts = value.split(", ") if isinstance(value, str) else [value]
        values.setdefault(key, {}).update({str(part): part for part in parts})
    return {
        key: next(iter(known.values())) if len(known) == 1 else ", ".join(known)
        for key, known in values.items()
    }
