"""Subcommands of the native room."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .options import command, config_of


def register(commands: Any) -> None:
    """Add this room's subcommands."""
    check = command(
        commands, "check", _check, "Check before any training: parameter budget, LPIPS at hand."
    )
    check.add_argument("--output", type=Path, metavar="JSON", help="record to write")

    train = command(commands, "train", _train, "Train one arm with one seed, or go on with it.")
    train.add_argument("--arm", required=True, help="row of config/arms.tsv")
    train.add_argument(
        "--seed", type=int, required=True, help="drives initialisation and shuffling"
    )
    train.add_argument("--array", type=Path, required=True, metavar="NPY", help="training array")
    train.add_argument("--output", type=Path, required=True, metavar="DIR", help="run folder")
    train.add_argument(
        "--state", type=Path, required=True, metavar="PT", help="where an interrupted run goes on"
    )


def _check(options: argparse.Namespace) -> None:
    from ..preflight import check

    check(config_of(options), options.output)


def _train(options: argparse.Namespace) -> None:
    from ..models.native import arm_named
    from ..training.native import train_run

    train_run(
        config_of(options),
        arm_named(options.arm),
        options.seed,
        options.array,
        options.output,
        options.state,
    )
