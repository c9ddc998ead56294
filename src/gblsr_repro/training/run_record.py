"""One run from its first step to what it leaves: weights, log, and a record, written last."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from .. import runtime
from ..config import Arm, Config, Method, identify_run, locate_row
from ..files import write_csv, write_json
from ..models.base import Model, count_parameters
from ..weights import write_weights
from .loop import LOG_COLUMNS, LoopSettings, TrainingLog, train


def train_and_write(
    row: Arm | Method,
    seed: int,
    config: Config,
    sections: Mapping[str, Any],
    data: Mapping[str, Any],
    model: Model,
    optimizer: torch.optim.Optimizer,
    output: Path,
    state: Path | str,
    facts: Mapping[str, Any] | None = None,
    **how: Any,
) -> None:
    """Train `model` by `how` (see `loop.train`) as its row, seed and config say, and write the run.

    `sections` are those of the config that are recorded, training among them, `data` the checksum
    of the training array (train) and what else is told of it; `facts` go into the record too.
    What code, versions and device train is asked before the first step: files may change under way.
    """
    (_, kind, name), training = locate_row(row), sections["training"]
    run, identity = {kind: name, "seed": seed}, identify_run(row, config)
    record = train(
        f"{name} seed {seed}",
        model,
        optimizer,
        LoopSettings(**{key: training[key] for key in ("steps", "log_every", "checkpoint_every")}),
        state_path=Path(state),
        identity={**run, **identity, "train_sha256": data["train"]},
        trained_by={
            "git": runtime.git_record(),
            "versions": runtime.versions(),
            "device": runtime.device_record(next(model.parameters()).device),
        },
        bandwidth=model.get_bandwidth,
        **how,
    )
    told = {
        **run,
        "steps": training["steps"],
        "parameters": count_parameters(model),
        **(facts or {}),
        "config": sections,
        "identity": identity,
        "data": data,
    }
    write_run(output, model, record, told)


def write_run(output: Path, model: Model, record: TrainingLog, facts: Mapping[str, Any]) -> None:
    """Write weights.safetensors, log.csv and run.json into `output`.

    `facts` open the record: what was trained, for how many steps, on what, by which code. Commit,
    versions and device follow, those under which the training began, and as `resumed_by` what was
    another when it went on; then the cost. They are of the training also where its weights are
    written again later, from its last state.
    """
    first, *others = record.trained_by
    weights_sha256 = write_weights(output, model, facts)
    write_csv(output / "log.csv", LOG_COLUMNS, record.rows)
    written = {
        **facts,
        **first,
        "wall_seconds": record.wall_seconds,
        "steps_per_second": facts["steps"] / record.wall_seconds,
        "peak_memory_mib": record.peak_memory_mib,
        "resumed": record.resumed,
        "resumed_by": others,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "weights_sha256": weights_sha256,
    }
    write_json(output / "run.json", written)
