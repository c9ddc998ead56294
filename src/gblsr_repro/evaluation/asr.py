"""Arbitrary-scale super-resolution: quality of every image, and time per image.

The low-resolution input is made from the high-resolution image of that scale by the protocol's
resize; the output is compared with that image in luma (see `luma`). The plain bicubic row takes
the same way through everything but the model, so its agreement with the published bicubic values
vouches for the whole way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from .. import runtime
from ..config import Config, Method, collect_dependencies
from ..data import resize
from ..data.datasets import locate_dataset
from ..data.images import convert_to_rgb, convert_to_tensor
from ..data.prefetch import Prefetcher
from ..data.sources import SourceImage, describe_dataset, list_source_images
from ..errors import UserError, explain_memory_shortage
from ..files import is_up_to_date, write_csv, write_json
from ..models.asr.model import ASRModel
from ..progress import log, show_progress
from ..runs import load_matching_run
from . import luma

COLUMNS = ("image", "psnr_y", "ssim_y")


@dataclass(frozen=True)
class ImagePair:
    """One image at one scale: `low` and `high`, uint8 (H, W, 3), or (H, W) when greyscale."""

    name: str
    low: np.ndarray
    high: np.ndarray


def build_pair(image: SourceImage, scale: float, downsampling: str) -> ImagePair:
    """Crop an image to a multiple of `scale` and make its low-resolution version."""
    high = resize.crop_to_scale(image.load(), scale)
    return ImagePair(image.name, resize.downscale(high, scale, downsampling), high)


def compute_border(column: str, scale: float, config: Config) -> int:
    """Return the pixels shaved off every side: the scale and what the column adds to it."""
    return int(np.ceil(scale)) + config["asr"]["shave_extra"].get(column, 0)


Upsample = Callable[[np.ndarray, int, int], Tensor]
"""From a low-resolution image, uint8 (h, w[, 3]), and the size H, W to (3, H, W) in [0, 1]."""


def enlarge_bicubically(low: np.ndarray, height: int, width: int) -> Tensor:
    """Enlarge by plain bicubic interpolation in floats, as MATLAB's imresize does."""
    enlarged = resize.resize_like_matlab(convert_to_rgb(low).astype(np.float64), height, width)
    return convert_to_tensor(enlarged) / 255


def build_upsampler(model: ASRModel, config: Config, device: torch.device) -> Upsample:
    """Return the function that enlarges by a model on `device`, tiled by config asr.tile_pixels.

    Only the decoder works in tiles, and its tiling changes no value. The encoder sees the whole
    image: in pieces it would see other borders and give other values at the seams. An image whose
    features do not fit the memory raises `UserError`.
    """

    def enlarge(low: np.ndarray, height: int, width: int) -> Tensor:
        images = convert_to_tensor(convert_to_rgb(low))[None].to(device).float() / 255
        size = f"{low.shape[1]}x{low.shape[0]} pixels enlarged to {width}x{height}"
        with explain_memory_shortage(f"With asr.tile_pixels as it is, an image of {size}"):
            return model.render(images, height, width, config["asr"]["tile_pixels"])[0]

    return enlarge


def score_pairs(upsample: Upsample, pairs: Iterable[ImagePair], shaved: int) -> list[list[Any]]:
    """Score images one by one, `shaved` pixels left out on every side: rows of `COLUMNS`.

    Raises `UserError` when an image is too small for the metrics.
    """
    rows: list[list[Any]] = []
    for pair in pairs:
        output = upsample(pair.low, *pair.high.shape[:2])
        rows.append(
            [
                pair.name,
                *luma.score_image(output, convert_to_tensor(pair.high).to(output.device), shaved),
            ]
        )
    return rows


def build_first_pairs(column: str, scale: float, config: Config, count: int) -> list[ImagePair]:
    """Return the first `count` images of a column of the tables at one scale."""
    images = list_source_images(config["asr"]["evaluate"][column], config, scale)
    return [build_pair(image, scale, config["asr"]["downsampling"]) for image in images[:count]]


def score_set(upsample: Upsample, column: str, scale: float, config: Config) -> list[list[Any]]:
    """Score every image of a column of the tables at one scale: rows of `COLUMNS`.

    Raises `UserError` when the data set is not there or an image is too small for the metrics.
    """
    settings = config["asr"]
    images = list_source_images(settings["evaluate"][column], config, scale)

    def pair(number: int) -> ImagePair | None:
        left = images[number : number + 1]
        return build_pair(left[0], scale, settings["downsampling"]) if left else None

    # Decoding and resizing the next image takes no time from the device.
    made = map(Prefetcher(pair), show_progress(range(len(images)), f"{column} x{scale:g}", "image"))
    return score_pairs(
        upsample, cast("Iterator[ImagePair]", made), compute_border(column, scale, config)
    )


def evaluate_bicubic(config: Config, dataset: str, output: Path | str) -> None:
    """Score plain bicubic upsampling of a data set, as `score` does. Raises `UserError`."""
    columns = map_datasets_to_columns(config)
    if dataset not in columns:
        raise UserError(
            f"asr.evaluate does not name the data set {dataset!r}; it names {', '.join(columns)}."
        )
    score_column(enlarge_bicubically, columns[dataset], config, output, {}, {})


def evaluate_run(
    config: Config, method: Method, seed: int, run: Path | str, output: Path | str
) -> None:
    """Score a trained run on every set at every scale, as `score` does.

    Raises `UserError` when the run or a data set is not there or is not the one asked for.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    model, record = load_matching_run(run, ASRModel, method, seed, config, device)
    upsample = build_upsampler(model, config, device)
    weights = {"weights_sha256": record["weights_sha256"]}
    facts = {"device": runtime.describe_device(device)}
    with torch.inference_mode():
        for column in map_datasets_to_columns(config).values():
            score_column(upsample, column, config, output, weights, facts)
    peak = runtime.measure_peak_memory_mib(device)
    log.info("%s seed %d: peak memory %.0f MiB", method.method, seed, peak)


def map_datasets_to_columns(config: Config) -> dict[str, str]:
    """Return the columns of the tables by their data sets."""
    return {dataset: column for column, dataset in config["asr"]["evaluate"].items()}


def score_column(
    upsample: Upsample,
    column: str,
    config: Config,
    output: Path | str,
    weights: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> None:
    """Score a column at every scale into the folder `output`.

    Writes <data set>_x<scale>.csv, one row per image, and a .json beside it with the data set, how
    it was measured, the checksum of the `weights`, `facts`, and under `follows` what it follows
    from: a file that was measured from the same is kept. Files are named by data sets, so that a
    column that shows another one has files of its own.
    """
    dataset = config["asr"]["evaluate"][column]
    settings = collect_dependencies("asr_bicubic", column, config)
    content = {"content_sha256": locate_dataset(dataset, config).digest_content()}
    for scale in config["asr"]["scales"]:
        path = Path(output) / f"{dataset}_x{scale:g}.csv"
        record = {
            "datasets": [describe_dataset(dataset, config)],
            "scale": scale,
            "downsampling": config["asr"]["downsampling"],
            "shaved": compute_border(column, scale, config),
            **weights,
        }
        made_from = {**settings, **weights, **content, "scale": scale}
        if is_up_to_date(path, made_from):
            log.info("%s x%g: kept as it is", dataset, scale)
            continue
        write_csv(path, COLUMNS, score_set(upsample, column, scale, config))
        write_json(path.with_suffix(".json"), {**record, **facts, "follows": made_from})
