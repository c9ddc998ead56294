"""Small settings, images, arrays and runs, made the same way for the tests of several rooms."""

from __future__ import annotations

import csv
import json
import math
import zlib
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

from gblsr_repro import config, dependencies, files
from gblsr_repro.data import superres
from gblsr_repro.data.arrays import write_array
from gblsr_repro.data.sources import list_source_images
from gblsr_repro.data.standardize import ARRAY_INDEX_COLUMNS
from gblsr_repro.metadata import Images
from gblsr_repro.models import native
from gblsr_repro.models.asr import model as asr
from gblsr_repro.models.base import count_parameters
from gblsr_repro.weights import WEIGHTS_FILE, write_weights

NATIVE = {"features": 8, "patch": 4, "norm_groups": 2, "modes": 4, "hidden": 8}
ASR = {
    "rdn_features": 4,
    "rdn_blocks": 2,
    "rdn_layers": 2,
    "rdn_growth": 4,
    "swinir_embed": 12,
    "swinir_depths": [2],
    "swinir_heads": 2,
    "hidden": 8,
    "modes": 4,
}
SMALL = {"device": "cpu", "threads": 1, "native": {"model": NATIVE}, "asr": {"model": ASR}}


def nested(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings by their dotted names as an overlay has them."""
    overlay: dict[str, Any] = {}
    for name, value in settings.items():
        for key in reversed(name.split(".")):
            value = {key: value}
        overlay = config.merge(overlay, value)
    return overlay


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    """Bytes drawn from a seed."""
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def png(chunks: dict[bytes, bytes]) -> bytes:
    """A PNG file of chunks by name, with their lengths and checksums."""
    framed = (
        len(content).to_bytes(4) + name + content + zlib.crc32(name + content).to_bytes(4)
        for name, content in chunks.items()
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


def images(batch: int, height: int, width: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Images (B, 3, H, W) in [0, 1], the same for the same size."""
    generator = torch.Generator().manual_seed(7)
    return torch.rand(batch, 3, height, width, generator=generator, dtype=dtype)


def centers(height: int, width: int) -> torch.Tensor:
    """The image coordinates of all pixel centers, row by row: (height * width, 2) in float64."""
    axes = ((2 * torch.arange(count).double() + 1) / count - 1 for count in (height, width))
    return torch.cartesian_prod(*axes)


def located(dataset: str, settings: config.Config) -> list[Path]:
    """The files of a data set's images, in the order of use."""
    return [source.file for source in list_source_images(dataset, settings)]


def moved(model: nn.Module, scale: float = 0.2, seed: int = 5) -> nn.Module:
    """Add noise to every weight of a model, so that none is at its start; return the model."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(scale * torch.randn(weight.shape, generator=generator).to(weight.dtype))
    return model


Row = TypeVar("Row", bound=config.TableRow)


def dataset(**cells: Any) -> config.Dataset:
    """A row of the table of data sets that says nothing but these cells."""
    return config.Dataset.model_validate({"role": "evaluate", **cells})


def changed(row: Row, **cells: Any) -> Row:
    """A row with other cells, as a table has them."""
    return type(row).model_validate(row.model_dump() | cells)


def image_set(name: str, title: str, have: int, of: int, **facts: Any) -> Images:
    """The record of a data set of which a job read some images or all."""
    facts |= {"dataset": name, "title": title, "images": have, "expected": of}
    return Images(complete=have == of, **facts)


def array(path: Path, images: np.ndarray) -> Path:
    """Write images (N, H, W, 3) as standardizing does: with their index and record."""
    size, name = images.shape[1], path.stem
    rows = [(i, "noise", f"{name}_{i}", size, size, "0" * 64) for i in range(len(images))]
    write_array(path, images.shape[1:], [images], ARRAY_INDEX_COLUMNS, rows, {"datasets": []})
    return path


def packed(path: Path, images: list[np.ndarray]) -> Path:
    """Write images (H, W, 3) as packing for super-resolution does: with their index and record."""
    sizes = [image.shape[:2] for image in images]
    offsets = np.cumsum([0, *map(math.prod, sizes)])
    rows = [(i, "noise", f"image{i}", offsets[i], *size) for i, size in enumerate(sizes)]
    write_array(path, (3,), images, superres.PACKED_INDEX_COLUMNS, rows, {"datasets": []})
    return path


def model(name: str, settings: config.Config, seed: int = 0) -> nn.Module:
    """The model of an arm or a method with the weights it begins with."""
    arm = config.read_arms().get(name)
    if arm:
        return native.NativeModel.build(arm, settings, seed)
    return asr.ASRModel.build(config.read_methods()[name], settings, seed)


def run(
    folder: Path,
    name: str,
    settings: config.Config,
    seed: int = 0,
    spread: float = 0.0,
    told: bool = True,
) -> Path:
    """Write a run of an arm or a method with the weights it begins with, and return its folder.

    `spread` is that of noise added to the decoder's weights; `told`: the weights file says itself
    what it holds.
    """
    row = (config.read_arms() | config.read_methods())[name]
    half, kind = ("native", "arm") if name in config.read_arms() else ("asr", "method")
    untrained = model(name, settings, seed)
    moved(untrained.decoder, spread)
    sections = {key: settings[half][key] for key in ("model", "training")}
    facts = {kind: name, "seed": seed, "steps": 5, "config": sections}
    facts["parameters"] = count_parameters(untrained)
    facts["identity"] = dependencies.identify_run(row, settings)
    folder.mkdir(parents=True, exist_ok=True)
    facts["weights_sha256"] = write_weights(folder, untrained, facts)
    if not told:
        save_file(untrained.state_dict(), folder / WEIGHTS_FILE)
        facts["weights_sha256"] = files.compute_sha256(folder / WEIGHTS_FILE)
    files.write_json(folder / "run.json", facts)
    return folder


def nvidia_smi(folder: Path, count: int) -> None:
    """Write a program that lists the numbers of so many GPUs, as nvidia-smi does."""
    (folder / "nvidia-smi").write_text(f"#!/bin/sh\nseq 0 {count - 1}\n")
    (folder / "nvidia-smi").chmod(0o755)


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def record(path: Path) -> dict:
    """A JSON record."""
    return json.loads(path.read_text())
