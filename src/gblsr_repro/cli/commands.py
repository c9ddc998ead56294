"""Run the commands of commands.tsv.

A row names the function of the package that runs the command, "module:function", which is imported
when the command runs, and the words of its arguments in `arguments`: the names of the options are
those of the function's parameters. A text that it returns is printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from ..config import Config, TableRow, find_arm, find_method, find_row, load, read_table
from ..config.rows import Words
from .arguments import ARGUMENTS, Argument

Options = argparse.Namespace


class Command(TableRow):
    """A row of commands.tsv: its name, with its group before it, function, arguments and help.

    `uses_gpu`: it locks a GPU unless the config says device: cpu.
    """

    command: str
    function: str
    arguments: Words
    uses_gpu: bool = False
    text: str

    def list_arguments(self) -> list[Argument]:
        """List the arguments of the command."""
        return [ARGUMENTS[word] for word in self.arguments]


COMMANDS = read_table(Path(__file__).with_name("commands.tsv"), Command, "command").values()


def find_function(name: str) -> Callable[..., Any]:
    """Find a function of the package by its name, "module:function"."""
    return resolve_name(f"gblsr_repro.{name}")


def run_command(command: Command, options: Options) -> None:
    """Run a command with its parsed options; print the text that its function returns."""
    result = find_function(command.function)(**vars(read_options(command, options)))
    if isinstance(result, str):
        print(result)


def read_options(command: Command, options: Options) -> Options:
    """Replace the names of config and rows by what they name, and fill in paths left out.

    Locks a GPU for a command that uses one.
    """
    if "config" not in options:
        return options
    config = options.config = load_config(options)
    if command.uses_gpu and config["device"] != "cpu":
        from .. import devices

        devices.reserve_gpu()
    if "arm" in options:
        options.arm = find_arm(options.arm)
    if "method" in options:
        options.method = find_method(options.method)
    if vars(options).get("row"):
        options.row = find_row(options.row)
    results = vars(options).get("results") or Path(config["results"])
    for argument in command.list_arguments():
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
