"""Measure the latency of super-resolution methods by the fixed protocol (see `latency`).

Weights are random, because times do not depend on them. Every image of a set is timed, even if many
have the same size. Images that were not fetched are replaced by black ones of the sizes in
config/sizes.tsv, because times do not depend on the content either; the .json beside the times
says so (`sizes_only`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .. import runtime
from ..config import Config, Method, list_timed_datasets, read_image_sizes
from ..data.datasets import locate_dataset
from ..data.images import convert_to_batch, convert_to_rgb
from ..data.resize import compute_low_side, downscale
from ..data.sources import SourceImage, describe_dataset, list_source_images
from ..errors import UserError
from ..models.asr.model import ASRModel
from ..models.base import PLAIN
from ..progress import log
from . import latency, timing

ASR_LATENCY_COLUMNS = ("dataset", "image", "height", "width", "clock", *timing.TIME_COLUMNS)


@dataclass(frozen=True)
class TimedImage:
    """A high-resolution image to time, with its size in pixels; `source` is None if it is blank."""

    name: str
    height: int
    width: int
    source: SourceImage | None

    def compute_low_size(self, timing: Mapping[str, Any]) -> tuple[int, int]:
        """Compute height and width of the low-resolution image at the timed scale."""
        sides = (side // timing["size_divisor"] for side in (self.height, self.width))
        height, width = (compute_low_side(side, timing["scale"]) for side in sides)
        return height, width

    def load_low(self, config: Config, device: torch.device) -> Tensor:
        """Load the low-resolution image (1, 3, h, w) in [0, 1]."""
        timing = config["asr"]["timing"]
        if self.source is None:
            return torch.zeros(1, 3, *self.compute_low_size(timing), device=device)
        height, width = (side // timing["size_divisor"] for side in (self.height, self.width))
        pixels = convert_to_rgb(self.source.load())[:height, :width]
        small = downscale(pixels, timing["scale"], config["asr"]["downsampling"])
        return convert_to_batch(small, device)


def time_method(config: Config, method: Method, seed: int, output: Path, state: Path) -> None:
    """Time a method with untrained weights of `seed` on the data sets of config asr.timing.

    Writes <data set>.csv into the folder `output`, one row per image and clock with the height and
    width of the low-resolution image, and beside it a .json that describes device and images.
    Raises `UserError` for a data set of which neither the images nor their sizes are available.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    timing = config["asr"]["timing"]
    model = ASRModel.build(method, config, seed).eval().to(device)

    def build_input(image: TimedImage) -> latency.TimedInput:
        encoded = math.prod(map(model.encoder.extend_length, image.compute_low_size(timing)))
        return latency.TimedInput(image.name, encoded, partial(image.load_low, config, device))

    sets = {}
    for name in list_timed_datasets(config):
        images = list_timed_images(name, config)
        listed = [
            [i.name, i.height, i.width, i.source.entry.sha256 if i.source else None] for i in images
        ]
        blank = any(image.source is None for image in images)
        datasets = [] if blank else [describe_dataset(name, config)]
        sets[name] = latency.TimedSet(
            [build_input(image) for image in images],
            {"images": listed},
            {"datasets": datasets, "sizes_only": blank},
        )

    def render(images: Tensor, path: str | None = None) -> Tensor:
        height, width = (round(side * timing["scale"]) for side in images.shape[-2:])
        # On the plain path gradients are recorded, so tiles would save no memory.
        tile = sys.maxsize if path == PLAIN else config["asr"]["tile_pixels"]
        return model.render(images, height, width, tile, path)

    timer = latency.Timer(model, config, device, partial(render, path=PLAIN), render, True)
    timer.write_times(method, seed, sets, output, ASR_LATENCY_COLUMNS, state)


def list_timed_images(dataset: str, config: Config) -> list[TimedImage]:
    """List the images of one data set to time, blank where they were not fetched.

    Of a data set in config/sizes.tsv all images are timed; of any other the fetched ones. Raises
    `UserError` when that leaves no image.
    """
    timing = config["asr"]["timing"]
    fetched: dict[str, SourceImage] = {}
    if locate_dataset(dataset, config).manifest.is_file():
        images = list_source_images(dataset, config, timing["scale"])
        fetched = {image.name: image for image in images}
    else:
        log.info("%s was not fetched: its images are timed blank", dataset)
    sizes = {
        size.image: (size.height, size.width)
        for size in read_image_sizes()
        if size.dataset == dataset
    }
    if not sizes:
        sizes = {name: image.load().shape[:2] for name, image in fetched.items()}
    if not sizes:
        raise UserError(
            f"asr.timing.datasets names {dataset}, but neither its images nor their sizes are "
            "available; fetch the data set, or add its sizes to config/sizes.tsv."
        )
    timed = list(sizes.items())[: timing["images_per_set"]]
    return [TimedImage(name, *size, fetched.get(name)) for name, size in timed]
