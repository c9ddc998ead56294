"""Measuring a trained arm of the native benchmark, image by image and patch by patch; timing it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from .. import runtime
from ..config import Arm, Config
from ..data.arrays import Arrays
from ..errors import UserError
from ..files import atomic_path, write_csv, write_json
from ..models.base import PLAIN
from ..models.native import NativeModel, build
from ..progress import Progress
from ..runs import open_run
from . import REGIONS, latency, metrics, regions
from .locality import Fields
from .metrics import Settings
from .perceptual import Perceptual, find_backbone

VALIDATION = "validation"
WHOLE_IMAGE = (*metrics.WHOLE_IMAGE, "lpips", "edge_lpips", "border_step", "center_step")
PER_REGION = tuple(f"{metric}_{region}" for metric in metrics.PER_PATCH for region in REGIONS)
COLUMNS = ("image", *WHOLE_IMAGE, *PER_REGION)
LATENCY_COLUMNS = ("dataset", "image", "clock", *latency.COLUMNS)
BATCH = 4  # the largest arm, WIRE, takes about 0.6 GB of activations per 256x256 image


# --- quality ------------------------------------------------------------------------------------


def evaluate(
    config: Config,
    arm: Arm,
    seed: int,
    run: Path | str,
    arrays: Path | str,
    output: Path | str,
    exemplars: Path | str | None = None,
) -> None:
    """Measure the run in folder `run` on every evaluation set and on the validation images.

    `arrays` holds the standardized arrays and regions.json. For each set `output` gets <set>.csv,
    one row per image with `COLUMNS`, and <set>.json, which says on what device and by which
    weights, and whether LPIPS was measured. `exemplars` gets one reconstruction per evaluation
    set as PNG. Raises `UserError`.
    """
    device = runtime.prepare(config["device"], config["threads"])
    arrays, output = Path(arrays), Path(output)
    model, trained = open_run(run, NativeModel, arm, seed, config, device)
    runtime.for_inference(model, device)
    settings = Settings.of(config)
    bounds = regions.Thresholds.read(arrays / "regions.json")
    backbone, reason = find_backbone(config)
    perceptual = Perceptual(backbone, device) if backbone else None
    record = {
        "arm": arm.arm,
        "seed": seed,
        "lpips": {
            "measured": perceptual is not None,
            "reason": reason,
            "backbone_sha256": perceptual.sha256 if perceptual else None,
        },
        "device": runtime.device_record(device),
        "weights_sha256": trained["weights_sha256"],
        "versions": runtime.versions(),
    }
    sets = dict.fromkeys(config["native"]["data"]["evaluate"])
    sets[VALIDATION] = config["diagnostics"]["images"]
    for name, limit in sets.items():
        opened = Arrays.open(arrays / f"{name}.npy")
        count = len(opened) if limit is None else min(limit, len(opened))
        label = f"evaluate {arm.arm} seed {seed} on {name}"
        rows = [
            row
            for names, truth in _batches(opened, count, device, label)
            for row in image_rows(
                names, reconstruct(model, truth), truth, bounds, settings, perceptual
            )
        ]
        write_csv(output / f"{name}.csv", COLUMNS, rows)
        write_json(output / f"{name}.json", record | {"dataset": name, "images": count})
        if exemplars is not None and name != VALIDATION:
            truth = exemplar(config, name, opened)
            write_png(Path(exemplars) / f"{name}.png", reconstruct(model, truth.to(device))[0])


def _batches(
    arrays: Arrays, count: int, device: torch.device, label: str
) -> Iterator[tuple[Sequence[str], Tensor]]:
    """Yield names and images (B, 3, S, S) of the first `count` images, in order; show how far."""
    with Progress(label, count, "image") as progress:
        for start in range(0, count, BATCH):
            chosen = slice(start, min(start + BATCH, count))
            yield arrays.names[chosen], arrays.tensor(chosen, device)
            progress.update(chosen.stop - start)


@torch.no_grad()
def reconstruct(model: NativeModel, images: Tensor) -> Tensor:
    """Return the model's reconstruction of (B, 3, H, W), clamped to [0, 1]."""
    return model(images).clamp(0, 1)


