"""Measure the latency of native arms by the fixed protocol (see `latency`)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from .. import runtime
from ..config import Arm, Config
from ..data.arrays import ImageArray
from ..models.base import PLAIN
from ..models.native import NativeModel
from . import latency, timing

LATENCY_COLUMNS = ("dataset", "image", "clock", *timing.TIME_COLUMNS)


def time_arm(config: Config, arm: Arm, seed: int, arrays: Path, output: Path, state: Path) -> None:
    """Time an arm with untrained weights of `seed` on the images of every evaluation set.

    Writes <set>.csv into the folder `output`, one row per image and clock, and beside it a .json
    that describes the device. Weights are random, because times do not depend on them. Raises
    `UserError` when an array is missing or damaged.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    sets = {}
    for column in config["native"]["data"]["evaluate"]:
        array = ImageArray.open(arrays / f"{column}.npy")
        images = [
            latency.TimedInput(name, array.size**2, partial(array.load_images, [position], device))
            for position, name in enumerate(array.names[: config["latency"]["images_per_set"]])
        ]
        sets[column] = latency.TimedSet(images, {"array_sha256": array.description["sha256"]})
    model = NativeModel.build(arm, config, seed).eval().to(device)
    timer = latency.Timer(model, config, device, partial(model, path=PLAIN), model, False)
    timer.write_times(arm, seed, sets, output, LATENCY_COLUMNS, state)
