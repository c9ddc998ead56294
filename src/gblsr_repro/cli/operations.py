"""Subcommands about a run as a whole: plan, status, summary, record-gpu."""

from __future__ import annotations

import argparse
from typing import Any

from .options import command, config_of


def register(commands: Any) -> None:
    """Add this room's subcommands."""
    command(commands, "plan", _plan)
    command(commands, "status", _status)
    command(commands, "summary", _summary)
    device = {"choices": ("cuda", "cpu"), "default": "cuda", "help": "cpu: to try the command"}
    command(
        commands,
        "record-gpu",
        _record_gpu,
        ("--minutes", {"type": float, "required": True, "help": "how long it may take"}),
        ("--device", device),
    )


def _plan(options: argparse.Namespace) -> None:
    """Tell what is to be trained, the GPU-hours and the disk it takes; runs nothing."""
    from ..operations import plan

    print(plan.text(plan.survey(config_of(options))))


def _status(options: argparse.Namespace) -> None:
    """Tell what is done, running and left; runs nothing."""
    from ..operations import status

    print(status.text(status.survey(config_of(options))))


def _summary(options: argparse.Namespace) -> None:
    """Print the main numbers and where everything is."""
    from ..operations.summary import summary

    print(summary(config_of(options)))


def _record_gpu(options: argparse.Namespace) -> None:
    """Time, train and evaluate on a borrowed GPU, in order of worth; needs torch alone."""
    from ..operations import borrowed

    borrowed.run(config_of(options), options.minutes, options.device)
