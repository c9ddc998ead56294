"""Subcommands of the data room, and what is checked before any training."""

from __future__ import annotations

import argparse
from typing import Any

from .options import command, config_of, path


def register(commands: Any) -> None:
    """Add this room's subcommands."""
    command(
        commands,
        "fetch",
        _fetch,
        ("dataset", {"metavar": "DATASET", "help": "row of config/datasets.tsv"}),
        path("output", "CSV", "copy of the manifest to write", required=False),
    )
    command(commands, "check", _check)
    command(commands, "sources", _sources)


def _fetch(options: argparse.Namespace) -> None:
    """Download a data set or find it in the mirror, and verify it."""
    from ..data.datasets import dataset_row
    from ..data.fetch import fetch
    from ..files import write_text

    manifest = fetch(options.dataset, config_of(options, dataset_row(options.dataset)))
    if options.output:
        write_text(options.output, manifest.read_text(encoding="utf-8"))


def _sources(options: argparse.Namespace) -> None:
    """List the data sets: where they are, how complete."""
    from ..data.list import list_sources

    print("\n".join(list_sources(config_of(options))))


def _check(options: argparse.Namespace) -> None:
    """Check before any training: parameter budget, LPIPS at hand."""
    from ..preflight import check

    check(config_of(options))
