"""What several commands declare and read in the same way."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..config import Config

Options = argparse.Namespace
Commands = Any
"""What `add_subparsers` returns; argparse keeps the name of its class to itself."""


def add_command(
    commands: Commands, name: str, execute: Callable[[Options], None]
) -> argparse.ArgumentParser:
    """Add a command that runs `execute`, whose docstring is the command's help."""
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=execute.__doc__, description=execute.__doc__
    )
    command.set_defaults(execute=execute)
    return command


def add_group(commands: Commands, name: str, text: str) -> Commands:
    """Add a word that commands of one benchmark follow, and return where those are added."""
    group = commands.add_parser(name, help=text, description=text)
    return group.add_subparsers(title="verbs", metavar="VERB", required=True)


def add_path(
    command: argparse.ArgumentParser,
    name: str,
    metavar: str,
    text: str | None = None,
    required: bool = True,
) -> None:
    """Add an option that takes a path."""
    command.add_argument(name, type=Path, metavar=metavar, required=required, help=text)


def add_config(command: argparse.ArgumentParser) -> None:
    """Add `--config` to a command that reads the configuration."""
    command.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="FILE",
        help="config file; repeat to lay one over another (default: the one that the named "
        "results were made with, else config/config.yaml)",
    )


def load_config(options: Options) -> Config:
    """Load the files that `--config` names, laid one over another.

    Where it names none, the config that the workflow left in the results folder that the options
    name (or that holds the aggregates that they name), else the checkout's config/config.yaml.
    """
    from ..config import load

    named = vars(options)
    results = named.get("results")
    if named.get("aggregates"):
        results = named["aggregates"].parent
    if not options.config and results and (results / "config.json").is_file():
        return load([results / "config.json"])
    return load(options.config)


def find_results(options: Options, config: Config) -> Path:
    """Return the folder that `--results` names, else the config's."""
    return vars(options).get("results") or Path(config["results"])
