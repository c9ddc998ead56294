"""Score trained methods of arbitrary-scale super-resolution (see `asr_scores`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from .. import runtime
from ..config import Config, Method
from ..data.images import convert_to_batch, convert_to_rgb
from ..data.sources import refuse_training_images
from ..errors import explain_memory_shortage
from ..models.asr.model import ASRModel
from ..runs import load_matching_run
from .asr_scores import Upsample, score_sets


def build_upsampler(model: ASRModel, config: Config) -> Upsample:
    """Build the function that enlarges an image by a model, on the model's device.

    Only the decoder works in tiles, of config asr.tile_pixels, which changes no value. The encoder
    sees the whole image, because other borders would change its values at the seams. The function
    raises `UserError` for an image whose features do not fit into memory.
    """
    device = next(model.parameters()).device

    def enlarge(low: np.ndarray, height: int, width: int) -> Tensor:
        images = convert_to_batch(convert_to_rgb(low), device)
        size = f"{low.shape[1]}x{low.shape[0]} pixels enlarged to {width}x{height}"
        with explain_memory_shortage(f"With the present asr.tile_pixels, an image of {size}"):
            return model.render(images, height, width, config["asr"]["tile_pixels"])[0]

    return enlarge


def evaluate_run(
    config: Config, method: Method, seed: int, run: Path, output: Path, state: Path
) -> None:
    """Score a trained run on every data set at every scale, as `score_sets` does.

    Raises `UserError` when the run is missing or not of this method and seed, when a data set was
    not fetched, or as `refuse_training_images` does.
    """
    refuse_training_images(config["asr"]["evaluate"].values(), config["asr"]["train"], config)
    device = runtime.prepare_device(config["device"], config["threads"])
    model, metadata = load_matching_run(run, ASRModel, method, seed, config, device)
    upsample = build_upsampler(model, config)
    weights = {"weights_sha256": metadata["weights_sha256"]}
    facts = {"device": runtime.describe_device(device)}
    with torch.inference_mode():
        score_sets(upsample, config, output, state, weights, facts)
