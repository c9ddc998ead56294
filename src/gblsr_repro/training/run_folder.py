"""Train a run and write its weights, its log and its metadata (run.json, written last)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import runtime
from ..config import Arm, Config, Method, locate_row
from ..dependencies import identify_run
from ..files import write_csv, write_json
from ..models.base import Model, count_parameters
from ..weights import write_weights
from .loop import LOG_COLUMNS, Training, TrainingLog, train


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
    write_json(output / "run.json", content)
