"""Build the cases about images: standardization and training samples."""

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

from gblsr_repro.data.arrays import ImageArray
from gblsr_repro.data.images import read_rgb_image
from gblsr_repro.data.resize import resize_like_pillow
from gblsr_repro.data.standardize import draw_crop
from gblsr_repro.data.superres import PackedImages, Sampler, SampleSpec
from gblsr_repro.training.native import build_batch_reader
from gblsr_repro.training.sampler import EpochSampler

from .bench import Bench, format_size
from .measure import Case, Variant

PNG, JPEG = (1404, 2040), (480, 640)  # the usual sizes of DIV2K and DTD images
QUICK_PNG, QUICK_JPEG = (256, 320), (120, 160)
STORED = 16  # images in the standardized array


def build_cases(bench: Bench) -> Iterator[Case]:
    """Build the group's cases."""
    yield build_standardized_case(bench)
    yield build_sample_case(bench)


def build_photograph(size: tuple[int, int]) -> np.ndarray:
    """Build a photograph, uint8 (H, W, 3): one of scikit-image, repeated to fill the size."""
    tile = read_rgb_image(Path(skimage.__file__).parent / "data" / "astronaut.png")
    height, width = size
    copies = (-(-height // tile.shape[0]), -(-width // tile.shape[1]), 1)
    return np.ascontiguousarray(np.tile(tile, copies)[:height, :width])


def save_photograph(bench: Bench, size: tuple[int, int], suffix: str) -> Path:
    """Save a photograph of a size as an image file."""
    path = bench.scratch / f"photograph{size[0]}x{size[1]}{suffix}"
    Image.fromarray(build_photograph(size)).save(path)
    return path


def build_standardized_case(bench: Bench) -> Case:
    """Build the case of a native batch: decoded and cropped from files, or read from the array.

    Making the array is decoding and cropping each image once.
    """
    side, batch = bench.image_side, bench.config["native"]["training"]["batch_size"]
    png, jpeg = (QUICK_PNG, QUICK_JPEG) if bench.quick else (PNG, JPEG)

    def decode(path: Path) -> Tensor:
        crops = [draw_crop(read_rgb_image(path), side, seed) for seed in range(batch)]
        return torch.from_numpy(np.stack(crops)).to(bench.device)

    path = bench.scratch / "array.npy"
    pixels = np.resize(build_photograph((side, side)), (STORED, side, side, 3))
    np.save(path, pixels)
    arrays = ImageArray(path, np.load(path, mmap_mode="r", allow_pickle=False), [{}] * STORED, {})
    read = build_batch_reader(
        arrays, EpochSampler(STORED, batch, torch.get_rng_state()), bench.device
    )
    files = [
        ("PNG", save_photograph(bench, png, ".png"), png),
        ("JPEG", save_photograph(bench, jpeg, ".jpg"), jpeg),
    ]
    variants = [
        Variant(f"standardize {kind} of {format_size(*size)}", partial(decode, file))
        for kind, file, size in files
    ]
    variants.append(Variant("read the array", partial(read, 0)))
    return Case(
        "native batch",
        tuple(variants),
        format_size(side, side),
        items=batch,
        same=False,
        memory=False,
    )


def build_sample_case(bench: Bench) -> Case:
    """Build the case of a super-resolution batch: from a file, decoded before, all at once."""
    training = bench.config["asr"]["training"]
    batch = training["recipes"]["rdn"]["batch_size"]
    size = QUICK_PNG if bench.quick else PNG
    path, image = save_photograph(bench, size, ".png"), build_photograph(size)
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
