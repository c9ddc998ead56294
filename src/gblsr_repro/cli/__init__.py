"""The command line: one subcommand per kind of job; a rule's shell line is one such call."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import StopRequested, UserError, memory_told
from ..progress import setup_logging
from .commands import COMMANDS, GROUPS, Below, Command


def parser() -> argparse.ArgumentParser:
    """Return the parser with every subcommand."""
    top = argparse.ArgumentParser(
        prog="gblsr-repro", description="Run single steps of the GB-LSR reproduction."
    )
    top.add_argument("--version", action="version", version=__version__)
    rooms: dict[str, Any] = {
        "": top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    }
    for group, text in GROUPS.items():
        added = rooms[""].add_parser(group, help=text, description=text)
        rooms[group] = added.add_subparsers(title="verbs", metavar="VERB", required=True)
    for command in COMMANDS:
        group, _, verb = command.name.rpartition(" ")
        added = rooms[group].add_parser(verb, help=command.text, description=command.text)
        if command.configured:
            added.add_argument(
                "--config",
                action="append",
                default=[],
                metavar="FILE",
                help="config file; repeat to lay one over another (default: the one that the named "
                "results were made with, else config/config.yaml)",
            )
        for option, facts in command.arguments:
            added.add_argument(option, **facts)
        added.set_defaults(command=command)
    return top


def run(command: Command, config: Sequence[str] = (), **given: Any) -> None:
    """Call what a command names with the arguments given; print the text that it returns.

    A job of the workflow sees of the config what config/jobs.py declares for it and for the row
    that it is about. What is about a run computes on the device, with a GPU of its own.
    """
    if command.configured:
        from .. import config as configuration

        files = [Path(path) for path in config] or _config_of_results(given)
        whole, row = configuration.load(files), _row(given)
        restricted = command.name in configuration.JOBS
        seen = configuration.restrict(whole, command.name, row) if restricted else whole
        if {"arm", "method"} & set(given) and seen["device"] != "cpu":
            from .. import devices

            devices.take_one()
        given["config"] = seen
        results = given.get("results")
        for name, value in given.items():
            if isinstance(value, Below):
                if not isinstance(results, Path):
                    results = configuration.resolve(seen, seen["results"])
                given[name] = results / value.place
    text = _function(command.target)(**given)
    if isinstance(text, str):
        print(text)


def _config_of_results(given: dict[str, Any]) -> list[Path]:
    """Return the config that the workflow left in the results folder that a command names."""
    folders = [given.get("results"), getattr(given.get("aggregates"), "parent", None)]
    files = [folder / "config.json" for folder in folders if isinstance(folder, Path)]
    return [file for file in files if file.is_file()][:1]


def _function(target: str) -> Callable[..., Any]:
    """Import a command's function without looking for garbage among what it imports.

    What was imported lives to the end: looking through it takes a quarter of the time that torch's
    import and the exit take.
    """
    module, _, function = target.partition(":")
    if (name := f"gblsr_repro.{module}") not in sys.modules:
        gc.disable()
        try:
            import_module(name)
        finally:
            gc.freeze()
            gc.enable()
    return getattr(sys.modules[name], function)


def _row(given: dict[str, Any]) -> Any:
    """Return what a job is about: a row, which stands for its name from then on, or a name."""
    from ..config import arm_named, dataset_named, method_named

    for kind, named in (("arm", arm_named), ("method", method_named)):
        if kind in given:
            given[kind] = named(given[kind])
            return given[kind]
    if "dataset" in given:
        return dataset_named(given["dataset"])
    return given.get("name") or given.get("column")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return the exit status.

    0: done; 2: a user's mistake, told in one sentence; 75: stopped by a signal with the state
    saved, so that running the same command again goes on.
    """
    setup_logging()
    options = parser().parse_args(arguments)
    try:
        with memory_told("What this command computes"):
            run(**vars(options))
    except UserError as error:
        print(f"gblsr-repro: {error}", file=sys.stderr)
        return 2
    except StopRequested as stop:
        print(f"gblsr-repro: {stop}", file=sys.stderr)
        return 75
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(
            f"gblsr-repro: {error.filename or 'A file'} cannot be read or written "
            f"({error.strerror or error}); mend that and run the same command again.",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("gblsr-repro: interrupted; the same command goes on from there.", file=sys.stderr)
        return 130
    return 0
