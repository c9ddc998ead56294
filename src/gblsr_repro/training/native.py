"""Train an arm of the native benchmark with one seed (paper section 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

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
    model = NativeModel.build(arm, config, seed)
    sampler = EpochSampler(len(arrays), recipe["batch_size"], torch.get_rng_state())
    model = runtime.place_model(model, device)
    objective = Objective(model, arm, recipe, arrays, sampler, seed, device)
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=recipe["learning_rate"],
        betas=tuple(recipe["betas"]),
        weight_decay=recipe["weight_decay"],
        fused=True,
    )
    return Training(
        model,
        optimizer,
        objective.read_batch,
        objective.compute_loss,
        sections,
        {"train": arrays.description["sha256"]},
        split=objective.split_batch,
        gradient_clip=recipe["gradient_clip"],
    )


class Objective:
    """Batches and loss of an arm: the mean squared error of all pixels, or of a drawn part.

    Raises `UserError` when native.training.pixels has more pixels for the arm than an image.
    """

    def __init__(
        self,
        model: NativeModel,
        arm: Arm,
        recipe: Mapping[str, Any],
        arrays: ImageArray,
        sampler: EpochSampler,
        seed: int,
        device: torch.device,
    ) -> None:
        self.read_images = build_batch_reader(arrays, sampler, device)
        self.parts, self.seed, self.device = recipe["accumulate"], seed, device
        self.image_pixels = arrays.size**2
        self.loss_pixels: int | None = recipe["pixels"].get(arm.arm)
        if self.loss_pixels is not None and self.loss_pixels > self.image_pixels:
            raise UserError(
                f"Config: native.training.pixels.{arm.arm} is {self.loss_pixels}, but an image has "
                f"{self.image_pixels}; leave it out to use all pixels."
            )
        self.forward = model if self.loss_pixels is None else model.reconstruct_pixels

    def read_batch(self, step: int) -> Batch:
        """Read the batch of a step counted from 0."""
        images = self.read_images(step)
        if self.loss_pixels is None:
            return (images,)
        pixels = draw_pixels(self.image_pixels, len(images), self.loss_pixels, self.seed, step)
        return images, pixels.to(self.device, non_blocking=True)

    def split_batch(self, batch: Batch) -> list[Batch]:
        """Split a batch into the parts whose gradients are accumulated."""
        return list(zip(*(tensor.chunk(self.parts) for tensor in batch), strict=True))

    def compute_loss(self, batch: Batch) -> Tensor:
        """Compute the mean squared error of a batch, a scalar."""
        images, *pixels = batch
        target = images
        if pixels:
            index = pixels[0][:, None].expand(-1, images.shape[1], -1)
            target = images.flatten(2).gather(2, index).mT
        return F.mse_loss(self.forward(*batch), target)


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
