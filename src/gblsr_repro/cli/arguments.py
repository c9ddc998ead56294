"""Arguments that several commands declare, and the config and folders that they name."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..config import Config, load
from ..wording import shorten

Options = argparse.Namespace
Commands = Any
"""The return value of `add_subparsers`, whose class argparse does not publish."""


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
    """Add a command with subcommands; return the object to which those are added."""
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


def add_seed(command: argparse.ArgumentParser, text: str) -> None:
    """Add `--seed`, a seed that every generator takes."""
    command.add_argument("--seed", type=parse_seed, required=True, help=text)


def parse_seed(text: str) -> int:
    """Parse a seed of the command line, from 0 to 4294967295."""
    if not re.fullmatch(r"\d{1,10}", text, re.ASCII) or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(
            f"a seed is a whole number from 0 to 4294967295, not {shorten(text)}"
        )
    return int(text)


def add_config(command: argparse.ArgumentParser) -> None:
    """Add `--config` to a command that reads the configuration."""
    command.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="FILE",
        help="config file; repeat to merge several, later ones over earlier ones (default: that of "
        "the results, where a command names some, else config/config.yaml)",
    )


def load_config(options: Options) -> Config:
    """Load and merge the files that `--config` names.

    Without it, load the config that the workflow wrote into the results folder of `--results` or
    `--aggregates`, else the checkout's config/config.yaml.
    """
    named = vars(options)
    results = named.get("results")
    if named.get("aggregates"):
        results = named["aggregates"].parent
    if not options.config and results and (results / "config.yaml").is_file():
        return load([results / "config.yaml"])
    return load(options.config)


def find_results(options: Options, config: Config) -> Path:
    """Find the results folder: that of `--results`, else the config's."""
    return vars(options).get("results") or Path(config["results"])
