"""Subcommands of the asr room."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from .options import command, config_of, job_config


def register(commands: Any) -> None:
    """Add this room's subcommands."""
    added = command(commands, "asr-standardize", _standardize, "pack the training images")
    added.add_argument("--output", required=True, metavar="FILE", help="array to write (.npy)")

    added = command(commands, "asr-train", _train, "train one method with one seed")
    _run_options(added)
    added.add_argument("--array", required=True, metavar="FILE", help="packed training images")
    added.add_argument("--output", required=True, metavar="DIR", help="folder of the run")
    added.add_argument("--state", required=True, metavar="FILE", help="where to go on from")

    added = command(commands, "asr-evaluate", _evaluate, "measure PSNR-Y and SSIM-Y of a run")
    _run_options(added)
    added.add_argument("--run", required=True, metavar="DIR", dest="folder", help="trained run")
    added.add_argument("--output", required=True, metavar="DIR", help="folder for the rows")

    added = command(commands, "asr-bicubic", _bicubic, "measure plain bicubic upsampling")
    added.add_argument("--dataset", required=True, metavar="COLUMN", help="column of asr.evaluate")
    added.add_argument("--output", required=True, metavar="DIR", help="folder for the rows")

    added = command(commands, "asr-latency", _latency, "time one method by the fixed protocol")
    _run_options(added)
    added.add_argument("--output", required=True, metavar="FILE", help="rows to write (.csv)")


def _run_options(added: Any) -> None:
    added.add_argument("--method", required=True, help="row of config/methods.tsv")
    added.add_argument("--seed", required=True, type=int, help="seed of the run")


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
        output = Path(options.output) / f"{options.dataset}_x{scale:g}.csv"
        asr.evaluate_bicubic(config, options.dataset, scale, output)


def _latency(options: Namespace) -> None:
    from ..config import method_named
    from ..evaluation import asr_latency

    method = method_named(options.method)
    asr_latency.time_method(job_config(options, method), method, options.seed, options.output)
