"""Small settings, images, arrays and runs, made the same way for the tests of several rooms."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import torch

from gblsr_repro import config, files
from gblsr_repro.data.sources import sources
from gblsr_repro.models import native
from gblsr_repro.models.asr import model as asr
from gblsr_repro.models.base import count_parameters
from gblsr_repro.weights import write_weights

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


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    """Bytes drawn from a seed."""
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


class Picture:
    """An image that is in memory already."""

    def __init__(self, name: str, pixels: np.ndarray) -> None:
        self.name, self.pixels = name, pixels

    def load(self) -> np.ndarray:
        return self.pixels


def located(dataset: str, settings: config.Config) -> list[Path]:
    """The files of a data set's images, in the order of use."""
    return [source.file for source in sources(dataset, settings)]


def array(path: Path, images: np.ndarray) -> Path:
    """Write images (N, H, W, 3) as standardizing does: with their index and record."""
    np.save(path, images)
    size, name = images.shape[1], path.stem
    columns = ("position", "dataset", "name", "width", "height", "sha256")
    index = path.with_suffix(".csv")
    rows = [(i, "noise", f"{name}_{i}", size, size, "0" * 64) for i in range(len(images))]
    files.write_csv(index, columns, rows)
    sums = {"sha256": files.sha256(path), "index_sha256": files.sha256(index)}
    files.write_json(path.with_suffix(".json"), {"datasets": [], "images": len(images)} | sums)
    return path


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
    arm = config.arms().get(name)
    row, build = (arm, native.build) if arm else (config.methods()[name], asr.build)
    half, kind = ("native", "arm") if arm else ("asr", "method")
    model = build(row, settings, seed)
    with torch.no_grad():
        for parameter in model.decoder.parameters():
            parameter.add_(spread * torch.randn_like(parameter))
    sections = {key: settings[half][key] for key in ("model", "training")}
    facts = {kind: name, "seed": seed, "steps": 5, "config": sections}
    facts["parameters"] = count_parameters(model)
    facts["identity"] = config.run_identity(row, settings)
    folder.mkdir(parents=True, exist_ok=True)
    facts["weights_sha256"] = write_weights(folder, model, facts if told else None)
    files.write_json(folder / "run.json", facts)
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def record(path: Path) -> dict:
    """A JSON record."""
    return json.loads(path.read_text())