def image_rows(
    names: Sequence[str],
    images: Tensor,
    truth: Tensor,
    bounds: regions.Thresholds,
    settings: Settings,
    perceptual: Perceptual | None,
) -> list[dict[str, Any]]:
    """Measure clamped reconstructions (B, 3, H, W) against the `truth`: one row per image.

    Keys are `COLUMNS`. What a region lacks patches for, or LPIPS without its network, is None.
    """
    columns: dict[str, list[float | None]] = {
        name: measure(images, truth, settings).tolist()
        for name, measure in metrics.WHOLE_IMAGE.items()
    }
    columns["border_step"], columns["center_step"] = metrics.seams(images, settings)
    if perceptual:
        mask = metrics.edge_mask(truth, settings)
        columns["lpips"] = perceptual.lpips(images, truth).tolist()
        columns["edge_lpips"] = perceptual.edge_lpips(images, truth, mask).tolist()
    rows: list[dict[str, Any]] = [
        {"image": name} | dict.fromkeys(COLUMNS[1:]) | {c: v[i] for c, v in columns.items()}
        for i, name in enumerate(names)
    ]
    labels = regions.label(truth, bounds, settings)
    for metric, measure in metrics.PER_PATCH.items():
        means = metrics.region_means(measure(images, truth, settings), labels)
        for row, of_image in zip(rows, means, strict=True):
            row |= {f"{metric}_{region}": mean for region, mean in of_image.items()}
    return rows


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
    device = runtime.prepare(config["device"], config["threads"])
    model, _ = open_run(run, NativeModel, arm, seed, config, device)
    runtime.for_inference(model, device)
    settings, bounds = Settings.of(config), regions.Thresholds.read(thresholds)
    arrays = Arrays.open(array)
    count = min(config["diagnostics"]["images"], len(arrays))
    parts: list[tuple[Tensor, ...]] = []
    with torch.no_grad():
        for _, images in _batches(arrays, count, device, f"fields of {arm.arm} seed {seed}"):
            found = *model.fields(model.encode(images)), regions.label(images, bounds, settings)
            parts.append(tuple(part.cpu() for part in found))
    bandwidth, order, region = (torch.cat(part).numpy() for part in zip(*parts, strict=True))
    Fields(bandwidth, order, region, arrays.names[:count]).write(output)


# --- exemplars ----------------------------------------------------------------------------------


def exemplar(config: Config, column: str, arrays: Arrays) -> Tensor:
    """Return the image of an evaluation set that the qualitative figure shows: (1, 3, S, S).

    Raises `UserError` when the config names none for this set, or one that the set lacks.
    """
    name = config["native"]["data"]["exemplars"].get(column)
    if name not in arrays.names:
        raise UserError(
            f"Config: native.data.exemplars.{column} is {name!r}, which is no image of {column}; "
            f"choose one of {', '.join(arrays.names[:5])}, ..."
        )
    return arrays.tensor([arrays.names.index(name)])


def write_exemplars(config: Config, arrays: Path | str, output: Path | str) -> None:
    """Write the true image that the qualitative figure shows of every evaluation set as PNG."""
    for column in config["native"]["data"]["evaluate"]:
        truth = exemplar(config, column, Arrays.open(Path(arrays) / f"{column}.npy"))
        write_png(Path(output) / f"{column}.png", truth[0])


def write_png(path: Path | str, image: Tensor) -> None:
    """Write one image (3, H, W) in [0, 1] as 8-bit PNG, atomically."""
    pixels = (image.clamp(0, 1) * 255).round().byte().permute(1, 2, 0).cpu().numpy()
    with atomic_path(path) as temporary:
        Image.fromarray(pixels).save(temporary, format="PNG")


# --- latency ------------------------------------------------------------------------------------


def time_arm(config: Config, arm: Arm, seed: int, arrays: Path | str, output: Path | str) -> None:
    """Time an arm with untrained weights of `seed` on the images of every evaluation set.

    Writes `output` (.csv), one row per image and clock (see `latency`), and beside it the record of
    the device (.json). Times do not depend on the weights, so no training is waited for.
    """
    device = runtime.prepare(config["device"], config["threads"])
    sets = {}
    for column in config["native"]["data"]["evaluate"]:
        opened = Arrays.open(Path(arrays) / f"{column}.npy")
        sets[column] = [
            latency.Image(name, opened.size**2, partial(opened.tensor, [position], device))
            for position, name in enumerate(opened.names[: config["latency"]["images_per_set"]])
        ]
    model = build(arm, config, seed).eval().to(device)
    timing = latency.Timing(model, config, device, partial(model, path=PLAIN), model, False)
    timing.write({"arm": arm.arm, "seed": seed}, sets, output, LATENCY_COLUMNS)
