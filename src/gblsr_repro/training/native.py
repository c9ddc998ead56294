"""Train an arm of the native benchmark with one seed (paper section 3.3)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from .. import runtime
from ..config import Arm, Config
from ..data.arrays import ImageArray, convert_to_float
from ..errors import UserError
from ..models.native import NativeModel
from .loop import Training
from .sampler import EpochSampler, draw_pixels

Batch = tuple[Tensor, ...]
"""Images (B, 3, S, S) and, if the loss uses a part of the pixels, their indices (B, N)."""


def prepare_training(config: Config, arm: Arm, seed: int, array: Path) -> Training[Batch]:
    """Prepare the training of an arm on the standardized training array.

    AdamW on the mean squared error of the unclamped reconstruction, of all pixels or of as many as
    native.training.pixels has for the arm, drawn anew for every step; batches from shuffled epochs.
    Raises `UserError`.

    What repeats: on the CPU the same seed, settings, array, thread count, kind of processor and
    torch version produce the same bits, interrupted or not. On CUDA initialization and the order of
    images are the same as on the CPU; precision "strict" uses deterministic kernels, but torch
    promises the same bits only on the same model of GPU, and warns where a kernel has no such
    variant.
    """
    sections = {name: config["native"][name] for name in ("model", "data", "training")}
    recipe = sections["training"]
    device = runtime.prepare_device(config["device"], config["threads"], recipe["precision"])
    arrays = ImageArray.open(array)
    count, drawn = arrays.size**2, recipe["pixels"].get(arm.arm)
    if drawn is not None and drawn > count:
        raise UserError(
            f"Config: native.training.pixels.{arm.arm} is {drawn}, but an image has {count}; leave "
            "it out to use all pixels."
        )
    model = NativeModel.build(arm, config, seed)
    sampler = EpochSampler(len(arrays), recipe["batch_size"], torch.get_rng_state())
    model = runtime.place_model(model, device)
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=recipe["learning_rate"],
        betas=tuple(recipe["betas"]),
        weight_decay=recipe["weight_decay"],
        fused=True,
    )
    read_images = build_batch_reader(arrays, sampler, device)

    def read_batch(step: int) -> Batch:
        images = read_images(step)
        if drawn is None:
            return (images,)
        pixels = draw_pixels(count, len(images), drawn, seed, step)
        return images, pixels.to(device, non_blocking=True)

    def split_batch(batch: Batch) -> list[Batch]:
        parts = (tensor.chunk(recipe["accumulate"]) for tensor in batch)
        return list(zip(*parts, strict=True))

    return Training(
        model,
        optimizer,
        read_batch,
        lambda batch: compute_squared_error(model, *batch),
        sections,
        {"train": arrays.description["sha256"]},
        split=split_batch,
        gradient_clip=recipe["gradient_clip"],
    )


def compute_squared_error(
    model: NativeModel, images: Tensor, pixels: Tensor | None = None
) -> Tensor:
    """Compute the mean squared error of the reconstruction of a `Batch`, a scalar."""
    if pixels is None:
        return F.mse_loss(model(images), images)
    index = pixels[:, None].expand(-1, images.shape[1], -1)
    target = images.flatten(2).gather(2, index).mT
    return F.mse_loss(model.reconstruct_pixels(images, pixels), target)


def build_batch_reader(
    arrays: ImageArray, sampler: EpochSampler, device: torch.device
) -> Callable[[int], Tensor]:
    """Build the function from a step to its images, (B, 3, S, S) in [0, 1] on `device`.

    On CUDA the whole array is held on the device as uint8, so a step waits for no loader; on the
    CPU the batch is read from the memory-mapped file.
    """
    if device.type != "cuda":
        return lambda step: arrays.load_images(sampler.select_items(step).numpy(), device)
    resident = torch.from_numpy(np.array(arrays.images)).to(device)

    def read_resident(step: int) -> Tensor:
        items = sampler.select_items(step).to(device, non_blocking=True)
        return convert_to_float(resident[items])

    return read_resident
