"""Verbs of both benchmarks: one arm or method with one seed, and what all of them share.

Modules are imported where they are used: a command starts without what it does not need.
"""

from __future__ import annotations

from argparse import Namespace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .options import Argument, command, config_of, job_config, path

if TYPE_CHECKING:
    from ..config import Config

ABOUT = {
    "native": "Native reconstruction: arms, trained with a seed each.",
    "asr": "Arbitrary-scale super-resolution: methods, trained with a seed each.",
}
SEED: Argument = (
    "--seed",
    {"type": int, "required": True, "help": "drives initialization and shuffling"},
)
METHOD = (("--method", {"required": True, "help": "row of config/methods.tsv"}), SEED)
ARM = (("--arm", {"required": True, "help": "row of config/arms.tsv"}), SEED)
TRAINED = (
    path("array", "NPY", "training array"),
    path("output", "DIR", "run folder"),
    path("state", "PT", "where an interrupted run goes on"),
)
RUN, METRICS = path("run", "DIR", dest="folder"), path("output", "DIR", "metrics folder")
ARRAYS, CSV = path("arrays", "DIR", "arrays and regions.json"), path("output", "CSV")
VALIDATION = path("array", "NPY", "validation array")


def register(commands: Any) -> None:
    """Add both benchmarks with their verbs."""
    native, asr = (
        commands.add_parser(name, help=text, description=text).add_subparsers(
            title="verbs", metavar="VERB", required=True
        )
        for name, text in ABOUT.items()
    )
    column = {"metavar": "COLUMN", "help": "column of asr.evaluate"}
    array = {"metavar": "NAME", "help": "train, validation or a column of native.data.evaluate"}
    drawn = path("exemplars", "DIR", "write the reconstructions drawn in figures", required=False)
    command(native, "standardize", _standardize, ("name", array), path("output", "NPY"))
    command(native, "regions", _regions, VALIDATION, path("output", "JSON"))
    command(native, "train", _train, *ARM, *TRAINED)
    command(native, "evaluate", _evaluate, *ARM, RUN, ARRAYS, METRICS, drawn)
    command(native, "exemplars", _exemplars, ARRAYS, path("output", "DIR"))
    command(native, "latency", _latency, *ARM, ARRAYS, CSV)
    fields = (RUN, VALIDATION, path("regions", "JSON"), path("output", "NPZ"))
    command(native, "fields", _fields, *ARM, *fields)
    command(asr, "standardize", _pack, path("output", "NPY"))
    command(asr, "train", _train, *METHOD, *TRAINED)
    command(asr, "evaluate", _evaluate, *METHOD, RUN, METRICS)
    command(asr, "bicubic", _bicubic, ("--dataset", column | {"required": True}), METRICS)
    command(asr, "latency", _latency, *METHOD, CSV)


def _module(options: Namespace, room: str) -> Any:
    """Return the module of a room for the benchmark that a verb is of."""
    return import_module(f"gblsr_repro.{room}.{options.job.partition(' ')[0]}")


def _subject(options: Namespace) -> tuple[Config, Any, int]:
    """Return what a job about a run is given: its config, row and seed."""
    from ..config import arm_named, method_named

    row = arm_named(options.arm) if "arm" in options else method_named(options.method)
    return job_config(options, row), row, options.seed


def _standardize(options: Namespace) -> None:
    """Crop a split's or set's images into one array."""
    from ..data.standardize import make_array

    make_array(options.name, config_of(options, options.name), options.output)


def _pack(options: Namespace) -> None:
    """Pack the training images into one array."""
    from ..data.superres import make_array

    make_array(config_of(options), options.output)


def _regions(options: Namespace) -> None:
    """Set the thresholds of smooth, edge, texture and mixed patches."""
    from ..evaluation import metrics, regions

    settings = metrics.Settings.of(config_of(options))
    regions.write_thresholds(options.array, options.output, settings)


def _train(options: Namespace) -> None:
    """Train one arm or method with one seed, or go on with it."""
    _module(options, "training").train_run(
        *_subject(options), options.array, options.output, options.state
    )


def _evaluate(options: Namespace) -> None:
    """Measure a trained run on every image of the evaluation sets (and the validation split)."""
    names = ("arrays", "output", "exemplars") if "arm" in options else ("output",)
    files = [getattr(options, name) for name in ("folder", *names)]
    _module(options, "evaluation").evaluate(*_subject(options), *files)


def _exemplars(options: Namespace) -> None:
    """Write the true images that the qualitative figure shows."""
    from ..evaluation.native import write_exemplars

    write_exemplars(config_of(options), options.arrays, options.output)


def _latency(options: Namespace) -> None:
    """Time one arm or method by the fixed protocol, with untrained weights."""
    from ..evaluation import asr_latency, native

    if "arm" in options:
        native.time_arm(*_subject(options), options.arrays, options.output)
    else:
        asr_latency.time_method(*_subject(options), options.output)


def _fields(options: Namespace) -> None:
    """Write bandwidth and order of every patch of the validation images for a trained arm."""
    from ..evaluation.native import write_fields

    write_fields(*_subject(options), options.folder, options.array, options.regions, options.output)


def _bicubic(options: Namespace) -> None:
    """Measure plain bicubic upsampling."""
    from ..evaluation.asr import evaluate_bicubic

    config = config_of(options, options.dataset)
    for scale in config["asr"]["scales"]:
        output = options.output / f"{options.dataset}_x{scale:g}.csv"
        evaluate_bicubic(config, options.dataset, scale, output)
