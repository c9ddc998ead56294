"""Read aggregates/provenance_*.json: what was run, and how it differs from the paper."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ...config import Scope
from ...errors import UserError
from ...files import read_json_map

BENCHMARKS = {"native": "Native benchmark", "asr": "Super-resolution"}
PAPER_PRESET, RELEASED_PRESET = "paper", "released"
DEVICE, SHARED_GPU = "device", "shared GPU"  # names of differences


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

    `name` is that of the setting where it is one, and `sentence` states the condition with the
    paper's. `scopes` are the numbers that it concerns, `subjects` the arms or methods and `columns`
    the evaluation columns (None: all).
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


class Provenance(BaseModel):
    """The content of a file provenance_*.json, or of all those of one run.

    `scopes` are the numbers whose conditions were compared with the paper's. `seeds` are those of
    the weights, by benchmark and arm or method; `timed_on` names devices by benchmark; `warmup` and
    `passes` are those of a timing. `remarks` say, after a label, where imported weights come from
    and why a number is absent. `versions` of packages.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    preset: str = ""
    scopes: tuple[Scope, ...] = ()
    differences: tuple[Difference, ...] = ()
    seeds: dict[str, dict[str, list[int]]] = {}
    timed_on: dict[str, list[str]] = {}
    warmup: int = 0
    passes: int = 0
    remarks: tuple[tuple[str, str], ...] = ()
    versions: dict[str, list[str]] = {}

    @classmethod
    def paper(cls) -> Provenance:
        """Return the provenance of the paper's numbers, without a difference."""
        return cls(preset=PAPER_PRESET, scopes=tuple(Scope))

    @classmethod
    def read(cls, paths: Iterable[Path]) -> Provenance:
        """Read and join those of some provenance_*.json files that exist, ordered by name."""
        parts = []
        for path in sorted(filter(Path.is_file, paths)):
            try:
                parts.append(cls.model_validate(read_json_map(path)))
            except ValueError as error:
                raise UserError(
                    f"{path} is no provenance file of this version; make the aggregates again."
                ) from error
        return cls.join(parts)

    @classmethod
    def join(cls, parts: Iterable[Provenance]) -> Provenance:
        """Join the contents of several files; where two have a value, the first one's counts."""
        contents = (part.model_dump(mode="json") for part in parts)
        return cls.model_validate(reduce(_join, contents, {}))

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
        merged: dict[str, Difference] = {}
        for scope in recorded:
            for difference in self.differences:
                if difference.concerns(scope, subjects, columns):
                    before = merged.get(difference.sentence, difference).scopes
                    united = tuple(dict.fromkeys(before + difference.scopes))
                    merged[difference.sentence] = replace(difference, scopes=united)
        return list(merged.values()) if recorded or not scopes else [NOT_RECORDED]


def _join(one: Any, other: Any) -> Any:
    """Join two JSON values: maps by key, lists without repetition; else the first counts."""
    if isinstance(one, dict):
        return one | {
            key: _join(one[key], value) if key in one else value for key, value in other.items()
        }
    if isinstance(one, list):
        return one + [value for value in other if value not in one]
    return one
