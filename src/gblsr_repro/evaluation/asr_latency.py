"""Time per image of a super-resolution method by the fixed protocol (see `latency`).

Weights are random: times do not depend on them. Every image of a set is timed, also where many
have the same size. Images that are not at hand are timed blank, by the sizes in config/sizes.tsv,
and the record says how many: what an image shows does not change its time either.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import runtime
from ..config import Config, Method, repository_root
from ..data.images import as_rgb
from ..data.places import dataset_row, place_of
from ..data.resize import crop_to_scale, downscale
from ..data.sources import HighRes, high_resolution
from ..errors import UserError
from ..files import write_csv, write_json
from ..models.asr.decoders import PLAIN
from ..models.asr.model import ASRModel, build
from ..progress import Progress, log
from . import latency
from .asr import planes

COLUMNS = ("dataset", "image", "height", "width", "track", "path", *latency.COLUMNS)

Call = Callable[[Tensor], Tensor]
Prepare = Callable[[Tensor], tuple[str, Call]]
"""From an example input to the name of a path and its call for inputs of that shape."""


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
        blank = np.zeros((self.height, self.width, 3), np.uint8)
        high = blank if self.source is None else as_rgb(self.source.load())
        part = high[: self.height // timing["size_divisor"], : self.width // timing["size_divisor"]]
        high = crop_to_scale(part, timing["scale"])
        small = downscale(high, timing["scale"], config["asr"]["downsampling"])
        return planes(small)[None].to(device).float() / 255


def time_method(config: Config, method: Method, seed: int, output: Path | str) -> None:
    """Time a method with untrained weights of `seed` on the sets of config asr.timing.

    Writes `output` (.csv), one row per image, track and path, with the low-resolution height and
    width, and beside it the record of device and images (.json). Raises `UserError` where neither
    images nor sizes of a set are known.
    """
    device = runtime.prepare(config["device"], config["threads"])
    output, timing = Path(output), config["asr"]["timing"]
    images = [image for column in timing["datasets"] for image in timed(column, config)]
    model = build(method, config, seed).eval().to(device)
    ways = _ways(model, config)
    rows: list[dict[str, Any]] = []
    decoded: dict[str, list[str]] = {}
    not_timed: dict[str, str] = {}
    total = len(ways) * len(images)
    with latency.protocol_settings(), Progress(f"time {method.method}", total, "image") as progress:
        conditions = latency.conditions(config, device)
        for track, prepare in ways:
            try:
                for image in images:
                    rows.append(_row(image, track, prepare, model, config, device))
                    taken = decoded.setdefault(f"{track} {rows[-1]['path']}", [])
                    if model.path not in taken:
                        taken.append(model.path)
                    progress.update()
            except RuntimeError as error:
                # What cannot be recorded as a graph has no such time; the protocol's must exist.
                if track == latency.PROTOCOL:
                    raise
                not_timed[track] = str(error).partition("\n")[0]
                log.warning("%s: %s is not timed: %s", method.method, track, not_timed[track])
                rows = [row for row in rows if row["track"] != track]
    blank = _count(image.column for image in images if image.source is None)
    record = {
        "method": method.method,
        "seed": seed,
        "scale": timing["scale"],
        "size_divisor": timing["size_divisor"],
        "images": _count(image.column for image in images),
        "blank_images": blank,
        "sizes_only": bool(blank),
        "decoder_paths": decoded,
        "not_timed": not_timed,
    }
    write_csv(output, COLUMNS, rows)
    write_json(output.with_suffix(".json"), record | conditions)


def _count(columns: Iterable[str]) -> dict[str, int]:
    return dict(Counter(columns))


def _row(
    image: Timed,
    track: str,
    prepare: Prepare,
    model: ASRModel,
    config: Config,
    device: torch.device,
) -> dict[str, Any]:
    low = image.low(config, device)
    path, call = prepare(low)
    warmup, passes = config["latency"]["warmup"], config["latency"]["passes"]
    measured = latency.measure(partial(call, low), device, warmup, passes, model=model)
    height, width = low.shape[-2:]
    return latency.row(image.column, image.name, track, path, measured) | {
        "height": height,
        "width": width,
    }


def _ways(model: ASRModel, config: Config) -> list[tuple[str, Prepare]]:
    """Return the tracks and paths to time, the protocol's first: deployment turns the model.

    Plain and own path are timed side by side in the protocol track; deployment takes the own path.
    """
    settings = config["asr"]
    scale, tile = settings["timing"]["scale"], settings["tile_pixels"]

    def render(images: Tensor, path: str | None = None) -> Tensor:
        height, width = (round(side * scale) for side in images.shape[-2:])
        return model.render(images, height, width, tile, path)

    ways: dict[str, list[Prepare]] = {
        latency.PROTOCOL: [
            lambda _: (latency.FAST, render),
            lambda _: (latency.PLAIN, partial(render, path=PLAIN)),
        ],
        latency.DEPLOYMENT: [partial(latency.deployed, model, render)],
    }
    wanted = settings["timing"]["tracks"]
    return [(track, way) for track in ways if track in wanted for way in ways[track]]


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
    if not place_of(dataset_row(dataset), config).manifest.is_file():
        log.info("%s was not fetched: its images are timed blank", dataset)
        return []
    return high_resolution(dataset, config["asr"]["timing"]["scale"], config)


def _size(image: HighRes) -> tuple[int, int]:
    height, width = image.load().shape[:2]
    return height, width


def _sizes(dataset: str) -> dict[str, tuple[int, int]]:
    """Return height and width by image of a data set from config/sizes.tsv; empty if not there."""
    path = repository_root() / "config" / "sizes.tsv"
    with path.open(newline="", encoding="utf-8") as stream:
        rows = csv.DictReader(stream, delimiter="\t")
        return {
            row["image"]: (int(row["height"]), int(row["width"]))
            for row in rows
            if row["dataset"] == dataset
        }
