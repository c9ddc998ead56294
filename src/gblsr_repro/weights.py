"""Write and read the weights of a run in the safetensors format, with a record and checksums."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from .errors import UserError
from .files import compute_sha256, read_json, write_bytes

NAME = "weights.safetensors"
# Data types of the safetensors format, in its order.
DTYPES = {
    "I64": torch.int64,
    "F64": torch.float64,
    "F32": torch.float32,
    "I32": torch.int32,
    "BF16": torch.bfloat16,
    "F16": torch.float16,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
LARGEST = 2**48  # values along an axis, or bytes of a file
LARGEST_HEADER = 100_000_000  # bytes, as the format's own library allows
# Keys of a run's record, and of its training settings, that a weights file repeats: those that the
# model is built from and identified by.
BUILT_FROM = ("arm", "method", "seed", "identity", "colors", "released")
BUILT_FROM_TRAINING = ("scale_range",)


def serialize_tensors(
    tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None
) -> bytes:
    """Serialize tensors in the safetensors format, with the same bytes as that package.

    The length of the header (8 bytes), the header as JSON (padded to a multiple of 8 bytes), the
    values of one tensor after the other. Implemented here, so that training needs torch alone.
    """
    names, types = {dtype: name for name, dtype in DTYPES.items()}, list(DTYPES)
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    values = []
    end = 0
    for name, tensor in sorted(
        tensors.items(), key=lambda item: (types.index(names[item[1].dtype]), item[0])
    ):
        start, end = end, end + tensor.numel() * tensor.element_size()
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [start, end]}  # fmt: skip
        values.append(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *(v.tobytes() for v in values)])


def parse_tensors(content: bytes) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Parse bytes in the safetensors format into metadata and tensors; else `ValueError`.

    The tensors must fill the bytes after the header exactly, without overlaps or gaps, and have the
    length of their type and shape, so that every reader of the file gets the same values.
    """
    metadata, entries, values = _split_header(content)
    end = 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1].span):
        start, length = entry.span[0], entry.span[1] - entry.span[0]
        if start != end:
            problem = "overlaps the one before it" if start < end else "leaves a gap before it"
            raise ValueError(f"its tensor {name!r} {problem}")
        if length != math.prod(entry.shape) * entry.dtype.itemsize:
            raise ValueError(f"its tensor {name!r} is {length} bytes long, unlike its shape")
        end += length
    if end != len(values):
        problem = "lacks" if end > len(values) else "has"
        raise ValueError(f"it {problem} {abs(end - len(values))} bytes after its header")
    return metadata, {name: entry.read(values) for name, entry in entries.items()}


@dataclass(frozen=True)
class _Entry:
    """The entry of a tensor in a header: type, shape, and the range of its bytes."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    span: tuple[int, int]

    @classmethod
    def parse(cls, name: str, value: Any) -> _Entry:
        """Parse the entry of a tensor; `ValueError` where it is malformed."""
        match value:
            case {"dtype": str(dtype), "shape": list(shape), "data_offsets": list(span), **others}:
                if dtype not in DTYPES:
                    raise ValueError(f"its tensor {name!r} has the unknown type {dtype!r}")
                are_valid = all(type(n) is int and 0 <= n < LARGEST for n in (*shape, *span))
                if are_valid and len(span) == 2 and not others:
                    return cls(DTYPES[dtype], tuple(shape), (span[0], span[1]))
        raise ValueError(f"the entry of its tensor {name!r} is malformed")

    def read(self, values: bytearray) -> Tensor:
        """Read the tensor, which shares the memory of all `values`."""
        count = math.prod(self.shape)
        if not count:
            return torch.empty(self.shape, dtype=self.dtype)
        flat = torch.frombuffer(values, dtype=self.dtype, offset=self.span[0], count=count)
        return flat.reshape(self.shape)


def _split_header(content: bytes) -> tuple[dict[str, str], dict[str, _Entry], bytearray]:
    """Split a file into metadata, the entries of its tensors, and the bytes after the header."""
    length = int.from_bytes(content[:8], "little")
    if not 2 <= length <= min(len(content) - 8, LARGEST_HEADER):
        raise ValueError(f"its header cannot be {length:,} bytes long")
    try:
        header = json.loads(content[8 : 8 + length], object_pairs_hook=_refuse_repeated_names)
    except (ValueError, RecursionError) as error:
        raise ValueError("its header is not a JSON map that names each tensor once") from error
    if not isinstance(header, dict):
        raise ValueError("its header is not a JSON map that names each tensor once")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ValueError("the metadata in its header are not a map of texts")
    entries = {name: _Entry.parse(name, value) for name, value in header.items()}
    return metadata, entries, bytearray(content[8 + length :])


def _refuse_repeated_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a map from pairs; `ValueError` where a name repeats."""
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("a name repeats")
    return mapping


def write_tensors(
    path: Path | str, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors to a safetensors file atomically; `UserError` when it cannot be written."""
    write_bytes(path, serialize_tensors(tensors, metadata))


def compute_checksum(tensors: Mapping[str, Tensor], text: str) -> str:
    """Compute the SHA-256 of a text and of the names, types, shapes and values of tensors."""
    digest = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()


def write_weights(run_dir: Path, model: nn.Module, facts: Mapping[str, Any] | None = None) -> str:
    """Write a model's weights into its run folder and return the SHA-256 of the file.

    `facts` is the run's record, of which the file repeats what the model is built from, so that
    `read_weights` needs no run.json.
    """
    tensors = {k: v.contiguous().cpu() for k, v in model.state_dict().items()}
    write_tensors(run_dir / NAME, tensors, build_metadata(facts, tensors) if facts else None)
    return compute_sha256(run_dir / NAME)


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
    record = {k: facts[k] for k in BUILT_FROM if k in facts} | {"config": config, **(more or {})}
    digest = compute_checksum(tensors, json.dumps(record))
    return {"run": json.dumps({"record": record, "sha256": digest})}


def read_weights(path: Path | str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read the record and the weights of a run from its folder or from a weights file.

    The record is the run.json beside the file if that has the checksum of the file, else the one in
    the file. Raises `UserError` when the file has no record or is damaged.
    """
    path = Path(path)
    file = path / NAME if path.is_dir() else path
    try:
        content = file.read_bytes()
    except FileNotFoundError as error:
        raise UserError(
            f"{path} is no trained run; name a folder that holds {NAME}, or a weights file."
        ) from error
    beside = file.with_name("run.json")
    record = read_json(beside) if beside.is_file() else {}
    if not isinstance(record, dict):
        raise UserError(f"{beside} is not the record of a run; train this run again.")
    recorded = record.get("weights_sha256") == hashlib.sha256(content).hexdigest()
    if record and not recorded and file.name == NAME:
        raise UserError(
            f"{file} is not the file that {beside} records; put that in its place, or delete "
            f"{file.parent} and train again."
        )
    try:
        header, tensors = parse_tensors(content)
    except ValueError as error:
        raise UserError(
            f"{file} is not a weights file ({error}); name a {NAME} that training wrote."
        ) from error
    if recorded:
        return record, tensors
    if "run" not in header:
        raise UserError(
            f"{file} does not say which run it is of; put the run.json of that run beside it."
        )
    try:
        entry = json.loads(header["run"])
        intact = entry["sha256"] == compute_checksum(tensors, json.dumps(entry["record"]))
    except (ValueError, KeyError, TypeError):
        intact = False
    if not intact:
        raise UserError(f"{file} is damaged; copy it again from the run.")
    return entry["record"], tensors
