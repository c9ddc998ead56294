"""Write the pictures that are compared: one image of every set, reconstructed or enlarged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from .. import runtime
from ..config import Config, get_setting
from ..data.arrays import ImageArray
from ..data.images import Pixels, convert_to_rgb, convert_to_tensor
from ..data.sources import list_source_images
from ..errors import UserError
from ..files import write_atomically
from ..models.asr.model import ASRModel
from ..models.native import NativeModel
from ..runs import load_run
from ..wording import list_some
from . import BICUBIC, NEAREST, TRUTH, list_compared_scales
from .asr import build_pair, build_upsampler, enlarge_bicubically
from .native import reconstruct


def find_exemplar(config: Config, setting: str, key: str, names: Sequence[str]) -> int:
    """Find the place of the image of a set, with these `names`, that a setting has under a key.

    It is the first image where the setting names none. Raises `UserError` when it names one that
    the set lacks.
    """
    name = get_setting(config, setting).get(key, names[0])
    if name not in names:
        raise UserError(
            f"Config: {setting}.{key} is {name!r}, which is no image of {key}; "
            f"name one of {list_some(names)}."
        )
    return names.index(name)


def write_exemplars(config: Config, runs: Sequence[Path], arrays: Path, output: Path) -> None:
    """Write the exemplar of every evaluation set, original and reconstructed by trained runs.

    `runs` are run folders of one seed, `arrays` is the folder of the standardized arrays. Writes
    ground_truth/<column>.png and <arm>/<column>.png into `output`. Raises `UserError` when an
    exemplar is not in its set, or when a run or an array is missing or damaged.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    truths = {}
    for column in config["native"]["data"]["evaluate"]:
        array = ImageArray.open(arrays / f"{column}.npy")
        place = find_exemplar(config, "native.data.exemplars", column, array.names)
        truths[column] = array.load_images([place])
    for column, truth in truths.items():
        write_png(output / TRUTH / f"{column}.png", truth[0])
    for run in runs:
        model = runtime.prepare_for_inference(load_run(run, NativeModel, config), device)
        for column, truth in truths.items():
            picture = reconstruct(model, truth.to(device))[0]
            write_png(output / model.name / f"{column}.png", picture)


def write_enlarged(config: Config, runs: Sequence[Path], output: Path) -> None:
    """Write the exemplar of every set of super-resolution, enlarged at the compared scales.

    `runs` are run folders of one seed. Writes <data set>_x<scale>.png into folders of `output`: the
    original, the low resolution enlarged by nearest pixels and bicubically, and by every run, as
    they are scored but rounded to 8 bits. Raises `UserError` as `write_exemplars` does.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    pairs = {}
    for dataset in config["asr"]["evaluate"].values():
        for scale in list_compared_scales(config):
            images = list_source_images(dataset, config, scale)
            names = [image.name for image in images]
            image = images[find_exemplar(config, "asr.exemplars", dataset, names)]
            pair = build_pair(image, scale, config["asr"]["downsampling"])
            pairs[f"{dataset}_x{scale:g}.png"] = pair
    for file, pair in pairs.items():
        size = pair.high.shape[1], pair.high.shape[0]
        nearest = Image.fromarray(pair.low).resize(size, Image.Resampling.NEAREST)
        write_png(output / TRUTH / file, scale_to_unit(pair.high))
        write_png(output / NEAREST / file, scale_to_unit(np.asarray(nearest)))
        write_png(output / BICUBIC / file, enlarge_bicubically(pair.low, *pair.high.shape[:2]))
    for run in runs:
        model = load_run(run, ASRModel, config, device)
        upsample = build_upsampler(model, config)
        with torch.inference_mode():
            for file, pair in pairs.items():
                enlarged = upsample(pair.low, *pair.high.shape[:2])
                write_png(output / model.name / file, enlarged)


def scale_to_unit(pixels: Pixels) -> Tensor:
    """Convert 8-bit pixels, gray or in color, to an image (3, H, W) in [0, 1]."""
    return convert_to_tensor(convert_to_rgb(pixels)) / 255


def write_png(path: Path, image: Tensor) -> None:
    """Write one image (3, H, W), clamped to [0, 1], as an 8-bit PNG file."""
    pixels = (image.clamp(0, 1) * 255).round().byte().permute(1, 2, 0).cpu().numpy()
    with write_atomically(path) as temporary:
        Image.fromarray(pixels).save(temporary, format="PNG")
