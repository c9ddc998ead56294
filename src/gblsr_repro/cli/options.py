"""Command-line options that several subcommands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..config import Config, Row

Argument = tuple[str, dict[str, Any]]


def path(name: str, metavar: str, text: str | None = None, **more: Any) -> Argument:
    """Return an option that names a file or a folder; required, unless `more` says otherwise."""
    facts = {"type": Path, "required": True, "metavar": metavar, "help": text}
    return f"--{name}", facts | more


def command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], None],
    *arguments: Argument,
    configured: bool = True,
) -> argparse.ArgumentParser:
    """Add a subcommand that calls `run` with the parsed options, --config among them.

    Its help is the docstring of `run`; its words after the program's name are the job's name in
    config/jobs.py.
    """
    text = run.__doc__
    added = commands.add_parser(name, help=text, description=text)
    if configured:
        added.add_argument(
            "--config",
            action="append",
            default=[],
            metavar="FILE",
            help="config file; repeat to lay one over another (default: config/config.yaml)",
        )
    for option, facts in arguments:
        added.add_argument(option, **facts)
    added.set_defaults(run=run, job=added.prog.partition(" ")[2])
    return added


def config_of(options: argparse.Namespace, row: Row = None) -> Config:
    """Return the checked configuration that the options name.

    A job of the workflow sees of it what config/jobs.py declares for it and its `row` alone.
    """
    from ..config import JOBS, load, restrict

    config = load([Path(p) for p in options.config])
    return restrict(config, options.job, row) if options.job in JOBS else config


def job_config(options: argparse.Namespace, row: Row = None) -> Config:
    """Return the configuration of a job that computes on the device, with a GPU of its own."""
    from .. import devices

    config = config_of(options, row)
    if config["device"] != "cpu":
        devices.take_one()
    return config
