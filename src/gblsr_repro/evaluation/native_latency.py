"""Time per image of an arm of the native benchmark by the fixed protocol (see `latency`)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from .. import runtime
from ..config import Arm, Config, collect_dependencies
from ..data.arrays import ImageArray
from ..models.base import PLAIN
from ..models.native import build_model
from . import latency

LATENCY_COLUMNS = ("dataset", "image", "clock", *latency.COLUMNS)


def time_arm(config: Config, arm: Arm, seed: int, arrays: Path | str, output: Path | str) -> None:
    """Time an arm with untrained weights of `seed` on the images of every evaluation set.

    Writes for each set <set>.csv into the folder `output`, one row per image and clock (see
    `latency`), and beside it the record of the device (.json). Times do not depend on the weights,
    so no training is waited for.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    sets = {}
    for column in config["native"]["data"]["evaluate"]:
        opened = ImageArray.open(Path(arrays) / f"{column}.npy")
        images = [
            latency.TimedInput(
                name, opened.size**2, partial(opened.load_images, [position], device)
            )
            for position, name in enumerate(opened.names[: config["latency"]["images_per_set"]])
        ]
        sets[column] = latency.TimedSet(images, {"array_sha256": opened.description["sha256"]})
    model = build_model(arm, config, seed).eval().to(device)
    timing = latency.Timer(model, config, device, partial(model, path=PLAIN), model, False)
    made_from = collect_dependencies("latency", arm, config)
    timing.write_times({"arm": arm.arm, "seed": seed}, sets, made_from, output, LATENCY_COLUMNS)
