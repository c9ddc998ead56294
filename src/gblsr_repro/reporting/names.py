"""Name data sets, arms, methods and devices, and put them in order, as tables and figures do."""

from __future__ import annotations

from collections.abc import Iterable

from ..analysis.reader import Aggregates
from ..config import OWN, Method, get_dataset_title, list_methods
from ..wording import join_words


def name_dataset(source: Aggregates, benchmark: str, column: str) -> str:
    """Return the heading of an evaluation column of "native" or "asr"."""
    section = source.config["native"]["data"] if benchmark == "native" else source.config["asr"]
    return get_dataset_title(section["evaluate"].get(column, column))


def name_subject(source: Aggregates, key: str) -> str:
    """Return the name of an arm or method in figures.

    The family has full names; native baselines have short ones, since captions say how they were
    rebuilt.
    """
    if key in source.methods:
        return source.methods[key].name
    if key in source.arms:
        arm = source.arms[key]
        return arm.name if arm.group in ("family", "ablation") else arm.short
    return key.capitalize()


def format_device(source: Aggregates, benchmark: str) -> str:
    """Format the device of timings for an axis, " on <device>"; empty where not recorded."""
    devices = source.provenance.timed_on.get(benchmark)
    return f" on {join_words(devices)}" if devices else ""


def select_methods(source: Aggregates, *groups: str) -> dict[str, Method]:
    """Select the methods of the config whose group is one of `groups`."""
    methods = list_methods(source.config)
    return {name: method for name, method in methods.items() if method.group in groups}


def select_compared_methods(source: Aggregates) -> dict[str, Method]:
    """Select the methods whose quality is compared: the variants where the config has no others."""
    return select_methods(source, "baseline", "base", OWN) or list_methods(source.config)


def sort_by_order(keys: Iterable[str], order: Iterable[str]) -> list[str]:
    """Sort distinct keys as in `order`; keys that are not in it follow as they came."""
    unique = list(dict.fromkeys(keys))
    first = [key for key in order if key in unique]
    return first + [key for key in unique if key not in first]
