"""Write the bandwidth and cutoff order that a trained native arm predicts for every patch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from .. import runtime
from ..config import Config
from ..data.arrays import ImageArray
from ..metadata import METADATA_FILE, read_metadata
from ..models.native import NativeModel
from ..progress import log, show_progress
from ..runs import load_run
from . import regions
from .fields import BandwidthFields
from .metrics import MetricConstants


def write_fields(
    config: Config, runs: Sequence[Path], array: Path, thresholds: Path, output: Path
) -> None:
    """Write the fields of trained GB-LSR arms on the first diagnostics.images images of `array`.

    `runs` are run folders, `thresholds` is the path of the thresholds of the regions. Writes
    <arm>/seed<seed>.npz into the folder `output`. Raises `UserError` when a file is missing or
    damaged, or when an arm has no bandwidth.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    bounds, images = regions.RegionThresholds.read(thresholds), ImageArray.open(array)
    settings = MetricConstants.from_config(config)
    count = min(config["diagnostics"]["images"], len(images))
    for run in runs:
        model = runtime.prepare_for_inference(load_run(run, NativeModel, config), device)
        seed = read_metadata(run / METADATA_FILE).get("seed", 0)
        log.info("fields of %s seed %s", model.name, seed)
        parts: list[tuple[Tensor, ...]] = []
        with torch.no_grad():
            for position in show_progress(range(count), "fields", "image"):
                image = images.load_images([position], device)
                predicted = model.decoder.predict_fields(model.encode(image))
                labels = regions.label_patches(image, bounds, settings).to(torch.int8)
                parts.append(tuple(field.cpu() for field in (*predicted, labels)))
        bandwidth, order, region = (torch.cat(part).numpy() for part in zip(*parts, strict=True))
        fields = BandwidthFields(bandwidth, order, region, np.array(images.names[:count]))
        fields.write(output / model.name / f"seed{seed}.npz")
