"""Command-line options that several subcommands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..config import Config, Row


def command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], None], help_text: str
) -> argparse.ArgumentParser:
    """Add a subcommand that takes --config and calls `run` with the parsed options.

    Its words after the program's name are the job's name in config/jobs.py.
    """
    added = commands.add_parser(name, help=help_text, description=help_text)
    added.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="FILE",
        help="config file; repeat to lay one over another (default: config/config.yaml)",
    )
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
