"""Read tensors of safetensors files and of torch's files, without running any code in them.

Of torch's files only tensors, plain values and numpy's scalars are restored, in the current format
(zip) and in that before torch 1.6. The tensors are where the trainers of GB-LSR, LIIF and LTE and
common libraries put them, or the whole content of the file.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import UserError
from ..files import compute_sha256
from ..metadata import METADATA_FILE
from ..weights import parse_tensors, read_weights
from .folder import SAFETENSORS

LARGEST = 2_000_000_000  # bytes of a file of weights
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
    """Tensors of a file by their names in it without a common prefix.

    `metadata` is that of a run of this project, and empty for weights that others released.
    """

    file: Path
    sha256: str
    tensors: Mapping[str, Tensor]
    metadata: dict[str, Any]


def read_checkpoint(path: Path) -> Checkpoint:
    """Read the tensors of a file of weights.

    Raises `UserError` if it is too large, damaged or of another kind, or if a weights file of this
    project is not the one in its metadata.
    """
    if path.stat().st_size > LARGEST:
        raise UserError(
            f"{path} has {path.stat().st_size:,} bytes, more than the {LARGEST:,} that such a file "
            "of these models may have; name another file."
        )
    if path.suffix == SAFETENSORS:
        tensors, metadata = _read_safetensors(path)
    else:
        tensors, metadata = _read_pickled(path), {}
    return Checkpoint(path, compute_sha256(path), _strip_prefix(tensors), metadata)


def _read_safetensors(path: Path) -> tuple[Mapping[str, Tensor], dict[str, Any]]:
    """Read the tensors of a safetensors file, and the metadata of a run of this project."""
    try:
        header, tensors = parse_tensors(path.read_bytes())
    except ValueError as error:
        raise UserError(
            f"{path} is damaged or no safetensors file ({error}); get it again."
        ) from error
    if "run" not in header and not path.with_name(METADATA_FILE).is_file():
        return tensors, {}
    metadata, tensors = read_weights(path)
    return tensors, metadata


def _read_pickled(path: Path) -> Mapping[str, Tensor]:
    """Read the tensors of a file of torch."""
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
    # Trainers put the tensors into a section of their checkpoint, LIIF's and LTE's into two.
    while isinstance(content, dict):
        section = next((name for name in SECTIONS if isinstance(content.get(name), dict)), None)
        if section is None:
            break
        content = content[section]
    if not isinstance(content, dict) or not all(map(_is_tensor, content.items())):
        raise UserError(
            f"{path} holds no map of names to tensors; name a file of weights, as the trainers of "
            "GB-LSR, LIIF and LTE write it."
        )
    return content


def _is_tensor(item: tuple[Any, Any]) -> bool:
    """Decide whether an entry is a name and a tensor."""
    name, value = item
    return isinstance(name, str) and isinstance(value, Tensor)


def _strip_prefix(tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Strip what a wrapper of models put before all names, once."""
    for prefix in PREFIXES:
        if all(name.startswith(prefix) for name in tensors):
            return {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
    return tensors
