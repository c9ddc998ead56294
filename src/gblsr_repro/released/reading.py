"""Read tensors of safetensors files and of torch's files, without running any code in them.

Of torch's files only tensors and plain values are restored, in the current format (zip) and in that
before torch 1.6. The tensors are where the trainers of GB-LSR, LIIF and LTE put them, or the whole
content of the file.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..errors import UserError
from ..files import compute_sha256
from ..weights import parse_tensors, read_weights
from .folder import SAFETENSORS, Files

Facts = dict[str, Any]
Record = dict[str, Any]


@dataclass(frozen=True)
class Checkpoint:
    """Tensors of a file by their names in it, with their metadata.

    `facts` are the other fields of the file and of config.json; `record` is the record of a run of
    this project, and empty for weights that others released.
    """

    file: Path
    sha256: str
    tensors: Mapping[str, Tensor]
    facts: Facts = field(default_factory=dict)
    record: Record = field(default_factory=dict)


def read_checkpoint(files: Files) -> Checkpoint:
    """Read the tensors and the metadata of a file of weights.

    Raises `UserError` if it is damaged or of another kind, or if a weights file of this project is
    not the one in its record.
    """
    path = files.weights
    facts = read_facts(files.facts) if files.facts else {}
    if path.suffix != SAFETENSORS:
        tensors, others = _read_pickled(path)
        return Checkpoint(path, compute_sha256(path), tensors, facts | others)
    try:
        header, tensors = parse_tensors(path.read_bytes())
    except ValueError as error:
        raise UserError(
            f"{path} is damaged or no safetensors file ({error}); get it again."
        ) from error
    record: Record = {}
    if files.record is not None or "run" in header:
        record, tensors = read_weights(path)
    return Checkpoint(path, compute_sha256(path), tensors, facts, record)


def read_facts(path: Path) -> Facts:
    """Read a config.json; `UserError` if it is no JSON map."""
    try:
        facts = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is no JSON text; get it again, or remove it.") from error
    if not isinstance(facts, dict):
        raise UserError(f"{path} is no map of settings; get it again, or remove it.")
    return facts


def _read_pickled(path: Path) -> tuple[Mapping[str, Tensor], Facts]:
    """Read the tensors of a file of torch, and its plain values."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise UserError(
            f"{path} holds something else than tensors and plain values, which could run code, or "
            "is damaged; it was not read: get the weights again, or in another format."
        ) from error
    except Exception as error:  # a damaged pickle can make its reader raise anything
        raise UserError(
            f"{path} is damaged or no file of torch ({type(error).__name__}); get it again."
        ) from error
    tensors, others = _find_tensors(content)
    if not tensors or not all(_is_plain(name, value) for name, value in tensors.items()):
        raise UserError(
            f"{path} holds no map of names to tensors; name a file of weights, as the trainers of "
            "GB-LSR, LIIF and LTE write it."
        )
    return tensors, others


def _find_tensors(content: Any) -> tuple[dict[Any, Any], Facts]:
    """Find the map of tensors in the content of a file, and separate it from plain values."""
    if not isinstance(content, dict):
        return {}, {}
    if isinstance(content.get("state_dict"), dict):  # the trainer of GB-LSR
        return content["state_dict"], {k: v for k, v in content.items() if k != "state_dict"}
    model = content.get("model")
    if isinstance(model, dict) and isinstance(model.get("sd"), dict):  # those of LIIF and LTE
        facts = {k: v for k, v in model.items() if k != "sd"}
        return model["sd"], {"model": facts, "epoch": content.get("epoch")}
    return content, {}


def _is_plain(name: Any, value: Any) -> bool:
    """Decide whether an entry is a name and a dense tensor in memory."""
    return (
        isinstance(name, str)
        and isinstance(value, Tensor)
        and value.layout == torch.strided
        and value.device.type == "cpu"
        and not value.is_quantized
    )
