"""Build the cases about images: training samples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import skimage
import torch
from PIL import Image
from torch import Tensor

from gblsr_repro.data.images import read_rgb_image
from gblsr_repro.data.resize import resize_like_pillow
from gblsr_repro.data.superres import PackedImages, Sampler, SampleSpec

from .bench import Bench, format_size
from .measure import Case, Variant

SIZE, QUICK_SIZE = (1404, 2040), (256, 320)  # the former is usual in DIV2K


def build_cases(bench: Bench) -> Iterator[Case]:
    """Build the group's cases."""
    yield build_sample_case(bench)


def build_photograph(size: tuple[int, int]) -> np.ndarray:
    """Build a photograph, uint8 (H, W, 3): one of scikit-image, repeated to fill the size."""
    tile = read_rgb_image(Path(skimage.__file__).parent / "data" / "astronaut.png")
    height, width = size
    copies = (-(-height // tile.shape[0]), -(-width // tile.shape[1]), 1)
    return np.ascontiguousarray(np.tile(tile, copies)[:height, :width])


def build_sample_case(bench: Bench) -> Case:
    """Build the case of a super-resolution batch: from a file, decoded before, all at once."""
    training = bench.config["asr"]["training"]
    batch = training["recipes"]["rdn"]["batch_size"]
    size = QUICK_SIZE if bench.quick else SIZE
    path, image = bench.scratch / "photograph.png", build_photograph(size)
    Image.fromarray(image).save(path)
    packed = PackedImages(
        image.reshape(-1, 3), ("photograph",), *(np.array([n]) for n in (0, *size)), sha256=""
    )
    sampler = Sampler(packed, training, batch, 0, bench.device)

    def build_one_by_one(load: Any) -> Tensor:
        draws = [sampler.draw_sample(0, place) for place in range(batch)]
        crops = [cut_crop(load(), draw) for draw in draws]
        patch = training["lr_patch"]
        low = np.stack([resize_like_pillow(crop, patch, patch) for crop in crops])
        colors = [
            crop.reshape(-1, 3)[draw.targets] for crop, draw in zip(crops, draws, strict=True)
        ]
        torch.from_numpy(np.stack(colors)).to(bench.device, torch.float32)
        return torch.from_numpy(low).to(bench.device).permute(0, 3, 1, 2).float() / 255

    variants = (
        Variant("decode each PNG", partial(build_one_by_one, lambda: read_rgb_image(path))),
        Variant("decoded beforehand, one by one", partial(build_one_by_one, lambda: image)),
        Variant("whole batch at once", lambda: sampler.build_batch(0).low),
    )
    return Case("super-resolution batch", variants, format_size(*size), items=batch, memory=False)


def cut_crop(image: np.ndarray, draw: SampleSpec) -> np.ndarray:
    """Cut a crop out of an image (H, W, 3) and turn it as a draw says."""
    crop = image[draw.top : draw.top + draw.side, draw.left : draw.left + draw.side]
    crop = crop[::-1] if draw.flip else crop
    crop = crop[:, ::-1] if draw.mirror else crop
    return np.ascontiguousarray(crop.swapaxes(0, 1) if draw.transpose else crop)
