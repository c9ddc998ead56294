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
from ..config import Config, Method
from ..data import resize
from ..data.images import as_rgb
from ..data.sources import Source, sources
from ..data.standardize import dataset_record
from ..data.superres import Ahead
from ..errors import UserError, memory_told
from ..files import write_csv, write_json
from ..models.asr.model import ASRModel
from ..progress import each, log
from ..runs import open_run
from . import luma

COLUMNS = ("image", "psnr_y", "ssim_y")


@dataclass(frozen=True)
class Pair:
    """One image at one scale: `low` and `high`, uint8 (H, W, 3), or (H, W) when greyscale."""

    name: str
    low: np.ndarray
    high: np.ndarray


def make_pair(image: Source, scale: float, downsampling: str) -> Pair:
    """Crop an image to a multiple of `scale` and make its low-resolution version."""
    high = resize.crop_to_scale(image.load(), scale)
    return Pair(image.name, resize.downscale(high, scale, downsampling), high)


def planes(image: np.ndarray) -> Tensor:
    """Return (H, W, 3) as a tensor (3, H, W), and (H, W) as it is."""
    tensor = torch.from_numpy(np.array(image))
    return tensor if tensor.ndim == 2 else tensor.permute(2, 0, 1)


def border(column: str, scale: float, config: Config) -> int:
    """Return the pixels shaved off every side: the scale and what the column adds to it."""
    return int(np.ceil(scale)) + config["asr"]["shave_extra"].get(column, 0)


Upsample = Callable[[np.ndarray, int, int], Tensor]
"""From a low-resolution image, uint8 (h, w[, 3]), and the size H, W to (3, H, W) in [0, 1]."""


def bicubic(low: np.ndarray, height: int, width: int) -> Tensor:
    """Enlarge by plain bicubic interpolation in floats, as MATLAB's imresize does."""
    enlarged = resize.imresize(as_rgb(low).astype(np.float64), height, width)
    return planes(enlarged) / 255


def upsampler(model: ASRModel, config: Config, device: torch.device) -> Upsample:
    """Return the function that enlarges by a model on `device`, tiled by config asr.tile_pixels.

    Only the decoder works in tiles, and its tiling changes no value. The encoder sees the whole
    image: in pieces it would see other borders and give other values at the seams. An image whose
    features do not fit the memory raises `UserError`.
    """

    def enlarge(low: np.ndarray, height: int, width: int) -> Tensor:
        images = planes(as_rgb(low))[None].to(device).float() / 255
        size = f"{low.shape[1]}x{low.shape[0]} pixels enlarged to {width}x{height}"
        with memory_told(f"With asr.tile_pixels as it is, an image of {size}"):
            return model.render(images, height, width, config["asr"]["tile_pixels"])[0]

    return enlarge


def score_pairs(upsample: Upsample, pairs: Iterable[Pair], shaved: int) -> list[list[Any]]:
    """Score images one by one, `shaved` pixels left out on every side: rows of `COLUMNS`.

    Raises `UserError` when an image is too small for the metrics.
    """
    rows: list[list[Any]] = []
    for pair in pairs:
        output = upsample(pair.low, *pair.high.shape[:2])
        rows.append([pair.name, *luma.score(output, planes(pair.high).to(output.device), shaved)])
    return rows


def first_pairs(column: str, scale: float, config: Config, count: int) -> list[Pair]:
    """Return the first `count` images of a column of the tables at one scale."""
    images = sources(config["asr"]["evaluate"][column], config, scale)
    return [make_pair(image, scale, config["asr"]["downsampling"]) for image in images[:count]]


def score_set(upsample: Upsample, column: str, scale: float, config: Config) -> list[list[Any]]:
    """Score every image of a column of the tables at one scale: rows of `COLUMNS`.

    Raises `UserError` when the data set is not there or an image is too small for the metrics.
    """
    settings = config["asr"]
    images = sources(settings["evaluate"][column], config, scale)

    def pair(number: int) -> Pair | None:
        left = images[number : number + 1]
        return make_pair(left[0], scale, settings["downsampling"]) if left else None

    # Decoding and resizing the next image takes no time from the device.
    made = map(Ahead(pair), each(range(len(images)), f"{column} x{scale:g}", "image"))
    return score_pairs(upsample, cast("Iterator[Pair]", made), border(column, scale, config))


def evaluate_bicubic(config: Config, column: str, output: Path | str) -> None:
    """Score plain bicubic upsampling of a column, as `score` does. Raises `UserError`."""
    if column not in config["asr"]["evaluate"]:
        known = ", ".join(config["asr"]["evaluate"])
        raise UserError(f"There is no column {column!r} in asr.evaluate; there are {known}.")
    score(bicubic, column, config, output, {})


def evaluate(
    config: Config, method: Method, seed: int, run: Path | str, output: Path | str
) -> None:
    """Score a trained run on every set at every scale, as `score` does.

    Raises `UserError` when the run or a data set is not there or is not the one asked for.
    """
    device = runtime.prepare(config["device"], config["threads"])
    model, record = open_run(run, ASRModel, method, seed, config, device)
    upsample = upsampler(model, config, device)
    measured_on = {
        "weights_sha256": record["weights_sha256"],
        "device": runtime.device_record(device),
    }
    with torch.inference_mode():
        for column in config["asr"]["evaluate"]:
            score(upsample, column, config, output, measured_on)
    peak = runtime.peak_memory_mib(device)
    log.info("%s seed %d: peak memory %.0f MiB", method.method, seed, peak)


def score(
    upsample: Upsample, column: str, config: Config, output: Path | str, facts: Mapping[str, Any]
) -> None:
    """Score a column at every scale into the folder `output`.

    Writes <column>_x<scale>.csv, one row per image, and a .json beside it with the data set, how
    it was measured, and `facts`.
    """
    for scale in config["asr"]["scales"]:
        path = Path(output) / f"{column}_x{scale:g}.csv"
        write_csv(path, COLUMNS, score_set(upsample, column, scale, config))
        record = {
            "datasets": [dataset_record(config["asr"]["evaluate"][column], config)],
            "scale": scale,
            "downsampling": config["asr"]["downsampling"],
            "shaved": border(column, scale, config),
        }
        write_json(path.with_suffix(".json"), {**record, **facts})
