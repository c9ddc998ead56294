"""LTE-SwinIR on whole images, against the way of LTE's own test code, written anew.

An image of h rows is continued by its mirror image to (h // 8 + 1) * 8 rows, by a whole window also
where 8 divides h. The map of the continued image is decoded and what it shows is cropped. Here the
decoder (test_asr_models_oracle.py) is asked for every pixel by itself.
"""

import made
import numpy as np
import pytest
import torch
from torch import Tensor

from gblsr_repro import config, inference
from gblsr_repro.image_io import Photo
from gblsr_repro.models.asr.model import ASRModel

WHOLE = 10**9
SIZES = [(20, 29), (24, 32)]
SCALES = [2, 3, 4, 2.7]


def model_of(**changes: str) -> ASRModel:
    """A method with SwinIR at small widths, every weight drawn anew; it is in float64."""
    settings = config.merge(config.load(), made.SMALL)
    settings["asr"]["model"] |= {"swinir_embed": 8, "swinir_depths": [2, 2], "modes": 5}
    row = config.read_methods()["lte_swinir"].model_copy(update=changes)
    return made.moved(ASRModel.build(row, settings, 0).double().eval(), 0.15)


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


def expected(model: ASRModel, image: Tensor, size: tuple[int, int]) -> Tensor:
    whole = continued(2 * image - 1)
    features = model.encoder(whole, path="plain")
    axes = list(zip(size, image.shape[2:], whole.shape[2:], strict=True))
    at = torch.cartesian_prod(*(places(*axis) for axis in axes))
    cell = torch.tensor([2 * cells / (shown * full) for shown, cells, full in axes]).double()
    colors = model.query(features, at[None], cell.expand(1, len(at), 2), (whole + 1) / 2)
    return colors.mT.view(1, 3, *size)


def scaled(size: tuple[int, int], scale: float) -> tuple[int, int]:
    return round(size[0] * scale), round(size[1] * scale)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("size", SIZES)
@torch.no_grad()
def test_a_whole_image_is_continued_decoded_and_cropped(size, scale):
    model, image, shown = model_of(), made.images(1, *size), scaled(size, scale)
    exact = expected(model, image, shown)
    for path, tile in (("plain", WHOLE), ("hoisted", WHOLE), (None, 500)):
        found = model.render(image, *shown, tile, path)
        assert found.shape == exact.shape
        assert (found - exact).abs().max() < 2e-7 * exact.std()


@pytest.mark.parametrize("scale", SCALES)
@torch.no_grad()
def test_photographs_are_shown_as_images_are_scored(scale):
    model, pixels = model_of().float(), made.noise(20, 29, 3)
    image = torch.from_numpy(pixels).permute(2, 0, 1)[None] / 255
    exact = model.render(image, *scaled((20, 29), scale), WHOLE)[0].permute(1, 2, 0)
    found = inference.upscale(model, Photo(pixels), scale).rgb
    assert np.abs(found - (exact.clamp(0, 1) * 255).numpy()).max() < 0.51


@pytest.mark.parametrize("decoder", ["lte:LTE", "liif:LIIF", "local_spectral:GBLSR"])
@pytest.mark.parametrize("scale", [*SCALES, 1.5, (3, 2.7)])
@torch.no_grad()
def test_every_decoder_shows_a_continued_map_the_same_way_on_every_path(decoder, scale):
    model = model_of(decoder=f"gblsr_repro.models.asr.{decoder}")
    image = made.images(1, 20, 29)
    y, x = scale if isinstance(scale, tuple) else (scale, scale)
    size = (round(20 * y), round(29 * x))
    exact = model.render(image, *size, WHOLE, "plain")
    assert exact.shape[2:] == size
    paths = {None, "separable"} if decoder == "local_spectral:GBLSR" else {None}
    for path in paths:
        assert (model.render(image, *size, WHOLE, path) - exact).abs().max() < 1e-6 * exact.std()
