"""Verbs of the native benchmark: one arm with one seed, and what all arms share."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from .options import command, config_of, job_config


def register(verbs: Any) -> None:
    """Add this benchmark's verbs."""
    added = command(
        verbs, "standardize", _standardize, "Crop a split's or set's images into one array."
    )
    added.add_argument(
        "name", metavar="NAME", help="train, validation or a column of native.data.evaluate"
    )
    added.add_argument("--output", type=Path, required=True, metavar="NPY")

    added = command(
        verbs, "regions", _regions, "Set the thresholds of smooth, edge, texture and mixed patches."
    )
    added.add_argument("--array", type=Path, required=True, metavar="NPY", help="validation array")
    added.add_argument("--output", type=Path, required=True, metavar="JSON")

    added = command(verbs, "train", _train, "Train one arm with one seed, or go on with it.")
    _add_run(added)
    added.add_argument("--array", type=Path, required=True, metavar="NPY", help="training array")
    added.add_argument("--output", type=Path, required=True, metavar="DIR", help="run folder")
    added.add_argument(
        "--state", type=Path, required=True, metavar="PT", help="where an interrupted run goes on"
    )

    added = command(
        verbs,
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

    added = command(
        verbs, "exemplars", _exemplars, "Write the true images that the qualitative figure shows."
    )
    added.add_argument("--arrays", type=Path, required=True, metavar="DIR")
    added.add_argument("--output", type=Path, required=True, metavar="DIR")

    added = command(
        verbs, "latency", _latency, "Time one arm by the fixed protocol, with untrained weights."
    )
    _add_run(added)
    added.add_argument("--arrays", type=Path, required=True, metavar="DIR")
    added.add_argument("--output", type=Path, required=True, metavar="CSV")

    added = command(
        verbs,
        "fields",
        _fields,
        "Write bandwidth and order of every patch of the validation images for a trained arm.",
    )
    _add_run(added)
    added.add_argument("--run", type=Path, required=True, dest="folder", metavar="DIR")
    added.add_argument("--array", type=Path, required=True, metavar="NPY", help="validation array")
    added.add_argument("--regions", type=Path, required=True, metavar="JSON")
    added.add_argument("--output", type=Path, required=True, metavar="NPZ")


def _add_run(added: ArgumentParser) -> None:
    added.add_argument("--arm", required=True, help="row of config/arms.tsv")
    added.add_argument(
        "--seed", type=int, required=True, help="drives initialization and shuffling"
    )


def _standardize(options: Namespace) -> None:
    from ..data.standardize import make_array

    make_array(options.name, config_of(options, options.name), options.output)


def _regions(options: Namespace) -> None:
    from ..evaluation import metrics, regions

    settings = metrics.Settings.of(config_of(options))
    regions.write_thresholds(options.array, options.output, settings)


def _train(options: Namespace) -> None:
    from ..config import arm_named
    from ..training.native import train_run

    arm = arm_named(options.arm)
    config = job_config(options, arm)
    train_run(config, arm, options.seed, options.array, options.output, options.state)


def _evaluate(options: Namespace) -> None:
    from ..config import arm_named
    from ..evaluation.native import evaluate

    arm = arm_named(options.arm)
    evaluate(
        job_config(options, arm),
        arm,
        options.seed,
        options.folder,
        options.arrays,
        options.output,
        options.exemplars,
    )


def _exemplars(options: Namespace) -> None:
    from ..evaluation.native import write_exemplars

    write_exemplars(config_of(options), options.arrays, options.output)


def _latency(options: Namespace) -> None:
    from ..config import arm_named
    from ..evaluation.native import time_arm

    arm = arm_named(options.arm)
    time_arm(job_config(options, arm), arm, options.seed, options.arrays, options.output)


def _fields(options: Namespace) -> None:
    from ..config import arm_named
    from ..evaluation.native import write_fields

    arm = arm_named(options.arm)
    write_fields(
        job_config(options, arm),
        arm,
        options.seed,
        options.folder,
        options.array,
        options.regions,
        options.output,
    )
