"""Keep the JSON files of runs, scores and timings that provenance is made from, in one file.

provenance.json has them by setup and by their path below the results folder, one line each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..analysis.provenance.conditions import SCOPES, read_inputs
from ..config import Config, drop_folder
from ..dependencies import RELEASED
from ..files import read_json_map, write_text

PROVENANCE_FILE = "provenance.json"
# What the identity of a run says, or what is about files that are not kept.
LEFT_OUT = ("config", "depends_on")

Sources = dict[str, dict[str, Any]]
"""By setup: the content of JSON files by their path below the results folder."""


def collect_sources(results: Path, config: Config) -> dict[str, Any]:
    """Collect the JSON files below `results` by path."""
    return {
        file: _shorten(record)
        for name in SCOPES
        for file, record in read_inputs(name, results, config).items()
    }


def _shorten(content: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what the file has elsewhere, and where released weights lay on one machine."""
    kept = {key: value for key, value in content.items() if key not in LEFT_OUT}
    if RELEASED in kept:
        identity = kept.get("identity") or {}
        named = {row: drop_folder(place) for row, place in identity.get(RELEASED, {}).items()}
        kept["identity"] = identity | {RELEASED: named}
        kept[RELEASED] = kept[RELEASED] | {"address": drop_folder(kept[RELEASED]["address"])}
    return kept


def read_sources(folder: Path) -> Sources:
    """Read the JSON files that a record keeps."""
    path = folder / PROVENANCE_FILE
    return read_json_map(path) if path.is_file() else {}


def merge_sources(folder: Path, setup: str, collected: Mapping[str, Any]) -> None:
    """Add JSON files to those that a record keeps, one line each; one of the same path leaves."""
    sources = read_sources(folder)
    sources[setup] = dict(sorted({**sources.get(setup, {}), **collected}.items()))
    maps = []
    for name, files in sources.items():
        lines = [f"{_format_json(path)}: {_format_json(files[path])}" for path in files]
        maps.append(f"{_format_json(name)}: {{\n" + ",\n".join(lines) + "\n}")
    write_text(folder / PROVENANCE_FILE, "{\n" + ",\n".join(maps) + "\n}\n")


def _format_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
