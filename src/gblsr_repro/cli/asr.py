"""Verbs of the super-resolution benchmark: one method with one seed, and what all methods share."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from .options import command, config_of, job_config


def register(verbs: Any) -> None:
    """Add this benchmark's verbs."""
    added = command(verbs, "standardize", _standardize, "Pack the training images into one array.")
    added.add_argument("--output", type=Path, required=True, metavar="NPY")

    added = command(verbs, "train", _train, "Train one method with one seed, or go on with it.")
    _add_run(added)
    added.add_argument("--array", type=Path, required=True, metavar="NPY", help="training array")
    added.add_argument("--output", type=Path, required=True, metavar="DIR", help="run folder")
    added.add_argument(
        "--state", type=Path, required=True, metavar="PT", help="where an interrupted run goes on"
    )

    added = command(verbs, "evaluate", _evaluate, "Measure PSNR-Y and SSIM-Y of a trained method.")
    _add_run(added)
    added.add_argument("--run", type=Path, required=True, dest="folder", metavar="DIR")
    added.add_argument("--output", type=Path, required=True, metavar="DIR", help="metrics folder")

    added = command(verbs, "bicubic", _bicubic, "Measure plain bicubic upsampling.")
    added.add_argument("--dataset", required=True, metavar="COLUMN", help="column of asr.evaluate")
    added.add_argument("--output", type=Path, required=True, metavar="DIR", help="metrics folder")

    added = command(
        verbs, "latency", _latency, "Time one method by the fixed protocol, with untrained weights."
    )
    _add_run(added)
    added.add_argument("--output", type=Path, required=True, metavar="CSV")


def _add_run(added: ArgumentParser) -> None:
    added.add_argument("--method", required=True, help="row of config/methods.tsv")
    added.add_argument(
        "--seed", type=int, required=True, help="drives initialization and shuffling"
    )


def _standardize(options: Namespace) -> None:
    from ..data import superres

    superres.make_array(config_of(options), options.output)


def _train(options: Namespace) -> None:
    from ..config import method_named
    from ..training import asr

    method = method_named(options.method)
    config = job_config(options, method)
    asr.train_run(config, method, options.seed, options.array, options.output, options.state)


def _evaluate(options: Namespace) -> None:
    from ..config import method_named
    from ..evaluation import asr

    method = method_named(options.method)
    asr.evaluate(job_config(options, method), method, options.seed, options.folder, options.output)


def _bicubic(options: Namespace) -> None:
    from ..evaluation import asr

    config = config_of(options, options.dataset)
    for scale in config["asr"]["scales"]:
        output = options.output / f"{options.dataset}_x{scale:g}.csv"
        asr.evaluate_bicubic(config, options.dataset, scale, output)


def _latency(options: Namespace) -> None:
    from ..config import method_named
    from ..evaluation import asr_latency

    method = method_named(options.method)
    asr_latency.time_method(job_config(options, method), method, options.seed, options.output)
