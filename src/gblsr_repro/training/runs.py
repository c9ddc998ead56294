"""Train the runs of both benchmarks and write their weights, log and metadata (run.json)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from .. import runtime
from ..config import Arm, Config, Method, locate_row
from ..dependencies import identify_run
from ..files import write_csv, write_json
from ..metadata import METADATA_FILE
from ..models.asr.model import ASRModel
from ..models.base import Model, count_parameters
from ..preflight import check_native_benchmark
from ..weights import write_weights
from . import asr, native
from .checkpoint import remove_state
from .loop import LOG_COLUMNS, Training, TrainingLog, train
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
    curve = ValidationCurve(cast(ASRModel, training.model), config, output / "validation.csv")
    train_and_write(
        training, method, seed, config, output, state, curve.measure_after_step, keep_state=True
    )


def train_and_write(
    training: Training[Any],
    row: Arm | Method,
    seed: int,
    config: Config,
    output: Path,
    state: Path,
    after_step: Callable[[int], None] | None = None,
    keep_state: bool = False,
) -> None:
    """Train a model as `loop.train` does, and write the run of its row and seed.

    Code, versions and device are recorded before the first step, since files may change during
    training.
    """
    (_, key, name), model = locate_row(row), training.model
    run, identity = {key: name, "seed": seed}, identify_run(row, config)
    training_log = train(
        f"{name} seed {seed}",
        training,
        state_path=state,
        identity={**run, **identity, "train_sha256": training.data["train"]},
        trained_by={
            "git": runtime.describe_commit(),
            "versions": runtime.list_versions(),
            "device": runtime.describe_device(next(model.parameters()).device),
        },
        after_step=after_step,
        keep_state=keep_state,
    )
    metadata = {
        **run,
        "steps": training.settings["training"]["steps"],
        "parameters": count_parameters(model),
        **training.facts,
        "config": training.settings,
        "identity": identity,
        "data": training.data,
    }
    write_run(output, model, training_log, metadata)


def write_run(
    output: Path, model: Model, training_log: TrainingLog, metadata: Mapping[str, Any]
) -> None:
    """Write weights.safetensors, log.csv and run.json into `output`.

    `metadata` has the first entries of run.json: what was trained, for how many steps, on which
    data, by which code. Added are commit, versions and device under which the training began, as
    `resumed_by` those that differed when it resumed, and the cost. All describe the training, also
    when its weights are written again later from its last state.
    """
    first, *others = training_log.trained_by
    weights_sha256 = write_weights(output, model, metadata)
    write_csv(output / "log.csv", LOG_COLUMNS, training_log.rows)
    content = {
        **metadata,
        **first,
        "wall_seconds": training_log.wall_seconds,
        "steps_per_second": metadata["steps"] / training_log.wall_seconds,
        "peak_memory_mib": training_log.peak_memory_mib,
        "resumed": training_log.resumed,
        "resumed_by": others,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "weights_sha256": weights_sha256,
    }
    write_json(output / METADATA_FILE, content)
