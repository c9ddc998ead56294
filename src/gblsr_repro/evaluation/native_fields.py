"""Bandwidth and cutoff order of every patch, as a trained arm of the native benchmark sets them."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from .. import runtime
from ..config import Arm, Config
from ..data.arrays import ImageArray
from ..models.native import NativeModel
from ..runs import load_matching_run
from . import regions
from .batches import read_batches
from .fields import Fields
from .metrics import MetricSettings


def write_fields(
    config: Config,
    arm: Arm,
    seed: int,
    run: Path | str,
    array: Path | str,
    thresholds: Path | str,
    output: Path | str,
) -> None:
    """Write the fields of a trained GB-LSR arm on the first diagnostics.images of `array`.

    `thresholds` is regions.json. Raises `UserError`, also for an arm without a bandwidth.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    model, _ = load_matching_run(run, NativeModel, arm, seed, config, device)
    runtime.prepare_for_inference(model, device)
    settings, bounds = MetricSettings.from_config(config), regions.Thresholds.read(thresholds)
    arrays = ImageArray.open(array)
    count = min(config["diagnostics"]["images"], len(arrays))
    parts: list[tuple[Tensor, ...]] = []
    with torch.no_grad():
        for _, images in read_batches(arrays, count, device, f"fields of {arm.arm} seed {seed}"):
            found = (
                *model.predict_fields(model.encode(images)),
                regions.label_patches(images, bounds, settings),
            )
            parts.append(tuple(part.cpu() for part in found))
    bandwidth, order, region = (torch.cat(part).numpy() for part in zip(*parts, strict=True))
    Fields(bandwidth, order, region, arrays.names[:count]).write(output)
