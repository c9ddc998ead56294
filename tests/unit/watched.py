"""A config that notes the settings that are looked up in it."""

from __future__ import annotations

from collections.abc import Mapping

from gblsr_repro.dependencies import collect


class Watched(dict):
    """A config that notes the names of the settings that are looked up in it."""

    def __init__(self, content: Mapping, seen: set[str], place: str = "") -> None:
        super().__init__(
            {
                key: Watched(value, seen, f"{place}{key}.")
                if isinstance(value, dict) and f"{place}{key}" not in collect.MAPS
                else value
                for key, value in content.items()
            }
        )
        self.seen, self.place = seen, place

    def __getitem__(self, key: str) -> object:
        value = super().__getitem__(key)
        if not isinstance(value, Watched):
            self.seen.add(f"{self.place}{key}")
        return value

    def __iter__(self):
        return iter(list(super().keys()))

    def __or__(self, other: dict) -> Watched:
        made = Watched({key: dict.__getitem__(self, key) for key in self}, self.seen, self.place)
        made.update(other)
        return made

    def get(self, key: str, default: object = None) -> object:
        return self[key] if dict.__contains__(self, key) else default

    def keys(self):
        return list(self)

    def items(self):
        return [(key, self[key]) for key in self]

    def values(self):
        return [self[key] for key in self]
