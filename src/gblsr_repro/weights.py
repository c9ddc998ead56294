"""Write and read the weights of a run in the safetensors format, with metadata and checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import Tensor, nn

from .errors import UserError
from .files import write_bytes
from .metadata import METADATA_FILE, check_metadata, read_metadata

WEIGHTS_FILE = "weights.safetensors"
# Keys of a run's metadata, and of its training settings, that a weights file repeats: those that
# the model is built from and identified by.
BUILT_FROM = ("arm", "method", "seed", "identity", "colors", "released")
BUILT_FROM_TRAINING = ("scale_range",)
IMPORT_ADVICE = (
    "or make a run of weights that others released, by `gblsr-repro import`, and name that"
)


def parse_tensors(content: bytes) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Parse bytes in the safetensors format into metadata and tensors; else `ValueError`."""
    try:
        tensors = safetensors.torch.load(content)
    except (safetensors.SafetensorError, KeyError) as error:  # the latter: a type torch lacks
        raise ValueError(" ".join(str(error).split())) from error
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]).get("__metadata__") or {}, tensors


def compute_checksum(tensors: Mapping[str, Tensor], text: str) -> str:
    """Compute the SHA-256 of a text and of the names, types, shapes and values of tensors."""
    digest = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()


def write_weights(run_dir: Path, model: nn.Module, facts: Mapping[str, Any]) -> str:
    """Write a model's weights into its run folder and return the SHA-256 of the file.

    `facts` is the run's metadata, of which the file repeats what the model is built from, so that
    `read_weights` needs no run.json.
    """
    # Copies, since the format refuses weights that two layers of a model share.
    tensors = {k: v.cpu().clone().contiguous() for k, v in model.state_dict().items()}
    content = safetensors.torch.save(tensors, build_metadata(facts, tensors))
    write_bytes(run_dir / WEIGHTS_FILE, content)
    return hashlib.sha256(content).hexdigest()


def build_metadata(
    facts: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    more: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Build the metadata of a weights file: what its model is built from, and `more`.

    All of it is one entry, because safetensors writes several in a random order.
    """
    training = facts["config"].get("training", {})
    config = {
        "model": facts["config"]["model"],
        "training": {k: training[k] for k in BUILT_FROM_TRAINING if k in training},
    }
    metadata = {k: facts[k] for k in BUILT_FROM if k in facts} | {"config": config, **(more or {})}
    digest = compute_checksum(tensors, json.dumps(metadata))
    return {"run": json.dumps({"record": metadata, "sha256": digest})}


def read_weights(path: Path | str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read the metadata and the weights of a run from its folder or from a weights file.

    The metadata is the run.json beside the file if that has the checksum of the file, else the one
    in the file. Raises `UserError` when the file has no metadata or is damaged.
    """
    path = Path(path)
    file = path / WEIGHTS_FILE if path.is_dir() else path
    try:
        content = file.read_bytes()
    except FileNotFoundError as error:
        raise UserError(
            f"{path} is no trained run; name a folder that holds {WEIGHTS_FILE}, or a weights "
            f"file, {IMPORT_ADVICE}."
        ) from error
    beside = file.with_name(METADATA_FILE)
    metadata = read_metadata(beside) if beside.is_file() else {}
    recorded = metadata.get("weights_sha256") == hashlib.sha256(content).hexdigest()
    if metadata and not recorded and file.name == WEIGHTS_FILE:
        raise UserError(
            f"{file} is not the file that {beside} records; put that in its place, or delete "
            f"{file.parent} and train again."
        )
    try:
        header, tensors = parse_tensors(content)
    except ValueError as error:
        raise UserError(
            f"{file} is not a weights file ({error}); name a {WEIGHTS_FILE} that training wrote, "
            f"{IMPORT_ADVICE}."
        ) from error
    if recorded:
        return metadata, tensors
    if "run" not in header:
        raise UserError(
            f"{file} does not say which run it is of; put the run.json of that run beside it, "
            f"{IMPORT_ADVICE}."
        )
    try:
        entry = json.loads(header["run"])
        intact = entry["sha256"] == compute_checksum(tensors, json.dumps(entry["record"]))
    except (ValueError, KeyError, TypeError):
        intact = False
    if not intact:
        raise UserError(f"{file} is damaged; copy it again from the run.")
    check_metadata(entry["record"], file)
    return entry["record"], tensors
