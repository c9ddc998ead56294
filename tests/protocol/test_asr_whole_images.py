"""LTE-SwinIR on whole images, against the way of LTE's own test code, written anew.

An image of h rows is continued by its mirror image to (h // 8 + 1) * 8 rows, by a whole window also
where 8 divides h. The map of the continued image is decoded and what it shows is cropped. The
decoder below asks for every pixel by itself and uses no function of the package but the encoder.
"""

import dataclasses
import itertools
import math

import made
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from gblsr_repro import config, inference
from gblsr_repro.image_io import Photo
from gblsr_repro.models.asr.model import ASRModel, build_model

WHOLE = 10**9
SIZES = [(20, 29), (24, 32)]
SCALES = [2, 3, 4, 2.7]
SHIFT, AREA = 1e-6, 1e-9


def model_of(**changes: str) -> ASRModel:
    """A method with SwinIR at small widths, every weight drawn anew; it is in float64."""
    settings = config.merge(config.load(), made.SMALL)
    settings["asr"]["model"] |= {"swinir_embed": 8, "swinir_depths": [2, 2], "modes": 5}
    row = dataclasses.replace(config.read_methods()["lte_swinir"], **changes)
    return made.moved(build_model(row, settings, 0).double().eval(), 0.15)


def image_of(size: tuple[int, int]) -> Tensor:
    return torch.rand(1, 3, *size, generator=torch.Generator().manual_seed(7)).double()


def continued(image: Tensor, window: int = 8) -> Tensor:
    height, width = image.shape[2:]
    image = torch.cat((image, torch.flip(image, [2])), 2)[:, :, : (height // window + 1) * window]
    image = torch.cat((image, torch.flip(image, [3])), 3)
    return image[..., : (width // window + 1) * window]


def places(shown: int, cells: int, full: int) -> Tensor:
    """Centers of the pixels of an axis, from -1 to 1 over its `full` cells; `cells` fill `shown`.

    At an integer scale these are the first centers of the `full` cells' own picture.
    """
    scale = shown / cells
    if shown % cells == 0:
        count = shown // cells * full
        return ((2 * torch.arange(count).double() + 1) / count - 1)[:shown]
    return 2 * (torch.arange(shown).double() + 0.5) / (scale * full) - 1


def lte(model: ASRModel, features: Tensor, image: Tensor, at: Tensor, cell: Tensor) -> Tensor:
    """LTE's colors (3, Q) at places (Q, 2) of a map, from pixels of size `cell` (2,)."""
    decoder, size = model.decoder, torch.tensor(features.shape[2:]).double()
    amplitude, frequency = decoder.amplitude(features)[0], decoder.frequency(features)[0]
    total, areas, answers = 0, [], []
    for steps in itertools.product((-1, 1), repeat=2):
        moved = (at + torch.tensor(steps) / size + SHIFT).clamp(-1 + SHIFT, 1 - SHIFT)
        own = ((moved + 1) / 2 * size).floor().long()
        offset = (at - ((2 * own + 1) / size - 1)) * size
        along_y, along_x = frequency[:, own[:, 0], own[:, 1]].chunk(2)
        phase = decoder.phase.weight @ (cell * size)
        angle = math.pi * (along_y * offset[:, 0] + along_x * offset[:, 1] + phase[:, None])
        x = (amplitude[:, own[:, 0], own[:, 1]] * torch.cat((angle.cos(), angle.sin()))).T
        for layer in decoder.hidden:
            x = (x @ layer.weight.T + layer.bias).clamp(min=0)
        answers.append(x @ decoder.last.weight.T + decoder.last.bias)
        areas.append(offset.prod(dim=1, keepdim=True).abs() + AREA)
    for answer, opposite in zip(answers, reversed(areas), strict=True):
        total = total + answer * opposite / sum(areas)
    grid = at.flip(1)[None, None]
    skip = F.grid_sample(image, grid, padding_mode="border", align_corners=False)
    return total.T + skip[0, :, 0]


def expected(model: ASRModel, image: Tensor, size: tuple[int, int]) -> Tensor:
    whole = continued(2 * image - 1)
    features = model.encoder(whole, path="plain")
    axes = list(zip(size, image.shape[2:], whole.shape[2:], strict=True))
    at = torch.cartesian_prod(*(places(*axis) for axis in axes))
    cell = torch.tensor([2 * cells / (shown * full) for shown, cells, full in axes]).double()
    return lte(model, features, whole, at, cell).view(1, 3, *size) / 2 + 0.5


def scaled(size: tuple[int, int], scale: float) -> tuple[int, int]:
    return round(size[0] * scale), round(size[1] * scale)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("size", SIZES)
@torch.no_grad()
def test_a_whole_image_is_continued_decoded_and_cropped(size, scale):
    model, image, shown = model_of(), image_of(size), scaled(size, scale)
    exact = expected(model, image, shown)
    for path, tile in (("plain", WHOLE), ("hoisted", WHOLE), (None, 500)):
        found = model.render(image, *shown, tile, path)
        assert found.shape == exact.shape
        assert (found - exact).abs().max() < 2e-7 * exact.std()


@torch.no_grad()
def test_a_map_cropped_before_it_is_decoded_shows_another_border():
    model, image = model_of(), image_of((24, 32))
    exact = expected(model, image, (48, 64))
    cropped = model.decode(model.encode(image), 48, 64, WHOLE, image)
    off = (cropped - exact).abs().amax(dim=(0, 1))
    assert off[-2:].max() > 0.01 * exact.std()
    assert off[:, -2:].max() > 0.01 * exact.std()


@pytest.mark.parametrize("scale", SCALES)
@torch.no_grad()
def test_photographs_are_shown_as_images_are_scored(scale):
    model, pixels = model_of().float(), made.noise(20, 29, 3)
    image = torch.from_numpy(pixels).permute(2, 0, 1)[None] / 255
    exact = model.render(image, *scaled((20, 29), scale), WHOLE)[0].permute(1, 2, 0)
    found = inference.upscale(model, Photo(pixels), scale).rgb
    assert np.abs(found - (exact.clamp(0, 1) * 255).numpy()).max() < 0.51


@pytest.mark.parametrize("decoder", ["lte", "liif", "gblsr"])
@pytest.mark.parametrize("scale", [*SCALES, 1.5, (3, 2.7)])
@torch.no_grad()
def test_every_decoder_shows_a_continued_map_the_same_way_on_every_path(decoder, scale):
    model, image = model_of(decoder=decoder), image_of((20, 29))
    y, x = scale if isinstance(scale, tuple) else (scale, scale)
    size = (round(20 * y), round(29 * x))
    exact = model.render(image, *size, WHOLE, "plain")
    assert exact.shape[2:] == size
    paths = {None, "separable"} if decoder == "gblsr" else {None}
    for path in paths:
        assert (model.render(image, *size, WHOLE, path) - exact).abs().max() < 1e-6 * exact.std()
