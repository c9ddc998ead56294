"""Declare commands: the name, the arguments and the function of each, in one place.

`@command("native train", CONFIG, ARM, ...)` stands over the function that runs the command; its
docstring is the command's help. The function gets the parsed options, whose names are those of the
parameters of the function of the package that it calls.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import devices
from ..config import Config, find_arm, find_method, load
from ..wording import shorten

Options = argparse.Namespace


@dataclass(frozen=True)
class Argument:
    """An argument of commands: its names, and its settings as `add_argument` takes them.

    `place`: where in the results a path is that is left out.
    """

    names: tuple[str, ...]
    settings: Mapping[str, Any]
    place: str | None = None


@dataclass(frozen=True)
class Command:
    """A command: its name, with its group before it, its function and its arguments.

    `uses_gpu`: it locks a GPU unless the config says device: cpu.
    """

    name: str
    execute: Callable[[Options], None]
    arguments: tuple[Argument, ...]
    uses_gpu: bool


COMMANDS: list[Command] = []  # in the order of their declarations


def command(
    name: str, *arguments: Argument, uses_gpu: bool = False
) -> Callable[[Callable[[Options], None]], Callable[[Options], None]]:
    """Declare a command that runs the function below."""

    def declare(execute: Callable[[Options], None]) -> Callable[[Options], None]:
        COMMANDS.append(Command(name, execute, arguments, uses_gpu))
        return execute

    return declare


def argument(*names: str, **settings: Any) -> Argument:
    """Declare an argument, as `add_argument` does."""
    return Argument(names, settings)


def path(name: str, metavar: str, text: str, required: bool = True, **settings: Any) -> Argument:
    """Declare an option that takes a path."""
    return argument(name, type=Path, metavar=metavar, help=text, required=required, **settings)


def path_in_results(name: str, place: str) -> Argument:
    """Declare an option that takes a path, by default a place in the results; "": their folder."""
    text = f"default: {place} in the results" if place else "default: the config's results"
    option = path(name, "FILE" if "." in place else "DIR", text, required=False)
    return Argument(option.names, option.settings, place)


def parse_seed(text: str) -> int:
    """Parse a seed of the command line, from 0 to 4294967295."""
    if not re.fullmatch(r"\d{1,10}", text, re.ASCII) or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(
            f"a seed is a whole number from 0 to 4294967295, not {shorten(text)}"
        )
    return int(text)


CONFIG = argument(
    "--config",
    action="append",
    default=[],
    metavar="FILE",
    help="config file, laid over config/config.yaml and the paper's settings; repeat to merge "
    "several, later ones over earlier ones (default: that of the results, where a command names "
    "some)",
)


def read_options(command: Command, options: Options) -> Options:
    """Replace the names of config, arm and method by what they name, and fill in paths left out.

    Locks a GPU for a command that uses one.
    """
    if "config" not in options:
        return options
    config = options.config = load_config(options)
    if command.uses_gpu and config["device"] != "cpu":
        devices.reserve_gpu()
    if "arm" in options:
        options.arm = find_arm(options.arm)
    if "method" in options:
        options.method = find_method(options.method)
    results = vars(options).get("results") or Path(config["results"])
    for argument in command.arguments:
        name = argument.names[0].lstrip("-")
        if argument.place is not None and getattr(options, name) is None:
            setattr(options, name, results / argument.place)
    return options


def load_config(options: Options) -> Config:
    """Load and merge the files that `--config` names.

    Without it, load the config that the workflow wrote into the results folder of `--results` or
    `--aggregates`, else the checkout's own.
    """
    named = vars(options)
    results = named.get("results")
    if named.get("aggregates"):
        results = named["aggregates"].parent
    if not options.config and results and (results / "config.yaml").is_file():
        return load([results / "config.yaml"])
    return load(options.config)
