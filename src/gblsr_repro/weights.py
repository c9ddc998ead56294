"""The weights of a run: written whole, and read back only as they were written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from .errors import UserError
from .files import atomic_path, sha256

NAME = "weights.safetensors"


def write_tensors(
    path: Path | str, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors to a safetensors file atomically; `UserError` when it cannot be written."""
    content = save(dict(tensors), dict(metadata) if metadata else None)
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def write_weights(run_dir: Path, model: nn.Module) -> str:
    """Write a model's weights into its run folder and return the SHA-256 of the file."""
    write_tensors(run_dir / NAME, {k: v.contiguous().cpu() for k, v in model.state_dict().items()})
    return sha256(run_dir / NAME)


def load_weights(run_dir: Path, record: Mapping[str, Any], model: nn.Module) -> None:
    """Load the weights of a run folder into `model`.

    `record` is the run's run.json. Raises `UserError` when the file is missing, is not the one
    recorded there, or holds another model.
    """
    file = run_dir / NAME
    try:
        content = file.read_bytes()
    except FileNotFoundError as error:
        raise UserError(f"{file} does not exist; train this run first.") from error
    damaged = UserError(
        f"{file} does not hold the weights that run.json beside it records; delete {run_dir} and "
        "train again."
    )
    if hashlib.sha256(content).hexdigest() != record.get("weights_sha256"):
        raise damaged
    try:
        model.load_state_dict(load(content))
    except (SafetensorError, RuntimeError) as error:
        raise damaged from error
