"""Read tensors of safetensors files and of torch's files, without running any code in them.

Of torch's files only tensors, plain values and numpy's scalars are restored, in the current format
(zip) and in that before torch 1.6. The tensors are where the trainers of GB-LSR, LIIF and LTE and
common libraries put them, or the whole content of the file.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import UserError
from ..files import compute_sha256, read_json_map
from ..weights import parse_tensors, read_weights
from .folder import SAFETENSORS, Files

Facts = dict[str, Any]
Record = dict[str, Any]

LARGEST = 2_000_000_000  # bytes of a file of weights
LARGEST_TEXT = 1_000_000  # bytes of a config.json or run.json
SECTIONS = ("state_dict", "model", "sd", "params_ema", "params", "module")  # that hold the tensors
PREFIXES = ("module.", "model.", "params_ema.", "params.", "_orig_mod.")
# The class of numpy's scalars in a pickle, by its names in numpy 2 and 1, and what it is made with.
SCALAR = np.float64(0).__reduce__()[0]
NUMPY_SCALARS: list[Any] = [
    SCALAR,
    (SCALAR, "numpy.core.multiarray.scalar"),
    np.dtype,
    *{type(np.dtype(code)) for code in "?bBhHiIlLqQefd"},
]


@dataclass(frozen=True)
class Checkpoint:
    """Tensors of a file by their names in it without a common prefix, with their metadata.

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

    Raises `UserError` if it is too large, damaged or of another kind, or if a weights file of this
    project is not the one in its record.
    """
    path = files.weights
    _check_sizes(files)
    facts = read_json_map(files.facts) if files.facts else {}
    record: Record = {}
    if path.suffix == SAFETENSORS:
        tensors, record = _read_safetensors(files)
    else:
        tensors, others = _read_pickled(path)
        facts |= others
    return Checkpoint(path, compute_sha256(path), _strip_prefix(tensors), facts, record)


def _check_sizes(files: Files) -> None:
    """Raise `UserError` for files that are too large."""
    for path in files.present:
        largest = LARGEST if path == files.weights else LARGEST_TEXT
        if path.stat().st_size > largest:
            raise UserError(
                f"{path} has {path.stat().st_size:,} bytes, more than the {largest:,} that such a "
                "file of these models may have; name another file."
            )


def _read_safetensors(files: Files) -> tuple[Mapping[str, Tensor], Record]:
    """Read the tensors of a safetensors file, and its record if it is of a run of this project."""
    path = files.weights
    try:
        header, tensors = parse_tensors(path.read_bytes())
    except ValueError as error:
        raise UserError(
            f"{path} is damaged or no safetensors file ({error}); get it again."
        ) from error
    if files.record is None and "run" not in header:
        return tensors, {}
    record, tensors = read_weights(path)
    return tensors, record


def _read_pickled(path: Path) -> tuple[Mapping[str, Tensor], Facts]:
    """Read the tensors of a file of torch, and its plain values."""
    try:
        with torch.serialization.safe_globals(NUMPY_SCALARS):
            content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise UserError(
            f"{path} holds something else than tensors and plain values, which could run code, or "
            "is damaged or another kind of file, such as a page or a pointer; it was not read: get "
            "the weights again, or in another format."
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
    """Find the map of tensors in the content of a file, and separate it from plain values.

    Trainers put it into a section of their checkpoint, LIIF's and LTE's into one of a section.
    """
    facts: Facts = {}
    if not isinstance(content, dict):
        return {}, facts
    for _ in SECTIONS:
        section = next((name for name in SECTIONS if isinstance(content.get(name), dict)), None)
        if section is None:
            break
        facts = {name: value for name, value in content.items() if name != section} | facts
        content = content[section]
    return content, facts


def _strip_prefix(tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Strip what a wrapper of models put before all names, once."""
    for prefix in PREFIXES:
        if tensors and all(name.startswith(prefix) for name in tensors):
            return {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
    return tensors


def _is_plain(name: Any, value: Any) -> bool:
    """Decide whether an entry is a name and a dense tensor in memory."""
    return (
        isinstance(name, str)
        and isinstance(value, Tensor)
        and value.layout == torch.strided
        and value.device.type == "cpu"
    )
