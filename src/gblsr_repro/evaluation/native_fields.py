"""Write the bandwidth and cutoff order that a trained native arm predicts for every patch."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from .. import runtime
from ..config import Arm, Config
from ..data.arrays import ImageArray
from ..models.native import NativeModel
from ..progress import show_progress
from ..runs import load_matching_run
from . import regions
from .fields import Fields
from .metrics import MetricSettings


def write_fields(
    config: Config,
    arm: Arm,
    seed: int,
    run: Path,
    array: Path,
    thresholds: Path,
    output: Path,
) -> None:
    """Write the fields of a trained GB-LSR arm on the first diagnostics.images images of `array`.

    `thresholds` is the path of the thresholds of the regions. Raises `UserError` when a file is
    missing or damaged, or when the arm has no bandwidth.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    model, _ = load_matching_run(run, NativeModel, arm, seed, config, device)
    runtime.prepare_for_inference(model, device)
    settings, bounds = MetricSettings.from_config(config), regions.Thresholds.read(thresholds)
    opened = ImageArray.open(array)
    count = min(config["diagnostics"]["images"], len(opened))
    parts: list[tuple[Tensor, ...]] = []
    with torch.no_grad():
        label = f"fields of {arm.arm} seed {seed}"
        for position in show_progress(range(count), label, "image"):
            images = opened.load_images([position], device)
            of_image = (
                *model.predict_fields(model.encode(images)),
                regions.label_patches(images, bounds, settings),
            )
            parts.append(tuple(field.cpu() for field in of_image))
    bandwidth, order, region = (torch.cat(part).numpy() for part in zip(*parts, strict=True))
    Fields(bandwidth, order, region, opened.names[:count]).write(output)
