"""Score a trained arm of the native benchmark, image by image and region by region."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .. import runtime
from ..config import Arm, Config
from ..data.arrays import ImageArray
from ..dependencies import collect_dependencies
from ..files import write_csv, write_json
from ..models.native import NativeModel
from ..runs import load_matching_run
from . import REGIONS, metrics, regions
from .kept_rows import compute_rows
from .metrics import MetricConstants
from .perceptual import PerceptualDistance

VALIDATION = "validation"
SCORE_COLUMNS = (
    "image",
    *metrics.WHOLE_IMAGE,
    *("lpips", "edge_lpips", "border_step", "center_step"),
    *(f"{metric}_{region}" for metric in metrics.PER_PATCH for region in REGIONS),
)


def evaluate_run(
    config: Config,
    arm: Arm,
    seed: int,
    run: Path,
    arrays: Path,
    output: Path,
    state: Path,
    only: Sequence[str] = (),
) -> None:
    """Score the run in folder `run` on every evaluation set and on the validation images.

    `arrays` is the folder of the standardized arrays and of the thresholds of the regions. Writes
    for every set, or for those of `only`, <set>.csv into the folder `output`, one row per image
    with `SCORE_COLUMNS`, and <set>.json, which describes device, weights and under `depends_on` the
    dependencies. Scores are kept image by image in the folder `state` (see `compute_rows`). Raises
    `UserError` when the run is not of this arm and seed, or when a file is missing or damaged.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    model, trained = load_matching_run(run, NativeModel, arm, seed, config, device)
    runtime.prepare_for_inference(model, device)
    thresholds = regions.RegionThresholds.read(arrays / "validation_regions.json")
    perceptual = PerceptualDistance(device)
    settings = MetricConstants.from_config(config)
    description = {
        "arm": arm.arm,
        "seed": seed,
        "device": runtime.describe_device(device),
        "weights_sha256": trained["weights_sha256"],
        "versions": runtime.list_versions(),
    }
    shared = collect_dependencies("evaluate", None, config) | {
        "weights_sha256": trained["weights_sha256"],
        "regions": thresholds.model_dump(),
    }
    for name in only or [*config["native"]["data"]["evaluate"], VALIDATION]:
        array = ImageArray.open(arrays / f"{name}.npy")
        names = array.names[: config["diagnostics"]["images"] if name == VALIDATION else None]
        count = len(names)
        dependencies = shared | {"array_sha256": array.description["sha256"], "images": count}

        def score(position: int, array: ImageArray = array) -> dict[str, Any]:
            truth = array.load_images([position], device)
            return score_image(reconstruct(model, truth), truth, thresholds, settings, perceptual)

        label = f"evaluate {arm.arm} seed {seed} on {name}"
        facts = {"dataset": name, "images": count, "depends_on": dependencies}
        # Scores of another device or of other versions are not called those of this one.
        kept = dependencies | {
            "device": runtime.identify_device(description["device"]),
            "versions": description["versions"],
        }
        rows = compute_rows(state, name, kept, names, score, label)
        table = output / f"{name}.csv"
        write_csv(table, SCORE_COLUMNS, rows)
        write_json(table.with_suffix(".json"), description | facts)


@torch.no_grad()
def reconstruct(model: NativeModel, images: Tensor) -> Tensor:
    """Reconstruct images (B, 3, H, W) by the model, clamped to [0, 1]."""
    return model(images).clamp(0, 1)


def score_image(
    image: Tensor,
    truth: Tensor,
    thresholds: regions.RegionThresholds,
    settings: MetricConstants,
    perceptual: PerceptualDistance,
) -> dict[str, float | None]:
    """Score a clamped reconstruction (1, 3, H, W) against the `truth`; return `SCORE_COLUMNS`.

    Those but the image's name. Metrics of a region without patches are None.
    """
    scores: dict[str, float | None] = {
        name: measure(image, truth, settings).item()
        for name, measure in metrics.WHOLE_IMAGE.items()
    }
    mask = metrics.compute_edge_mask(truth, settings)
    scores["lpips"] = perceptual.measure_lpips(image, truth).item()
    scores["edge_lpips"] = perceptual.measure_edge_lpips(image, truth, mask).item()
    steps = metrics.measure_border_steps(image, settings)
    (scores["border_step"],), (scores["center_step"],) = steps
    labels = regions.label_patches(truth, thresholds, settings)
    for metric, measure in metrics.PER_PATCH.items():
        (means,) = metrics.average_regions(measure(image, truth, settings), labels)
        scores |= {f"{metric}_{region}": mean for region, mean in means.items()}
    return scores
