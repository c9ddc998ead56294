"""Train an arbitrary-scale super-resolution method with one seed (protocol, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import runtime
from ..config import Config, Method
from ..data.superres import Batch, PackedImages, Sampler
from ..evaluation import asr as evaluation
from ..files import check_dates, read_csv, write_csv
from ..models.asr.model import ASRModel, build_model, normalize
from ..progress import log
from .run_record import train_and_write

VALIDATION_COLUMNS = ("step", "psnr_y", "ssim_y", "images")


def train_run(
    config: Config,
    method: Method,
    seed: int,
    array: Path,
    output: Path,
    state: Path,
) -> None:
    """Train `method` and write weights.safetensors, log.csv, validation.csv, run.json (last).

    `array` is the packed training set; `state` the file from which an interrupted run resumes. It
    is kept at the end: while settings, images and code are unchanged, a repeated call writes the
    run from it and does not train again. Adam on the mean absolute error of normalized colors; the
    learning rate is halved at the recipe's fractions of the steps. Raises `UserError` and
    `StopRequested`.
    """
    sections = {name: config["asr"][name] for name in ("model", "training")}
    settings = sections["training"]
    recipe = settings["recipes"][method.recipe]
    device = runtime.prepare_device(config["device"], config["threads"], settings["precision"])
    images = PackedImages.open(array)
    check_dates(array.with_suffix(part) for part in (".npy", ".csv", ".json"))
    sampler = Sampler(images, settings, recipe["batch_size"], seed, device)
    model = build_model(method, config, seed).to(device)
    forward = torch.compile(model) if settings["compile"] else model
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe["learning_rate"], fused=True)
    validation = ValidationCurve(model, config, output / "validation.csv", device)
    if sampler.is_resident:
        log.info("the training images are held on the device")
    train_and_write(
        method,
        seed,
        config,
        sections,
        {"train": images.sha256, "on_device": sampler.is_resident},
        model,
        optimizer,
        output,
        state,
        facts={"precision": settings["precision"], "recipe": recipe},
        batch=sampler.prefetch_batches(),
        loss=lambda batch: compute_absolute_error(forward, batch, settings["precision"]),
        schedule=build_schedule(settings["steps"], recipe),
        after_step=validation.measure_after_step,
        keep_state=True,  # so that a changed rule does not cost days of training
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


class ValidationCurve:
    """The validation curve: mean PSNR-Y and SSIM-Y of a few images, every `validate_every` steps.

    The images are the first ones of the first column of asr.evaluate, at validation_scale. They
    select nothing: the weights of the last step are the result.
    """

    def __init__(self, model: ASRModel, config: Config, path: Path, device: torch.device) -> None:
        settings = config["asr"]["training"]
        self.model, self.config, self.path, self.device = model, config, path, device
        self.every, self.steps = settings["validate_every"], settings["steps"]
        self.scale = settings["validation_scale"]
        self.column = next(iter(config["asr"]["evaluate"]))
        self.pairs = evaluation.build_first_pairs(
            self.column, self.scale, config, settings["validation_images"]
        )

    def measure_after_step(self, step: int) -> None:
        """Measure and write the curve, after every `validate_every` steps and after the last."""
        if step % self.every and step != self.steps:
            return
        upsample = evaluation.build_upsampler(self.model, self.config, self.device)
        border = evaluation.compute_border(self.column, self.scale, self.config)
        self.model.eval()
        with torch.no_grad():
            scores = [evaluation.score_pair(upsample, pair, border) for pair in self.pairs]
        self.model.train()
        means = [fmean(values) for values in zip(*scores, strict=True)]
        # A run that resumed from an earlier step has measured the later steps before.
        written = read_csv(self.path) if self.path.is_file() else []
        rows: list[Mapping[str, Any]] = [row for row in written if int(row["step"]) < step]
        rows.append(dict(zip(VALIDATION_COLUMNS, (step, *means, len(scores)), strict=True)))
        write_csv(self.path, VALIDATION_COLUMNS, rows)
        log.info("after step %d: PSNR-Y %.3f dB on %s x%g", step, means[0], self.column, self.scale)
