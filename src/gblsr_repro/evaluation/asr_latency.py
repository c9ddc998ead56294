"""Time per image of a super-resolution method by the fixed protocol (see `latency`).

Weights are random: times do not depend on them. Every image of a set is timed, also where many
have the same size. Images that are not at hand are timed blank, by the sizes in config/sizes.tsv,
and the record says how many: what an image shows does not change its time either.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from .. import runtime
from ..config import Config, Method, repository_root
from ..data.datasets import data_set
from ..data.images import as_rgb
from ..data.resize import crop_to_scale, downscale, low_side
from ..data.sources import HighRes, high_resolution
from ..errors import UserError
from ..files import read_csv
from ..models.asr.model import build
from ..models.base import PLAIN
from ..progress import log
from . import latency
from .asr import planes

COLUMNS = ("dataset", "image", "height", "width", "clock", *latency.COLUMNS)


@dataclass(frozen=True)
class Timed:
    """A high-resolution image to time: its size in pixels; `source` None where it is blank."""

    column: str
    name: str
    height: int
    width: int
    source: HighRes | None

    def low(self, config: Config, device: torch.device) -> Tensor:
        """Return its low-resolution image (1, 3, h, w) in [0, 1] at the timed scale."""
        timing = config["asr"]["timing"]
        height, width = (s // timing["size_divisor"] for s in (self.height, self.width))
        if self.source is None:
            sides = (low_side(side, timing["scale"]) for side in (height, width))
            return torch.zeros(1, 3, *sides, device=device)
        high = crop_to_scale(as_rgb(self.source.load())[:height, :width], timing["scale"])
        small = downscale(high, timing["scale"], config["asr"]["downsampling"])
        return planes(small)[None].to(device).float() / 255

    def input(self, config: Config, device: torch.device) -> latency.Image:
        """Return its low-resolution image as an input to time."""
        timing = config["asr"]["timing"]
        sides = (self.height // timing["size_divisor"], self.width // timing["size_divisor"])
        low = [round(side // timing["scale"]) for side in sides]
        return latency.Image(self.name, low[0] * low[1], partial(self.low, config, device))


def time_method(config: Config, method: Method, seed: int, output: Path | str) -> None:
    """Time a method with untrained weights of `seed` on the sets of config asr.timing.

    Writes `output` (.csv), one row per image and clock, with the low-resolution height and width,
    and beside it the record of device and images (.json). Raises `UserError` where neither images
    nor sizes of a set are known.
    """
    device = runtime.prepare(config["device"], config["threads"])
    timing = config["asr"]["timing"]
    images = [image for column in timing["datasets"] for image in timed(column, config)]
    sets: dict[str, list[latency.Image]] = {}
    for image in images:
        sets.setdefault(image.column, []).append(image.input(config, device))
    model = build(method, config, seed).eval().to(device)

    def render(images: Tensor, path: str | None = None) -> Tensor:
        height, width = (round(side * timing["scale"]) for side in images.shape[-2:])
        # With gradients recorded, pieces would save no memory.
        tile = height * width if path == PLAIN else config["asr"]["tile_pixels"]
        return model.render(images, height, width, tile, path)

    blank = Counter(image.column for image in images if image.source is None)
    subject = {
        "method": method.method,
        "seed": seed,
        "scale": timing["scale"],
        "size_divisor": timing["size_divisor"],
        "images": Counter(image.column for image in images),
        "blank_images": blank,
        "sizes_only": bool(blank),
    }
    plain = partial(render, path=PLAIN)
    latency.write_times(subject, model, sets, config, device, output, COLUMNS,
                        plain=plain, own=render, gradients=True)  # fmt: skip


def timed(column: str, config: Config) -> list[Timed]:
    """Return the images of one column of asr.timing.datasets: by their sizes, real where at hand.

    A set that config/sizes.tsv lists is timed whole, whichever of its images are there; any other
    set is timed on the images that are there.
    """
    dataset = config["asr"]["evaluate"].get(column, column)
    present = {image.name: image for image in _present(dataset, config)}
    sizes = _sizes(dataset) or {name: _size(image) for name, image in present.items()}
    if not sizes:
        raise UserError(
            f"Nothing is known of the images of {dataset} that asr.timing.datasets names; fetch "
            "the data set, or add its sizes to config/sizes.tsv."
        )
    limit = config["asr"]["timing"]["images_per_set"]
    chosen = list(sizes.items())[:limit]
    return [Timed(column, name, *size, present.get(name)) for name, size in chosen]


def _present(dataset: str, config: Config) -> list[HighRes]:
    """Return the images of a data set; none where it was never fetched."""
    if not data_set(dataset, config).manifest.is_file():
        log.info("%s was not fetched: its images are timed blank", dataset)
        return []
    return high_resolution(dataset, config["asr"]["timing"]["scale"], config)


def _size(image: HighRes) -> tuple[int, int]:
    height, width = image.load().shape[:2]
    return height, width


def _sizes(dataset: str) -> dict[str, tuple[int, int]]:
    """Return height and width by image of a data set from config/sizes.tsv; empty if not there."""
    return {
        row["image"]: (int(row["height"]), int(row["width"]))
        for row in read_csv(repository_root() / "config" / "sizes.tsv", "\t")
        if row["dataset"] == dataset
    }
