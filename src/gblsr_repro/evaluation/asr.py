"""Arbitrary-scale super-resolution: quality of every image, and time per image.

The low-resolution input is made from the high-resolution image of that scale by the protocol's
resize; the output is compared with that image in luma (see `luma`). The plain bicubic row takes
the same way through everything but the model, so its agreement with the published bicubic values
vouches for the whole way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from ..config import Config
from ..data import resize
from ..data.images import as_rgb
from ..data.sources import high_resolution
from ..data.standardize import dataset_record
from ..errors import UserError
from ..files import write_csv, write_json
from ..progress import Progress
from . import luma

COLUMNS = ("image", "psnr_y", "ssim_y")
READ_AHEAD = 2

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Pair:
    """One image at one scale: `low` and `high`, uint8 (H, W, 3), or (H, W) when greyscale."""

    name: str
    low: np.ndarray
    high: np.ndarray


class Image(Protocol):
    """A high-resolution image: see `gblsr_repro.data.sources.HighRes`."""

    @property
    def name(self) -> str:
        """The image's name."""
        ...

    def load(self) -> np.ndarray:
        """Decode it: uint8 (H, W, 3), or (H, W) when greyscale."""
        ...


def make_pair(image: Image, scale: float, downsampling: str) -> Pair:
    """Crop an image to a multiple of `scale` and make its low-resolution version."""
    high = resize.crop_to_scale(image.load(), scale)
    return Pair(image.name, resize.downscale(high, scale, downsampling), high)


def planes(image: np.ndarray) -> Tensor:
    """Return (H, W, 3) as a tensor (3, H, W), and (H, W) as it is."""
    tensor = torch.from_numpy(np.array(image))
    return tensor if tensor.ndim == 2 else tensor.permute(2, 0, 1)


def ahead(
    function: Callable[[Item], Result], items: Iterable[Item], count: int = READ_AHEAD
) -> Iterator[Result]:
    """Map `function` over `items` in order, `count` results ahead in a thread of its own.

    Decoding and resizing the next images then takes no time from the device.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def border(column: str, scale: float, config: Config) -> int:
    """Return the pixels shaved off every side: the scale and what the column adds to it."""
    return int(np.ceil(scale)) + config["asr"]["shave_extra"].get(column, 0)


Upsample = Callable[[np.ndarray, int, int], Tensor]
"""From a low-resolution image, uint8 (h, w[, 3]), and the size H, W to (3, H, W) in [0, 1]."""


def bicubic(low: np.ndarray, height: int, width: int) -> Tensor:
    """Enlarge by plain bicubic interpolation in floats, as MATLAB's imresize does."""
    enlarged = resize.imresize(as_rgb(low).astype(np.float64), height, width)
    return planes(enlarged) / 255


def score_set(upsample: Upsample, column: str, scale: float, config: Config) -> list[list[Any]]:
    """Score every image of a column of the tables at one scale: rows of `COLUMNS`.

    Raises `UserError` when the data set is not there or an image is too small for the metrics.
    """
    settings = config["asr"]
    images = high_resolution(settings["evaluate"][column], scale, config)
    pairs = ahead(lambda image: make_pair(image, scale, settings["downsampling"]), images)
    rows: list[list[Any]] = []
    with Progress(f"{column} x{scale:g}", len(images), "image") as progress:
        for pair in pairs:
            output = upsample(pair.low, *pair.high.shape[:2])
            truth = planes(pair.high).to(output.device)
            rows.append([pair.name, *luma.score(output, truth, border(column, scale, config))])
            progress.update()
    return rows


def column_of(name: str, config: Config) -> str:
    """Return `name` if it is a column of asr.evaluate, else raise `UserError`."""
    if name in config["asr"]["evaluate"]:
        return name
    known = ", ".join(config["asr"]["evaluate"])
    raise UserError(f"There is no column {name!r} in asr.evaluate; there are {known}.")


def evaluate_bicubic(column: str, scale: float, config: Config, output: Path | str) -> None:
    """Write the rows of plain bicubic upsampling to `output` (.csv). Raises `UserError`."""
    write_csv(output, COLUMNS, score_set(bicubic, column_of(column, config), scale, config))
