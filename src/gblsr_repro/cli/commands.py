"""Declare commands: the name, the function, the help and the arguments of each, in one place.

`declare` names the function of the package that runs the command, "module:function", which is
imported when the command runs; the names of the options are those of its parameters. A text that it
returns is printed. What prepares or shows more than that stands under `@command`, gets the parsed
options, and its docstring is the command's help.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from .. import devices
from ..config import Config, find_arm, find_method, find_row, load
from ..wording import shorten

Options = argparse.Namespace


@dataclass(frozen=True)
class Argument:
    """An argument of commands: its names, and its settings as `add_argument` takes them.

    `place`: where in the results a path is that is left out. `exclusive`: of a command's arguments
    that are, at most one is given.
    """

    names: tuple[str, ...]
    settings: Mapping[str, Any]
    place: str | None = None
    exclusive: bool = False


@dataclass(frozen=True)
class Command:
    """A command: its name, with its group before it, its function, help and arguments.

    `uses_gpu`: it locks a GPU unless the config says device: cpu.
    """

    name: str
    function: str | Callable[[Options], None]
    text: str
    arguments: tuple[Argument, ...]
    uses_gpu: bool = False

    def execute(self, options: Options) -> None:
        """Run the command with its parsed options; print the text that its function returns."""
        if not isinstance(self.function, str):
            return self.function(options)
        result = find_function(self.function)(**vars(options))
        if isinstance(result, str):
            print(result)
        return None


COMMANDS: list[Command] = []  # in the order of their declarations


def find_function(name: str) -> Callable[..., Any]:
    """Find a function of the package by its name, "module:function"."""
    return resolve_name(f"gblsr_repro.{name}")


def declare(
    name: str, function: str, text: str, *arguments: Argument, uses_gpu: bool = False
) -> None:
    """Declare a command that calls a function of the package with its options."""
    COMMANDS.append(Command(name, function, text, arguments, uses_gpu))


def command(
    name: str, *arguments: Argument
) -> Callable[[Callable[[Options], None]], Callable[[Options], None]]:
    """Declare a command that runs the function below."""

    def add(function: Callable[[Options], None]) -> Callable[[Options], None]:
        COMMANDS.append(Command(name, function, function.__doc__ or "", arguments))
        return function

    return add


def argument(*names: str, **settings: Any) -> Argument:
    """Declare an argument, as `add_argument` does."""
    return Argument(names, settings)


def either(*arguments: Argument) -> tuple[Argument, ...]:
    """Declare options of which at most one is given."""
    return tuple(replace(argument, exclusive=True) for argument in arguments)


def path(name: str, metavar: str, text: str, required: bool = True, **settings: Any) -> Argument:
    """Declare an option that takes a path."""
    return argument(
        name, type=parse_path, metavar=metavar, help=text, required=required, **settings
    )


def path_in_results(name: str, place: str) -> Argument:
    """Declare an option that takes a path, by default a place in the results; "": their folder."""
    text = f"default: {place} in the results" if place else "default: the config's results"
    option = path(name, "FILE" if "." in place else "DIR", text, required=False)
    return Argument(option.names, option.settings, place)


def parse_path(text: str) -> Path:
    """Parse a path of the command line; refuse -, by which others mean standard output."""
    if text == "-":
        raise argparse.ArgumentTypeError(
            "this command does not write to standard output; name a file or a folder"
        )
    return Path(text)


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
    """Replace the names of config and rows by what they name, and fill in paths left out.

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
    if vars(options).get("row"):
        options.row = find_row(options.row)
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
