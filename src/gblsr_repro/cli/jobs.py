"""Commands that rules of the workflow run, from fetching a data set to averaging over seeds.

The two benchmarks of the paper, `native` and `asr`, have the same subcommands.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import devices
from ..config import Arm, Config, Method, find_arm, find_method, find_row
from .arguments import (
    Commands,
    Options,
    add_command,
    add_config,
    add_group,
    add_path,
    add_seed,
    find_results,
    load_config,
)

SEED = "seed of initialization and shuffling"
STATE = "state from which an interrupted run resumes"
KEPT = "folder in which finished images are kept, from which a stopped job goes on"
ARRAYS = "folder of the arrays and of the thresholds of the regions"


def add_commands(commands: Commands) -> None:
    """Add every command of this module."""
    _add_fetch(commands)
    _add_check(commands)
    _add_sources(commands)
    text = "Native reconstruction: arms, one run per seed."
    native = add_group(commands, "native", text)
    _add_native_standardize(native)
    _add_native_regions(native)
    _add_native_train(native)
    _add_native_evaluate(native)
    _add_native_exemplars(native)
    _add_native_latency(native)
    _add_native_fields(native)
    text = "Arbitrary-scale super-resolution: methods, one run per seed."
    asr = add_group(commands, "asr", text)
    _add_asr_standardize(asr)
    _add_asr_train(asr)
    _add_asr_evaluate(asr)
    _add_asr_bicubic(asr)
    _add_asr_latency(asr)
    _add_import(commands)
    _add_aggregate(commands)


# --- the config and the row of a job ------------------------------------------------------------


def read_arm(options: Options) -> tuple[Config, Arm]:
    """Read the config and the arm of `--arm`, and lock a GPU for the job."""
    return _lock_gpu(load_config(options)), find_arm(options.arm)


def read_method(options: Options) -> tuple[Config, Method]:
    """Read the config and the method of `--method`, and lock a GPU for the job."""
    return _lock_gpu(load_config(options)), find_method(options.method)


def _lock_gpu(config: Config) -> Config:
    """Lock a GPU for this process unless the config says device: cpu; return the config."""
    if config["device"] != "cpu":
        devices.reserve_gpu()
    return config


def _add_arm(command: argparse.ArgumentParser) -> None:
    add_config(command)
    command.add_argument("--arm", required=True, help="row of config/arms.tsv")
    add_seed(command, SEED)


def _add_method(command: argparse.ArgumentParser) -> None:
    add_config(command)
    command.add_argument("--method", required=True, help="row of config/methods.tsv")
    add_seed(command, SEED)


# --- data sets, and checks before any training --------------------------------------------------


def _add_fetch(commands: Commands) -> None:
    command = add_command(commands, "fetch", fetch)
    add_config(command)
    command.add_argument(
        "dataset", metavar="DATASET", help="name in the first column of config/datasets.tsv"
    )
    add_path(
        command, "--output", "CSV", "write a copy of the manifest to this file", required=False
    )


def fetch(options: Options) -> None:
    """Download a data set, or find it in the mirror, and verify its files."""
    from ..data.fetch import fetch_dataset

    fetch_dataset(options.dataset, load_config(options), options.output)


def _add_check(commands: Commands) -> None:
    add_config(add_command(commands, "check", check))


def check(options: Options) -> None:
    """Check the parameter budget before any training."""
    from ..preflight import check_native_benchmark

    print(check_native_benchmark(load_config(options)))


def _add_sources(commands: Commands) -> None:
    add_config(add_command(commands, "sources", list_sources))


def list_sources(options: Options) -> None:
    """List the data sets with their folders and how complete they are."""
    from ..data.fetch import list_datasets

    print(list_datasets(load_config(options)))


# --- native reconstruction ----------------------------------------------------------------------


def _add_native_standardize(commands: Commands) -> None:
    command = add_command(commands, "standardize", standardize_native)
    add_config(command)
    text = "train, validation or a column of native.data.evaluate"
    command.add_argument("name", metavar="NAME", help=text)
    add_path(command, "--output", "NPY", "array to write")


def standardize_native(options: Options) -> None:
    """Crop the images of a split or evaluation set to one size and store them as an array."""
    from ..data.standardize import standardize_images

    standardize_images(options.name, load_config(options), options.output)


def _add_native_regions(commands: Commands) -> None:
    command = add_command(commands, "regions", write_regions)
    add_config(command)
    add_path(command, "--array", "NPY", "validation array")
    add_path(command, "--output", "JSON", "file to write")


def write_regions(options: Options) -> None:
    """Compute the thresholds of smooth, edge, texture and mixed patches."""
    from ..evaluation.regions import write_thresholds

    write_thresholds(load_config(options), options.array, options.output)


def _add_native_train(commands: Commands) -> None:
    command = add_command(commands, "train", train_arm)
    _add_arm(command)
    add_path(command, "--array", "NPY", "training array")
    add_path(command, "--output", "DIR", "run folder to write")
    add_path(command, "--state", "PT", STATE)


def train_arm(options: Options) -> None:
    """Train an arm with one seed, or resume its training."""
    from ..training.runs import train_arm

    config, arm = read_arm(options)
    train_arm(config, arm, options.seed, options.array, options.output, options.state)


def _add_native_evaluate(commands: Commands) -> None:
    command = add_command(commands, "evaluate", evaluate_arm)
    _add_arm(command)
    add_path(command, "--run", "DIR", "folder of a trained run")
    add_path(command, "--arrays", "DIR", ARRAYS)
    add_path(command, "--output", "DIR", "folder for the scores")
    add_path(command, "--state", "DIR", KEPT)
    text = "score these sets only (default: all evaluation sets and the validation split)"
    command.add_argument("--only", nargs="+", default=[], metavar="SET", help=text)


def evaluate_arm(options: Options) -> None:
    """Score a trained run on all images of the evaluation sets and the validation split."""
    from ..evaluation.native import evaluate_run

    config, arm = read_arm(options)
    evaluate_run(
        config,
        arm,
        options.seed,
        options.run,
        options.arrays,
        options.output,
        options.state,
        options.only,
    )


def _add_native_exemplars(commands: Commands) -> None:
    command = add_command(commands, "exemplars", write_exemplars)
    add_config(command)
    text = "run folders of trained arms"
    command.add_argument("--runs", nargs="+", type=Path, required=True, metavar="RUN", help=text)
    add_path(command, "--arrays", "DIR", ARRAYS)
    add_path(command, "--output", "DIR", "folder for the images")


def write_exemplars(options: Options) -> None:
    """Write the images of the qualitative figure: originals and reconstructions by trained runs."""
    from ..evaluation.exemplars import write_exemplars

    config = _lock_gpu(load_config(options))
    write_exemplars(config, options.runs, options.arrays, options.output)


def _add_native_latency(commands: Commands) -> None:
    command = add_command(commands, "latency", time_arm)
    _add_arm(command)
    add_path(command, "--arrays", "DIR", ARRAYS)
    add_path(command, "--output", "DIR", "folder for the times")
    add_path(command, "--state", "DIR", KEPT)


def time_arm(options: Options) -> None:
    """Time an arm by the fixed protocol, with untrained weights."""
    from ..evaluation.native_latency import time_arm

    config, arm = read_arm(options)
    time_arm(config, arm, options.seed, options.arrays, options.output, options.state)


def _add_native_fields(commands: Commands) -> None:
    command = add_command(commands, "fields", write_fields)
    _add_arm(command)
    add_path(command, "--run", "DIR", "folder of a trained run")
    add_path(command, "--array", "NPY", "validation array")
    add_path(command, "--regions", "JSON", "thresholds of the regions")
    add_path(command, "--output", "NPZ", "file to write")


def write_fields(options: Options) -> None:
    """Write the bandwidth and order of all patches of the validation images for a trained arm."""
    from ..evaluation.native_fields import write_fields

    config, arm = read_arm(options)
    write_fields(
        config, arm, options.seed, options.run, options.array, options.regions, options.output
    )


# --- super-resolution ---------------------------------------------------------------------------


def _add_asr_standardize(commands: Commands) -> None:
    command = add_command(commands, "standardize", standardize_asr)
    add_config(command)
    add_path(command, "--output", "NPY", "array to write")


def standardize_asr(options: Options) -> None:
    """Store the training images in one array."""
    from ..data.superres import pack_training_sets

    pack_training_sets(load_config(options), options.output)


def _add_asr_train(commands: Commands) -> None:
    command = add_command(commands, "train", train_method)
    _add_method(command)
    add_path(command, "--array", "NPY", "training array")
    add_path(command, "--output", "DIR", "run folder to write")
    add_path(command, "--state", "PT", STATE)


def train_method(options: Options) -> None:
    """Train a method with one seed, or resume its training."""
    from ..training.runs import train_method

    config, method = read_method(options)
    train_method(config, method, options.seed, options.array, options.output, options.state)


def _add_asr_evaluate(commands: Commands) -> None:
    command = add_command(commands, "evaluate", evaluate_method)
    _add_method(command)
    add_path(command, "--run", "DIR", "folder of a trained run")
    add_path(command, "--output", "DIR", "folder for the scores")
    add_path(command, "--state", "DIR", KEPT)


def evaluate_method(options: Options) -> None:
    """Score a trained run on all images of the evaluation sets."""
    from ..evaluation.asr import evaluate_run

    config, method = read_method(options)
    evaluate_run(config, method, options.seed, options.run, options.output, options.state)


def _add_asr_bicubic(commands: Commands) -> None:
    command = add_command(commands, "bicubic", evaluate_bicubic)
    add_config(command)
    text = "data set of a column of asr.evaluate"
    command.add_argument("--dataset", metavar="DATASET", required=True, help=text)
    add_path(command, "--output", "DIR", "folder for the scores")
    add_path(command, "--state", "DIR", KEPT)


def evaluate_bicubic(options: Options) -> None:
    """Score bicubic upsampling."""
    from ..evaluation.asr_scores import evaluate_bicubic

    evaluate_bicubic(load_config(options), options.dataset, options.output, options.state)


def _add_asr_latency(commands: Commands) -> None:
    command = add_command(commands, "latency", time_method)
    _add_method(command)
    add_path(command, "--output", "DIR", "folder for the times")
    add_path(command, "--state", "DIR", KEPT)


def time_method(options: Options) -> None:
    """Time a method by the fixed protocol, with untrained weights."""
    from ..evaluation.asr_latency import time_method

    config, method = read_method(options)
    time_method(config, method, options.seed, options.output, options.state)


# --- weights that others trained ----------------------------------------------------------------


def _add_import(commands: Commands) -> None:
    command = add_command(commands, "import", import_weights)
    add_config(command)
    text = "file, folder or hub address (hf://OWNER/NAME/FOLDER)"
    command.add_argument("address", metavar="PATH", help=text)
    text = "row of config/arms.tsv or config/methods.tsv (default: the only one that they fit)"
    command.add_argument("--as", dest="row", metavar="ROW", help=text)
    add_seed(command, "seed that they were trained with")
    add_path(command, "--output", "RUN", "run folder to write")
    text = "range of colors of a GB-LSR-ASR network (default: measured)"
    command.add_argument("--colors", choices=("normalized", "unit"), help=text)
    text = "replace a run in the folder that is another"
    command.add_argument("--overwrite", action="store_true", help=text)


def import_weights(options: Options) -> None:
    """Import released weights as a run of an arm or a method, without training."""
    from ..released.importing import import_run

    import_run(
        options.address,
        find_row(options.row) if options.row else None,
        options.seed,
        options.output,
        load_config(options),
        options.colors,
        options.overwrite,
    )


# --- averages -----------------------------------------------------------------------------------


def _add_aggregate(commands: Commands) -> None:
    command = add_command(commands, "aggregate", aggregate)
    add_config(command)
    command.add_argument(
        "name", metavar="NAME", help="name of the aggregate: native, asr_quality, ..."
    )
    add_path(command, "--results", "DIR", "default: the config's results", required=False)
    add_path(command, "--output", "FILE", "file to write")


def aggregate(options: Options) -> None:
    """Average scores over images and seeds."""
    from ..analysis import aggregate

    config = load_config(options)
    aggregate.write(options.name, find_results(options, config), config, options.output)
