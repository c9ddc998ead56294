"""Subcommands of the native room."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .options import command, config_of, job_config


def register(commands: Any) -> None:
    """Add this room's subcommands."""
    command(
        commands, "check", _check, "Check before any training: parameter budget, LPIPS at hand."
    )

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
    add_regions(commands)
    add_evaluate(commands)
    add_exemplars(commands)
    add_latency(commands)
    add_fields(commands)


def _check(options: argparse.Namespace) -> None:
    from ..preflight import check

    check(config_of(options))


def _train(options: argparse.Namespace) -> None:
    from ..config import arm_named
    from ..training.native import train_run

    arm = arm_named(options.arm)
    config = job_config(options, arm)
    train_run(config, arm, options.seed, options.array, options.output, options.state)


# --- evaluation, timing, diagnostics --------------------------------------------------------------


def _add_run(added: argparse.ArgumentParser) -> None:
    added.add_argument("--arm", required=True, help="row of config/arms.tsv")
    added.add_argument("--seed", type=int, required=True, help="training seed")


def add_regions(commands: Any) -> None:
    """Add the verb that sets the region thresholds."""
    added = command(
        commands,
        "regions",
        _regions,
        "Set the thresholds of smooth, edge, texture and mixed patches.",
    )
    added.add_argument("--array", type=Path, required=True, metavar="NPY", help="validation array")
    added.add_argument("--output", type=Path, required=True, metavar="JSON")


def _regions(options: argparse.Namespace) -> None:
    from ..evaluation import metrics, regions

    settings = metrics.Settings.of(config_of(options))
    regions.write_thresholds(options.array, options.output, settings)


def add_evaluate(commands: Any) -> None:
    """Add the verb that measures a trained arm."""
    added = command(
        commands,
        "evaluate",
        _evaluate,
        "Measure a trained arm on every image of the evaluation sets and the validation split.",
    )
    _add_run(added)
    added.add_argument("--run", type=Path, required=True, dest="folder", metavar="DIR")
    added.add_argument(
        "--arrays", type=Path, required=True, metavar="DIR", help="arrays and regions.json"
    )
    added.add_argument("--output", type=Path, required=True, metavar="DIR", help="metrics folder")
    added.add_argument(
        "--exemplars", type=Path, metavar="DIR", help="write the reconstructions drawn in figures"
    )


def _evaluate(options: argparse.Namespace) -> None:
    from ..config import arm_named
    from ..evaluation.native import evaluate

    evaluate(
        job_config(options, arm_named(options.arm)),
        options.arm,
        options.seed,
        options.folder,
        options.arrays,
        options.output,
        options.exemplars,
    )


def add_exemplars(commands: Any) -> None:
    """Add the verb that writes the true images of the qualitative figure."""
    added = command(
        commands,
        "exemplars",
        _exemplars,
        "Write the true images that the qualitative figure shows.",
    )
    added.add_argument("--arrays", type=Path, required=True, metavar="DIR")
    added.add_argument("--output", type=Path, required=True, metavar="DIR")


def _exemplars(options: argparse.Namespace) -> None:
    from ..evaluation.native import write_exemplars

    write_exemplars(config_of(options), options.arrays, options.output)


def add_latency(commands: Any) -> None:
    """Add the verb that times an arm."""
    added = command(
        commands, "latency", _latency, "Time one arm by the fixed protocol, with untrained weights."
    )
    _add_run(added)
    added.add_argument("--arrays", type=Path, required=True, metavar="DIR")
    added.add_argument("--output", type=Path, required=True, metavar="CSV")


def _latency(options: argparse.Namespace) -> None:
    from ..config import arm_named
    from ..evaluation.native import time_arm

    arm = arm_named(options.arm)
    time_arm(job_config(options, arm), arm, options.seed, options.arrays, options.output)


def add_fields(commands: Any) -> None:
    """Add the verb that writes the per-patch fields of an arm."""
    added = command(
        commands,
        "fields",
        _fields,
        "Write bandwidth and order of every patch of the validation images for a trained arm.",
    )
    _add_run(added)
    added.add_argument("--run", type=Path, required=True, dest="folder", metavar="DIR")
    added.add_argument("--array", type=Path, required=True, metavar="NPY", help="validation array")
    added.add_argument("--regions", type=Path, required=True, metavar="JSON")
    added.add_argument("--output", type=Path, required=True, metavar="NPZ")


def _fields(options: argparse.Namespace) -> None:
    from ..config import arm_named
    from ..evaluation.native import write_fields

    write_fields(
        job_config(options, arm_named(options.arm)),
        options.arm,
        options.seed,
        options.folder,
        options.array,
        options.regions,
        options.output,
    )
