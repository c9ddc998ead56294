"""Declare commands: the name, the function, the help and the arguments of each.

commands.tsv has a row for every command. It names the function of the package that runs it,
"module:function", which is imported when the command runs, and words of `ARGUMENTS`: the names of
the options are those of the function's parameters. A text that it returns is printed. Commands for
images stand under `@command`, and get the parsed options.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from .. import devices
from ..config import Config, TableRow, find_arm, find_method, find_row, load, read_table
from ..config.rows import Words
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


def find_function(name: str) -> Callable[..., Any]:
    """Find a function of the package by its name, "module:function"."""
    return resolve_name(f"gblsr_repro.{name}")


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
ARGUMENTS = {
    "config": CONFIG,
    "dataset": argument(
        "dataset", metavar="DATASET", help="name in the first column of config/datasets.tsv"
    ),
    "arm": argument("--arm", required=True, help="row of config/arms.tsv"),
    "method": argument("--method", required=True, help="row of config/methods.tsv"),
    "seed": argument(
        "--seed", type=parse_seed, required=True, help="seed of initialization and shuffling"
    ),
    "run": path("--run", "DIR", "folder of a trained run"),
    "runs": path("--runs", "RUN", "run folders of trained arms or methods", nargs="+"),
    "array": path("--array", "NPY", "training array"),
    "validation": path("--array", "NPY", "validation array"),
    "arrays": path("--arrays", "DIR", "folder of the arrays and of the thresholds of the regions"),
    "thresholds": path("--regions", "JSON", "thresholds of the regions", dest="thresholds"),
    "crops": argument(
        "names",
        nargs="+",
        metavar="NAME",
        help="train, validation or a column of native.data.evaluate",
    ),
    "only_sets": argument(
        "--only",
        nargs="+",
        default=[],
        metavar="SET",
        help="score these sets only (default: all evaluation sets and the validation split)",
    ),
    # What a job writes, and from what it goes on when it was stopped.
    "manifest": path("--output", "CSV", "write a copy of the manifest to this file", False),
    "new_folder": path("--output", "DIR", "folder to write"),
    "new_array": path("--output", "NPY", "array to write"),
    "new_json": path("--output", "JSON", "file to write"),
    "state": path("--state", "PT", "state from which an interrupted run resumes"),
    "kept": path(
        "--state",
        "DIR",
        "folder in which finished images are kept, from which a stopped job goes on",
    ),
    # Weights that others trained.
    "address": argument(
        "address", metavar="PATH", help="file, folder or hub address (hf://OWNER/NAME/FOLDER)"
    ),
    "row": argument(
        "--as",
        dest="row",
        metavar="ROW",
        help="row of config/arms.tsv or config/methods.tsv (default: that in config/released.tsv)",
    ),
    "colors": argument(
        "--colors",
        choices=("normalized", "unit"),
        help="range of colors of a super-resolution network (default: that in config/released.tsv)",
    ),
    "overwrite": argument(
        "--overwrite", action="store_true", help="replace a run in the folder that is another"
    ),
    # What is made of a run.
    "aggregated": argument(
        "names", nargs="+", metavar="NAME", help="name of an aggregate: native, asr_quality, ..."
    ),
    "results": path_in_results("--results", ""),
    "aggregates": path_in_results("--aggregates", "aggregates"),
    "claims": path_in_results("--claims", "claims.csv"),
    "into_results": path_in_results("--output", ""),
    "into_aggregates": path_in_results("--output", "aggregates"),
    "page": path_in_results("--output", "report.html"),
    "document": path_in_results("--output", "report.pdf"),
    "only_items": argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="only these items; an error if one cannot be made",
    ),
    "record": path("--output", "DIR", "the record, such as docs/record: a new folder or an old"),
    "setup": argument(
        "--setup",
        default="main",
        metavar="NAME",
        help="name of these settings in the record (default: main, the one that is judged)",
    ),
    # An exported model.
    "model": argument("model", type=Path, metavar="MODEL", help="a run folder or a weights file"),
    "onnx": argument("output", type=parse_path, metavar="FILE", help="file to write (.onnx)"),
    "whole_scale": argument("--scale", type=int, required=True, help="a whole number, such as 4"),
    "replace": argument("--overwrite", action="store_true", help="replace a file that exists"),
    "rebuild": argument(
        "--rebuild",
        action="store_true",
        help="add nothing: write claims, figures and page again from the values of the record",
    ),
}


# --- commands -------------------------------------------------------------------------------------


class Declaration(TableRow):
    """A row of commands.tsv: a command, its function, its arguments, and its help."""

    command: str
    function: str
    arguments: Words
    uses_gpu: bool = False
    text: str


def read_commands() -> Iterator[Command]:
    """Read the commands of commands.tsv."""
    table = read_table(Path(__file__).with_name("commands.tsv"), Declaration, "command")
    for row in table.values():
        arguments = tuple(ARGUMENTS[word] for word in row.arguments)
        yield Command(row.command, row.function, row.text, arguments, row.uses_gpu)


COMMANDS: list[Command] = [*read_commands()]


def command(
    name: str, *arguments: Argument
) -> Callable[[Callable[[Options], None]], Callable[[Options], None]]:
    """Declare a command that runs the function below."""

    def add(function: Callable[[Options], None]) -> Callable[[Options], None]:
        COMMANDS.append(Command(name, function, function.__doc__ or "", arguments))
        return function

    return add


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
