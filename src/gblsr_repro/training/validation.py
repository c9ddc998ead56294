"""Measure the validation curve of a super-resolution method while it is trained."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from ..config import Config
from ..data.sources import list_source_images
from ..evaluation import compute_border
from ..evaluation.asr import build_pair, build_upsampler, score_pair
from ..files import read_csv, write_csv
from ..models.asr.model import ASRModel
from ..progress import log

VALIDATION_COLUMNS = ("step", "psnr_y", "ssim_y", "images")


class ValidationCurve:
    """The validation curve: mean PSNR-Y and SSIM-Y of a few images, every `validate_every` steps.

    The images are the first ones of the first column of asr.evaluate, at validation_scale. They
    select nothing: the weights of the last step are the result. Raises `UserError` when the data
    set was not fetched.
    """

    def __init__(self, model: ASRModel, config: Config, path: Path) -> None:
        asr, settings = config["asr"], config["asr"]["training"]
        self.model, self.path = model, path
        self.upsample = build_upsampler(model, config)
        self.every, self.steps = settings["validate_every"], settings["steps"]
        self.column, dataset = next(iter(asr["evaluate"].items()))
        self.scale = settings["validation_scale"]
        self.border = compute_border(self.column, self.scale, config)
        images = list_source_images(dataset, config, self.scale)[: settings["validation_images"]]
        self.pairs = [build_pair(image, self.scale, asr["downsampling"]) for image in images]

    def measure_after_step(self, step: int) -> None:
        """Measure and write the curve, after every `validate_every` steps and after the last."""
        if step == 1:
            self.path.unlink(missing_ok=True)  # of a run that was trained here before
        if step % self.every and step != self.steps:
            return
        self.model.eval()
        with torch.no_grad():
            scores = [score_pair(self.upsample, pair, self.border) for pair in self.pairs]
        self.model.train()
        means = [fmean(values) for values in zip(*scores, strict=True)]
        # A run that resumed from an earlier step has measured the later steps before.
        written = read_csv(self.path) if self.path.is_file() else []
        rows: list[Mapping[str, Any]] = [row for row in written if int(row["step"]) < step]
        rows.append(dict(zip(VALIDATION_COLUMNS, (step, *means, len(scores)), strict=True)))
        write_csv(self.path, VALIDATION_COLUMNS, rows)
        log.info("after step %d: PSNR-Y %.3f dB on %s x%g", step, means[0], self.column, self.scale)
