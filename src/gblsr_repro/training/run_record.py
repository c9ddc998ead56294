"""What a training run leaves: weights, log, and a record, which is written last."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .. import runtime
from ..files import write_csv, write_json
from ..weights import write_weights
from .loop import LOG_COLUMNS, Record


def write_run(
    output: Path,
    model: nn.Module,
    record: Record,
    device: torch.device,
    facts: Mapping[str, Any],
) -> None:
    """Write weights.safetensors, log.csv and run.json into `output`.

    `facts` open the record: what was trained, for how many steps, on what; code, versions, device
    and cost follow.
    """
    weights_sha256 = write_weights(output, model, facts)
    write_csv(output / "log.csv", LOG_COLUMNS, record.rows)
    written = {
        **facts,
        "git": runtime.git_record(),
        "versions": runtime.versions(),
        "device": runtime.device_record(device),
        "wall_seconds": record.wall_seconds,
        "steps_per_second": facts["steps"] / record.wall_seconds,
        "peak_memory_mib": record.peak_memory_mib,
        "resumed": record.resumed,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "weights_sha256": weights_sha256,
    }
    write_json(output / "run.json", written)
