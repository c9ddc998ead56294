"""Train the runs of both benchmarks: the jobs of the workflow."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from ..config import Arm, Config, Method
from ..models.asr.model import ASRModel
from ..preflight import check_native_benchmark
from . import asr, native
from .checkpoint import remove_state
from .run_folder import train_and_write
from .validation import ValidationCurve


def check_and_train_arm(
    config: Config, arm: Arm, seed: int, array: Path, output: Path, state: Path
) -> None:
    """Train an arm as `train_arm` does, if all arms of `config` fit into the parameter budget."""
    check_native_benchmark(config)  # before the first arm takes its time
    train_arm(config, arm, seed, array, output, state)


def train_arm(config: Config, arm: Arm, seed: int, array: Path, output: Path, state: Path) -> None:
    """Train an arm and write weights.safetensors, log.csv and run.json (last) into `output`.

    `array` is the standardized training array; `state` the file from which an interrupted run
    resumes, removed at the end. Raises `UserError` and `StopRequested`.
    """
    training = native.prepare_training(config, arm, seed, array)
    train_and_write(training, arm, seed, config, output, state)
    remove_state(state)


def train_method(
    config: Config, method: Method, seed: int, array: Path, output: Path, state: Path
) -> None:
    """Train a method and write weights.safetensors, log.csv, validation.csv, run.json (last).

    `array` is the packed training set; `state` the file from which an interrupted run resumes. It
    is kept at the end, so that a changed rule does not cost days of training: while settings,
    images and code are unchanged, a repeated call writes the run from it and does not train again.
    Raises `UserError` and `StopRequested`.
    """
    training = asr.prepare_training(config, method, seed, array)
    model = cast(ASRModel, training.model)
    device = next(model.parameters()).device
    curve = ValidationCurve(model, config, output / "validation.csv", device)
    train_and_write(
        training, method, seed, config, output, state, curve.measure_after_step, keep_state=True
    )
