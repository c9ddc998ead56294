"""Run the commands of commands.tsv.

A row names the function of the package that runs the command, "module:function", which is imported
when the command runs, and the words of its arguments in `arguments`: the names of the options are
those of the function's parameters. A text that it returns is printed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from ..config import Config, TableRow, find_arm, find_method, find_row, load, read_table
from ..config.rows import Words
from .arguments import ARGUMENTS, Argument


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


def run_command(command: Command, options: dict[str, Any]) -> None:
    """Run a command with its parsed options; print the text that its function returns."""
    if "config" in options:
        fill_in(command, options)
    result = find_function(command.function)(**options)
    if isinstance(result, str):
        print(result)


def fill_in(command: Command, options: dict[str, Any]) -> None:
    """Fill in the config and rows that options name, and the paths that were left out.

    Locks a GPU for a command that uses one.
    """
    config = options["config"] = load_config(options)
    if command.uses_gpu and config["device"] != "cpu":
        from .. import devices

        devices.reserve_gpu()
    for name, find in {"arm": find_arm, "method": find_method, "row": find_row}.items():
        if options.get(name) is not None:
            options[name] = find(options[name])
    results = find_results(options) or Path(config["results"])
    for argument in command.list_arguments():
        name = argument.names[0].lstrip("-")
        if argument.place is not None and options[name] is None:
            options[name] = results / argument.place


def find_results(options: dict[str, Any]) -> Path | None:
    """Find the results folder that `--results` names, or the one around that of `--aggregates`."""
    aggregates = options.get("aggregates")
    return aggregates.parent if aggregates else options.get("results")


def load_config(options: dict[str, Any]) -> Config:
    """Load and merge the files that `--config` names.

    Without it, load the config that the workflow wrote into the results folder of `find_results`,
    else the checkout's own.
    """
    results = find_results(options)
    if not options["config"] and results and (results / "config.yaml").is_file():
        return load([results / "config.yaml"])
    return load(options["config"])
