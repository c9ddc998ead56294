"""Build the case of a super-resolution batch of training samples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import skimage
import torch
from torch import Tensor

from gblsr_repro.data.resize import resize_like_pillow
from gblsr_repro.data.superres import PackedImages, Sampler, SampleSpec

from .bench import Bench, format_size
from .measure import Case, Variant

SIZE, QUICK_SIZE = (1404, 2040), (256, 320)  # the former is usual in DIV2K


def build_cases(bench: Bench) -> Iterator[Case]:
    """Build the group's case."""
    training = bench.config["asr"]["training"]
    batch, patch = training["recipes"]["rdn"]["batch_size"], training["lr_patch"]
    height, width = QUICK_SIZE if bench.quick else SIZE
    image = np.tile(skimage.data.astronaut(), (3, 4, 1))[:height, :width]
    shape = (np.array([n]) for n in (0, height, width))
    packed = PackedImages(image.reshape(-1, 3), ("photograph",), *shape, sha256="")
    sampler = Sampler(packed, training, batch, 0, bench.device)

    def build_one_by_one() -> Tensor:
        draws = [sampler.draw_sample(0, place) for place in range(batch)]
        crops = [cut_crop(image, draw) for draw in draws]
        low = np.stack([resize_like_pillow(crop, patch, patch) for crop in crops])
        colors = [
            crop.reshape(-1, 3)[draw.targets] for crop, draw in zip(crops, draws, strict=True)
        ]
        torch.from_numpy(np.stack(colors)).to(bench.device, torch.float32)
        return torch.from_numpy(low).to(bench.device).permute(0, 3, 1, 2).float() / 255

    variants = (
        Variant("one by one", build_one_by_one),
        Variant("whole batch at once", lambda: sampler.build_batch(0).low),
    )
    size = format_size(height, width)
    yield Case("super-resolution batch", variants, size, items=batch, memory=False)


def cut_crop(image: np.ndarray, draw: SampleSpec) -> np.ndarray:
    """Cut a crop out of an image (H, W, 3) and turn it as a draw says."""
    crop = image[draw.top : draw.top + draw.side, draw.left : draw.left + draw.side]
    crop = crop[::-1] if draw.flip else crop
    crop = crop[:, ::-1] if draw.mirror else crop
    return np.ascontiguousarray(crop.swapaxes(0, 1) if draw.transpose else crop)
