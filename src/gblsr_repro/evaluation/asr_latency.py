"""Time per image of a super-resolution method by the fixed protocol (see `latency`).

Weights are random: times do not depend on them. Every image of a set is timed, also where many
have one size. Images that are not at hand are timed blank, by the sizes in config/sizes.tsv; times
do not depend on what an image shows either, and the record says which images were real.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import runtime
from ..config import Config, Method, read_table, repository_root
from ..data import resize
from ..data.images import as_rgb
from ..data.sources import HighRes, high_resolution
from ..errors import UserError
from ..files import write_csv, write_json
from ..models.asr.decoders import PLAIN
from ..models.asr.model import ASRModel, build
from ..progress import Progress
from . import latency
from .asr import planes

COLUMNS = ("dataset", "image", "height", "width", "track", "path", *latency.COLUMNS)

Call = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Size:
    """A row of config/sizes.tsv: the size in pixels of a high-resolution image of a data set."""

    key: str
    dataset: str
    image: str
    width: str
    height: str


@dataclass(frozen=True)
class Timed:
    """An image to time: its low-resolution `height` and `width`; `source` None where it is blank."""

    name: str
    height: int
    width: int
    source: HighRes | None

    def load(self, scale: float, config: Config) -> np.ndarray:
        """Return the low-resolution image, uint8 (height, width, 3)."""
        if self.source is None:
            return np.zeros((self.height, self.width, 3), np.uint8)
        high = resize.crop_to_scale(as_rgb(self.source.load()), scale)
        divisor = config["asr"]["timing"]["size_divisor"]
        size = self.height, self.width
        return resize.RESIZERS[config["asr"]["downsampling"]](high, *size)
