"""Train an arbitrary-scale super-resolution method with one seed (protocol, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import runtime
from ..config import Config, Method
from ..data.superres import Batch, PackedImages, Sampler
from ..models.asr.model import ASRModel, normalize
from ..progress import log
from .loop import Training


def prepare_training(config: Config, method: Method, seed: int, array: Path) -> Training[Batch]:
    """Prepare the training of a method on the packed training images.

    Adam on the mean absolute error of normalized colors; the learning rate is halved at the
    recipe's fractions of the steps. Raises `UserError`.
    """
    sections = {name: config["asr"][name] for name in ("model", "training")}
    settings = sections["training"]
    recipe = settings["recipes"][method.recipe]
    device = runtime.prepare_device(config["device"], config["threads"], settings["precision"])
    images = PackedImages.open(array)
    sampler = Sampler(images, settings, recipe["batch_size"], seed, device)
    model = runtime.place_model(ASRModel.build(method, config, seed), device)
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe["learning_rate"], fused=True)
    if sampler.is_resident:
        log.info("the training images are held on the device")
    return Training(
        model,
        optimizer,
        sampler.prefetch_batches(),
        lambda batch: compute_absolute_error(model, batch, settings["precision"]),
        sections,
        {"train": images.sha256, "on_device": sampler.is_resident},
        facts={"precision": settings["precision"], "recipe": recipe},
        schedule=build_schedule(settings["steps"], recipe),
    )


def build_schedule(steps: int, recipe: Mapping[str, Any]) -> Callable[[int], float]:
    """Build the function from a step (from 0) to its learning rate, halved at `halve_at`."""
    milestones = [round(fraction * steps) for fraction in recipe["halve_at"]]

    def compute_rate(step: int) -> float:
        return recipe["learning_rate"] * 0.5 ** sum(step >= m for m in milestones)

    return compute_rate


def compute_absolute_error(
    model: Callable[..., Tensor], batch: Batch, precision: str = runtime.DEFAULT
) -> Tensor:
    """Compute the mean absolute error of the normalized colors of a batch: a scalar.

    With bf16 the encoder runs in bfloat16 autocast; decoder and loss stay in float32.
    """
    sizes = batch.sides[:, None].expand(-1, 2)
    with torch.autocast(batch.low.device.type, torch.bfloat16, enabled=precision == runtime.BF16):
        colors = model(batch.low, sizes, batch.pixels)
    return F.l1_loss(normalize(colors), normalize(batch.colors))
