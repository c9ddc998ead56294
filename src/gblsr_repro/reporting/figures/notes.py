"""The small note inside a figure: in what the run differs from the paper's, in few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...config import protocol
from ..captions import PAPER_DEVICE
from .needs import Need


def note(conditions: Mapping[str, Any], need: Need) -> str:
    """Return the note for a figure that draws on `need`; empty for the paper's own run.

    `conditions` is the record of what was run (see `reporting.conditions`); the paper's side is
    config/config.yaml of the checkout. The caption tells the same at length.
    """
    found = [preset] if (preset := _preset(conditions)) else []
    for half in need.recorded(conditions):
        if half in conditions:
            found += _training(conditions[half], half) if need.trained else []
            found += _data(conditions[half], need)
            found += _timing(conditions[half]) if need.timed else []
        else:
            found.append("conditions of the run not recorded")
    return " · ".join(dict.fromkeys(found))


def _preset(conditions: Mapping[str, Any]) -> str:
    preset = conditions.get("preset", "paper")
    return "" if preset == "paper" else f"not the paper's run: preset {preset}"


def _training(record: Mapping[str, Any], half: str) -> list[str]:
    paper = protocol()
    found = []
    steps, published = record.get("steps"), paper[half]["training"]["steps"]
    if steps not in (None, published):
        low, high = (min(steps), max(steps)) if isinstance(steps, list) else (steps, steps)
        span = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        found.append(f"{span} of {published:,} steps")
    seeds = record.get("seeds")
    if seeds and seeds != paper["seeds"]:
        found.append(f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''}")
    return found


def _data(record: Mapping[str, Any], need: Need) -> list[str]:
    sets = record.get("validation" if need.validation else "evaluate") or {}
    shown = [
        e
        for records in (sets.values() if isinstance(sets, dict) else [sets])
        for e in _each(records)
    ]
    shown += _each(record.get("train")) if need.trained else []
    if any(entry.get("stands_in_for") for entry in shown):
        return ["stand-in images"]
    if any(entry.get("complete") is False for entry in shown):
        return ["incomplete image sets"]
    return []


def _each(records: Any) -> list[Mapping[str, Any]]:
    listed = records if isinstance(records, list) else [records]
    return [record for record in listed if isinstance(record, Mapping)]


def _timing(record: Mapping[str, Any]) -> list[str]:
    devices = record.get("latency_devices") or []
    found = []
    if set(devices) - {PAPER_DEVICE}:
        found.append(f"timed on {' and '.join(devices)}")
    if record.get("latency_shared"):
        found.append("timed on a shared GPU")
    if record.get("timed_sizes_only"):
        found.append("timed on blank images of the sets' sizes")
    return found
