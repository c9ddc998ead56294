"""Training one arm of the native benchmark with one seed (paper section 3.3)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import runtime
from ..config import Arm, Config
from ..data.arrays import Arrays, as_float
from ..errors import UserError
from ..files import check_dates
from ..models.native import build_model
from .checkpoint import remove_state
from .run_record import train_and_write
from .sampler import EpochSampler, draw_pixels

Batch = tuple[Tensor, ...]
"""Images (B, 3, S, S) and, where the loss takes a part of the pixels, their numbers (B, N)."""


def train_run(
    config: Config, arm: Arm, seed: int, array: Path | str, output: Path | str, state: Path | str
) -> None:
    """Train `arm` and write weights.safetensors, log.csv and run.json (last) into `output`.

    `array` is the standardized training array; `state` the file from which an interrupted run
    goes on, removed at the end. AdamW on the mean squared error of the unclamped reconstruction,
    of all pixels or of as many as native.training.pixels says for the arm, drawn anew for every
    step; batches from shuffled epochs. Raises `UserError` and `StopRequested`.

    What repeats: on the CPU the same seed, settings, array, thread count, kind of processor and
    torch version give the same bits, interrupted or not. On CUDA initialization and the order of
    images are the same as on the CPU; precision "strict" asks for deterministic kernels, but torch
    promises the same bits only on the same model of GPU, and warns where a kernel has no such
    variant.
    """
    output = Path(output)
    sections = {name: config["native"][name] for name in ("model", "data", "training")}
    recipe = sections["training"]
    device = runtime.prepare(config["device"], config["threads"], recipe["precision"])
    arrays = Arrays.open(array)
    check_dates(Path(array).with_suffix(part) for part in (".npy", ".csv", ".json"))
    model = build_model(arm, config, seed)
    sampler = EpochSampler(len(arrays), recipe["batch_size"], torch.get_rng_state())
    model = model.to(device)
    images_of = build_batch_reader(arrays, sampler, device)
    count, chosen = arrays.images.shape[1] * arrays.images.shape[2], recipe["pixels"].get(arm.arm)
    if chosen is not None and chosen > count:
        raise UserError(
            f"Config: native.training.pixels.{arm.arm} is {chosen}, but an image has {count}; "
            "leave it out for all of them."
        )
    forward = model if chosen is None else model.pixels
    forward = torch.compile(forward) if recipe["compile"] else forward

    def batch(step: int) -> Batch:
        images = images_of(step)
        if chosen is None:
            return (images,)
        drawn = draw_pixels(count, len(images), chosen, seed, step)
        return images, drawn.to(device, non_blocking=True)

    def split(batch: Batch) -> list[Batch]:
        return list(zip(*(part.chunk(recipe["accumulate"]) for part in batch), strict=True))

    def loss(batch: Batch) -> Tensor:
        images, *drawn = batch
        target = images
        if drawn:
            at = drawn[0][:, None].expand(-1, images.shape[1], -1)
            target = images.flatten(2).gather(2, at).mT
        return F.mse_loss(forward(*batch), target)

    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=recipe["learning_rate"],
        betas=tuple(recipe["betas"]),
        weight_decay=recipe["weight_decay"],
        fused=True,
    )
    train_and_write(
        arm,
        seed,
        config,
        sections,
        {"train": arrays.record["sha256"]},
        model,
        optimizer,
        output,
        state,
        batch=batch,
        split=split,
        loss=loss,
        gradient_clip=recipe["gradient_clip"],
    )
    remove_state(state)


def build_batch_reader(
    arrays: Arrays, sampler: EpochSampler, device: torch.device
) -> Callable[[int], Tensor]:
    """Return the function from a step to its images, (B, 3, S, S) in [0, 1] on `device`.

    On CUDA the whole array is held on the device as uint8, so a step waits for no loader; on the
    CPU the batch is read from the memory-mapped file.
    """
    if device.type != "cuda":
        return lambda step: arrays.tensor(sampler.indices(step).numpy(), device)
    resident = arrays.to_device(device)
    return lambda step: as_float(resident[sampler.indices(step).to(device, non_blocking=True)])
