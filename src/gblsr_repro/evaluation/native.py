"""Measuring a trained arm of the native benchmark, image by image and patch by patch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .. import runtime
from ..config import Arm, Config, collect_dependencies
from ..data.arrays import ImageArray
from ..files import is_up_to_date, write_csv, write_json
from ..models.native import NativeModel
from ..progress import log
from ..runs import load_matching_run
from . import REGIONS, metrics, regions
from .batches import read_batches
from .metrics import MetricSettings
from .perceptual import PerceptualDistance, find_backbone

VALIDATION = "validation"
WHOLE_IMAGE = (*metrics.WHOLE_IMAGE, "lpips", "edge_lpips", "border_step", "center_step")
PER_REGION = tuple(f"{metric}_{region}" for metric in metrics.PER_PATCH for region in REGIONS)
COLUMNS = ("image", *WHOLE_IMAGE, *PER_REGION)


# --- quality ------------------------------------------------------------------------------------


def evaluate_run(
    config: Config,
    arm: Arm,
    seed: int,
    run: Path | str,
    arrays: Path | str,
    output: Path | str,
    only: Sequence[str] = (),
) -> None:
    """Measure the run in folder `run` on every evaluation set and on the validation images.

    `arrays` holds the standardized arrays and regions.json. For each set, or those of `only`,
    `output` gets <set>.csv, one row per image with `COLUMNS`, and <set>.json, which says on what
    device and by which weights, whether LPIPS was measured, and under `follows` from what: a set
    that was measured from the same is kept. Raises `UserError`.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    arrays, output = Path(arrays), Path(output)
    model, trained = load_matching_run(run, NativeModel, arm, seed, config, device)
    runtime.prepare_for_inference(model, device)
    settings = MetricSettings.from_config(config)
    bounds = regions.Thresholds.read(arrays / "regions.json")
    backbone, reason = find_backbone(config)
    perceptual = PerceptualDistance(backbone, device) if backbone else None
    record = {
        "arm": arm.arm,
        "seed": seed,
        "lpips": {
            "measured": perceptual is not None,
            "reason": reason,
            "backbone_sha256": perceptual.sha256 if perceptual else None,
        },
        "device": runtime.describe_device(device),
        "weights_sha256": trained["weights_sha256"],
        "versions": runtime.list_versions(),
    }
    common = collect_dependencies("evaluate", None, config) | {
        "weights_sha256": trained["weights_sha256"],
        "backbone_sha256": record["lpips"]["backbone_sha256"],
        "regions": asdict(bounds),
    }
    for name in only or [*config["native"]["data"]["evaluate"], VALIDATION]:
        opened = ImageArray.open(arrays / f"{name}.npy")
        limit = config["diagnostics"]["images"] if name == VALIDATION else len(opened)
        count = min(limit, len(opened))
        made_from = common | {"array_sha256": opened.description["sha256"], "images": count}
        label = f"evaluate {arm.arm} seed {seed} on {name}"
        if is_up_to_date(output / f"{name}.csv", made_from):
            log.info("%s: kept as it is", label)
            continue
        rows = [
            row
            for names, truth in read_batches(opened, count, device, label)
            for row in measure_images(
                names, reconstruct(model, truth), truth, bounds, settings, perceptual
            )
        ]
        write_csv(output / f"{name}.csv", COLUMNS, rows)
        told = {"dataset": name, "images": count, "follows": made_from}
        write_json(output / f"{name}.json", record | told)


@torch.no_grad()
def reconstruct(model: NativeModel, images: Tensor) -> Tensor:
    """Return the model's reconstruction of (B, 3, H, W), clamped to [0, 1]."""
    return model(images).clamp(0, 1)


def measure_images(
    names: Sequence[str],
    images: Tensor,
    truth: Tensor,
    bounds: regions.Thresholds,
    settings: MetricSettings,
    perceptual: PerceptualDistance | None,
) -> list[dict[str, Any]]:
    """Measure clamped reconstructions (B, 3, H, W) against the `truth`: one row per image.

    Keys are `COLUMNS`. What a region lacks patches for, or LPIPS without its network, is None.
    """
    columns: dict[str, list[float | None]] = {
        name: measure(images, truth, settings).tolist()
        for name, measure in metrics.WHOLE_IMAGE.items()
    }
    columns["border_step"], columns["center_step"] = metrics.measure_seams(images, settings)
    if perceptual:
        mask = metrics.compute_edge_mask(truth, settings)
        columns["lpips"] = perceptual.measure_lpips(images, truth).tolist()
        columns["edge_lpips"] = perceptual.measure_edge_lpips(images, truth, mask).tolist()
    rows: list[dict[str, Any]] = [
        {"image": name} | dict.fromkeys(COLUMNS[1:]) | {c: v[i] for c, v in columns.items()}
        for i, name in enumerate(names)
    ]
    labels = regions.label_patches(truth, bounds, settings)
    for metric, measure in metrics.PER_PATCH.items():
        means = metrics.average_regions(measure(images, truth, settings), labels)
        for row, of_image in zip(rows, means, strict=True):
            row |= {f"{metric}_{region}": mean for region, mean in of_image.items()}
    return rows
