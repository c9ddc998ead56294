"""Collect the claims of all topics, in the order of claims.csv."""

from __future__ import annotations

from importlib import import_module

from .registry import CLAIMS

TOPICS = (  # the modules that register claims when they are imported
    "native_quality",
    "native_tables",
    "cost",
    "family",
    "structure",
    "diagnostics",
    "superres_quality",
    "speed",
    "variants",
    "compute",
)

for topic in TOPICS:
    import_module(f"{__package__}.{topic}")

__all__ = ["CLAIMS"]
