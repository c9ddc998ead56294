"""Time per image of a super-resolution method by the fixed protocol (see `latency`).

Weights are random: times do not depend on them. Every image of a set is timed, also where many
have the same size. Images that are not at hand are timed blank, by the sizes in config/sizes.tsv,
and the record says how many: what an image shows does not change its time either.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .. import runtime
from ..config import Config, Method, collect_dependencies, find_repository_root
from ..data.datasets import locate_dataset
from ..data.images import convert_to_rgb, convert_to_tensor
from ..data.resize import compute_low_side, crop_to_scale, downscale
from ..data.sources import SourceImage, describe_dataset, list_source_images
from ..errors import UserError
from ..files import read_csv
from ..models.asr.model import build_model
from ..models.base import PLAIN
from ..progress import log
from . import latency

COLUMNS = ("dataset", "image", "height", "width", "clock", *latency.COLUMNS)


@dataclass(frozen=True)
class TimedImage:
    """A high-resolution image to time: its size in pixels; `source` None where it is blank."""

    name: str
    height: int
    width: int
    source: SourceImage | None

    def compute_low_size(self, timing: Mapping[str, Any]) -> tuple[int, int]:
        """Return height and width of its low-resolution image at the timed scale."""
        sides = (side // timing["size_divisor"] for side in (self.height, self.width))
        height, width = (compute_low_side(side, timing["scale"]) for side in sides)
        return height, width

    def load_low(self, config: Config, device: torch.device) -> Tensor:
        """Return its low-resolution image (1, 3, h, w) in [0, 1]."""
        timing = config["asr"]["timing"]
        if self.source is None:
            return torch.zeros(1, 3, *self.compute_low_size(timing), device=device)
        height, width = (side // timing["size_divisor"] for side in (self.height, self.width))
        high = crop_to_scale(convert_to_rgb(self.source.load())[:height, :width], timing["scale"])
        small = downscale(high, timing["scale"], config["asr"]["downsampling"])
        return convert_to_tensor(small)[None].to(device).float() / 255


def time_method(config: Config, method: Method, seed: int, output: Path | str) -> None:
    """Time a method with untrained weights of `seed` on the sets of config asr.timing.

    Writes for each data set <data set>.csv into the folder `output`, one row per image and clock,
    with the low-resolution height and width, and beside it the record of device and images (.json).
    Raises `UserError` where neither images nor sizes of a set are known.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    timing = config["asr"]["timing"]
    names = [config["asr"]["evaluate"].get(column, column) for column in timing["datasets"]]
    found = {name: list_timed_images(name, config) for name in names}
    model = build_model(method, config, seed).eval().to(device)

    def to_time(image: TimedImage) -> latency.TimedInput:
        encoded = math.prod(map(model.encoder.extend_length, image.compute_low_size(timing)))
        return latency.TimedInput(image.name, encoded, partial(image.load_low, config, device))

    sets = {
        name: latency.TimedSet(list(map(to_time, images)), *_describe_images(images, name, config))
        for name, images in found.items()
    }

    def render(images: Tensor, path: str | None = None) -> Tensor:
        height, width = (round(side * timing["scale"]) for side in images.shape[-2:])
        # With gradients recorded, pieces would save no memory.
        tile = sys.maxsize if path == PLAIN else config["asr"]["tile_pixels"]
        return model.render(images, height, width, tile, path)

    subject = {
        "method": method.method,
        "seed": seed,
        "scale": timing["scale"],
        "size_divisor": timing["size_divisor"],
    }
    clocked = latency.Timer(model, config, device, partial(render, path=PLAIN), render, True)
    clocked.write_times(
        subject, sets, collect_dependencies("asr_latency", method, config), output, COLUMNS
    )


def _describe_images(
    images: Sequence[TimedImage], dataset: str, config: Config
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the times of a data set follow from, and what is recorded of it besides."""
    blank = sum(image.source is None for image in images)
    made_from = {
        "images": [
            [i.name, i.height, i.width, i.source.entry.sha256 if i.source else None] for i in images
        ]
    }
    told = {
        "images": len(images),
        "datasets": [] if blank else [describe_dataset(dataset, config)],
        "blank_images": blank,
        "sizes_only": bool(blank),
    }
    return made_from, told


def list_timed_images(dataset: str, config: Config) -> list[TimedImage]:
    """Return the images of one data set to time: by their sizes, real where at hand.

    A set that config/sizes.tsv lists is timed whole, whichever of its images are there; any other
    set is timed on the images that are there.
    """
    timing = config["asr"]["timing"]
    present: dict[str, SourceImage] = {}
    if locate_dataset(dataset, config).manifest_to_read.is_file():
        present = {
            image.name: image for image in list_source_images(dataset, config, timing["scale"])
        }
    else:
        log.info("%s was not fetched: its images are timed blank", dataset)
    sizes = {
        row["image"]: (int(row["height"]), int(row["width"]))
        for row in read_csv(find_repository_root() / "config" / "sizes.tsv", "\t")
        if row["dataset"] == dataset
    } or {name: image.load().shape[:2] for name, image in present.items()}
    if not sizes:
        raise UserError(
            f"Nothing is known of the images of {dataset} that asr.timing.datasets names; fetch "
            "the data set, or add its sizes to config/sizes.tsv."
        )
    chosen = list(sizes.items())[: timing["images_per_set"]]
    return [TimedImage(name, *size, present.get(name)) for name, size in chosen]
