"""Score super-resolution image by image: trained methods, and plain bicubic interpolation.

The low-resolution input is resized from the high-resolution image by the protocol's resizer, and
the output is compared with that image in luma (see `luma`). Bicubic interpolation is scored by the
same steps as methods, so that its agreement with published values verifies them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import runtime
from ..config import Config, Method
from ..data import resize
from ..data.datasets import locate_dataset
from ..data.images import convert_to_batch, convert_to_rgb, convert_to_tensor
from ..data.prefetch import Prefetcher
from ..data.sources import (
    SourceImage,
    describe_pixels,
    list_source_images,
    refuse_training_images,
)
from ..dependencies import collect_dependencies
from ..errors import UserError, explain_memory_shortage
from ..files import write_csv, write_json
from ..models.asr.model import ASRModel
from ..runs import load_matching_run
from . import compute_border, luma
from .kept_rows import compute_rows

ASR_SCORE_COLUMNS = ("image", "psnr_y", "ssim_y")


@dataclass(frozen=True)
class ImagePair:
    """One image at one scale: `low` and `high` resolution, uint8 (H, W, 3) or (H, W) if gray."""

    name: str
    low: np.ndarray
    high: np.ndarray


def build_pair(image: SourceImage, scale: float, downsampling: str) -> ImagePair:
    """Crop an image to multiples of `scale` and downscale it by the resizer `downsampling`."""
    pixels = image.load()
    low = resize.downscale(pixels, scale, downsampling)
    return ImagePair(image.name, low, resize.crop_to_scale(pixels, scale))


Upsample = Callable[[np.ndarray, int, int], Tensor]
"""Enlarges a low-resolution image, uint8 (h, w[, 3]), to H, W: (3, H, W) in [0, 1]."""


def enlarge_bicubically(low: np.ndarray, height: int, width: int) -> Tensor:
    """Enlarge an image by bicubic interpolation in floats, as MATLAB's imresize does."""
    enlarged = resize.resize_like_matlab(convert_to_rgb(low).astype(np.float64), height, width)
    return convert_to_tensor(enlarged) / 255


def build_upsampler(model: ASRModel, config: Config) -> Upsample:
    """Build the function that enlarges an image by a model, on the model's device.

    Only the decoder works in tiles, of config asr.tile_pixels, which changes no value. The encoder
    sees the whole image, because other borders would change its values at the seams. The function
    raises `UserError` for an image whose features do not fit into memory.
    """
    device = next(model.parameters()).device

    def enlarge(low: np.ndarray, height: int, width: int) -> Tensor:
        images = convert_to_batch(convert_to_rgb(low), device)
        size = f"{low.shape[1]}x{low.shape[0]} pixels enlarged to {width}x{height}"
        with explain_memory_shortage(f"With the present asr.tile_pixels, an image of {size}"):
            return model.render(images, height, width, config["asr"]["tile_pixels"])[0]

    return enlarge


def score_pair(upsample: Upsample, pair: ImagePair, shaved: int) -> luma.LumaScore:
    """Score an image without the outer `shaved` pixels; return its PSNR-Y (dB) and SSIM-Y.

    Raises `UserError` when the image is too small for the metrics.
    """
    height, width = pair.high.shape[:2]
    if min(height, width) < 2 * shaved + luma.WINDOW:
        raise UserError(
            f"{pair.name} has {width}x{height} pixels, and SSIM-Y needs {luma.WINDOW}x"
            f"{luma.WINDOW} that remain when {shaved} are shaved off every side; leave this image "
            "out of the set, or evaluate smaller scales."
        )
    output = upsample(pair.low, height, width)
    return luma.score_image(output, convert_to_tensor(pair.high).to(output.device), shaved)


def score_set(
    upsample: Upsample,
    column: str,
    scale: float,
    config: Config,
    state: Path,
    dependencies: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Score every image of a column of the tables at one scale; return rows of `ASR_SCORE_COLUMNS`.

    Scores are kept image by image in the folder `state` (see `compute_rows`). Raises `UserError`
    when the data set was not fetched, when an image is too small for the metrics or when an output
    equals its image.
    """
    settings = config["asr"]
    dataset = settings["evaluate"][column]
    images = list_source_images(dataset, config, scale)

    def build(position: int) -> ImagePair:
        return build_pair(images[position], scale, settings["downsampling"])

    # The next image is decoded and resized while the device works on the current one.
    prefetcher = Prefetcher(build)
    shaved = compute_border(column, scale, config)

    def score(position: int) -> dict[str, Any]:
        pair = prefetcher(position)
        psnr, ssim = score_pair(upsample, pair, shaved)
        if math.isinf(psnr):
            raise UserError(
                f"{pair.name} of {column} equals its upsampled image, so its PSNR-Y is infinite "
                "and the set has no mean; leave this image out of the set."
            )
        return {"psnr_y": psnr, "ssim_y": ssim}

    name = f"{dataset}_x{scale:g}"
    names = [image.name for image in images]
    return compute_rows(state, name, dependencies, names, score, f"{column} x{scale:g}")


def evaluate_run(
    config: Config, method: Method, seed: int, run: Path, output: Path, state: Path
) -> None:
    """Score a trained run on every data set at every scale, as `score_sets` does.

    Raises `UserError` when the run is missing or not of this method and seed, when a data set was
    not fetched, or as `refuse_training_images` does.
    """
    refuse_training_images(config["asr"]["evaluate"].values(), config["asr"]["train"], config)
    device = runtime.prepare_device(config["device"], config["threads"])
    model, metadata = load_matching_run(run, ASRModel, method, seed, config, device)
    upsample = build_upsampler(model, config)
    weights = {"weights_sha256": metadata["weights_sha256"]}
    facts = {"device": runtime.describe_device(device)}
    with torch.inference_mode():
        score_sets(upsample, config, output, state, weights, facts)


def evaluate_bicubic(config: Config, output: Path, state: Path) -> None:
    """Score bicubic interpolation on all evaluation sets at every scale, as `score_sets` does."""
    score_sets(enlarge_bicubically, config, output, state, {}, {})


def score_sets(
    upsample: Upsample,
    config: Config,
    output: Path,
    state: Path,
    weights: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> None:
    """Score all evaluation sets at every scale and write the scores into the folder `output`.

    Writes <data set>_x<scale>.csv, one row per image, and beside it a .json with the data set, the
    way it was measured, `weights` (their checksum), `facts`, and under `depends_on` its
    dependencies. Files are named by data set, not by column, because a column may show another
    data set later.
    """
    asr = config["asr"]
    for dataset, column in {name: column for column, name in asr["evaluate"].items()}.items():
        shared = {
            **collect_dependencies("asr_bicubic", column, config),
            **weights,
            "content_sha256": locate_dataset(dataset, config).digest_content(),
        }
        description = {
            "datasets": [describe_pixels(dataset, config)],
            "downsampling": asr["downsampling"],
            **weights,
            **facts,
        }
        for scale in asr["scales"]:
            dependencies = {**shared, "scale": scale}
            # Scores of another device are not called those of this one.
            kept = {
                **dependencies,
                **{name: runtime.identify_device(facts[name]) for name in facts},
            }
            rows = score_set(upsample, column, scale, config, state, kept)
            path = output / f"{dataset}_x{scale:g}.csv"
            write_csv(path, ASR_SCORE_COLUMNS, rows)
            of_scale = {"scale": scale, "shaved": compute_border(column, scale, config)}
            content = {**description, **of_scale, "depends_on": dependencies}
            write_json(path.with_suffix(".json"), content)
