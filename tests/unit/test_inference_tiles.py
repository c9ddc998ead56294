"""Large photographs: tiles and bands change the memory, not the values."""

from functools import partial

import made
import numpy as np
import pytest
import torch

from gblsr_repro import config
from gblsr_repro.errors import UserError
from gblsr_repro.models import bands
from gblsr_repro.models import native as native_models
from gblsr_repro.models.asr import model as asr
from gblsr_repro.models.asr import tiling
from gblsr_repro.models.asr.swinir import SwinIR
from gblsr_repro.models.base import Encoder
from gblsr_repro.runtime import prepare_for_inference


def superres(method):
    deep = {"swinir_depths": [2, 2], "swinir_window": 4, "modes": 5}
    settings = config.merge(config.load(), {"asr": {"model": made.ASR | deep}})
    return made.moved(asr.ASRModel.build(config.read_methods()[method], settings, 0).eval(), 0.1)


@pytest.mark.parametrize("method", ["gblsr_asr", "lte_swinir", "lte_swinir_tail", "lte_edsr"])
@torch.inference_mode()
def test_the_field_is_what_features_depend_on(method):
    """Noise outside the field changes nothing; noise on the field's rim does (RDN's is exact)."""
    encoder = superres(method).encoder
    images = torch.rand(1, 3, 8, 120)
    before = encoder(images)
    for first, last in ((0, 3), (50, 51), (57, 64), (118, 120)):
        low, high = encoder.compute_receptive_field(first, last, 120)
        assert (low, high) != (0, 120)
        noisy = torch.randn_like(images) * 5
        noisy[..., low:high] = images[..., low:high]
        assert torch.allclose(encoder(noisy)[..., first:last], before[..., first:last], atol=1e-6)
        if isinstance(encoder, SwinIR):
            continue
        for rim in {low, high - 1} - {0, 119}:
            noisy = images.clone()
            noisy[..., rim] += 100
            assert not torch.equal(encoder(noisy)[..., first:last], before[..., first:last])


def test_a_dilated_convolution_widens_the_field():
    encoder = superres("gblsr_asr").encoder
    before = encoder.compute_receptive_field(50, 51, 120)
    encoder.last = torch.nn.Conv2d(4, 4, (1, 3), dilation=3, padding=(0, 3))
    low, high = encoder.compute_receptive_field(50, 51, 120)
    assert (low, high) == (before[0] - 2, before[1] + 2)


def test_the_field_at_the_papers_size():
    settings = config.load()
    encoders = [
        asr.ASRModel.build(config.read_methods()[method], settings, 0).encoder
        for method in ("gblsr_asr", "lte_swinir")
    ]
    rdn, swinir = (encoder.compute_receptive_field(2000, 2001, 4000) for encoder in encoders)
    assert rdn == (2000 - 131, 2001 + 131)  # 128 layers in blocks and three beside them
    assert 2000 - swinir[0] < 250 > swinir[1] - 2000


def test_the_memory_decides_on_the_tiles(monkeypatch):
    monkeypatch.setattr(tiling, "MEMORY", 10**9)
    encoder = superres("gblsr_asr").encoder
    each = encoder.estimate_bytes_per_pixel()
    positions = torch.arange(4000, dtype=torch.float64)
    cut = tiling.cut_tiles(encoder, (4000, 4000), positions, positions)
    assert 1 < len(cut) < 200
    for tile in cut:
        (top, bottom), (left, right) = tile.pixels
        assert (bottom - top) * (right - left) * each <= 10**9
    few = positions[:50]
    assert len(tiling.cut_tiles(encoder, (4000, 4000), few, few)) == 1


def test_what_cannot_be_cut_is_told():
    settings = config.load()
    encoder = asr.ASRModel.build(config.read_methods()["lte_swinir"], settings, 0).encoder
    positions = torch.arange(4000, dtype=torch.float64)
    with pytest.raises(
        UserError,
        match=r"field of SwinIR is too wide .* image of 4000x3000 pixels would take about 2\d\d GB "
        r"at once; use a crop, or a method with an",
    ):
        tiling.cut_tiles(encoder, (3000, 4000), positions[:3000], positions)
    photo, crop = (positions[:512], positions[:768]), (positions[:200], positions[:200])
    assert len(tiling.cut_tiles(encoder, (512, 768), *photo)) == 1
    assert len(tiling.cut_tiles(encoder, (3000, 4000), *crop)) == 1
    encoder.estimate_bytes_per_pixel = partial(Encoder.estimate_bytes_per_pixel, encoder)
    with pytest.raises(UserError, match=r"SwinIR has no estimate_bytes_per_pixel\(\), .* add it"):
        tiling.cut_tiles(encoder, (512, 768), *photo)


def native(arm):
    small = {"features": 16, "hidden": 16, "modes": 6, "patch": 8, "norm_groups": 4}
    settings = config.merge(config.load(), {"native": {"model": small}})
    model = made.moved(native_models.NativeModel.build(config.read_arms()[arm], settings, 0), 0.1)
    return prepare_for_inference(model, torch.device("cpu"))


@pytest.mark.parametrize("kept", [0, 360])  # nothing but the last map; all but the first two
@pytest.mark.parametrize("width", [83, 3])  # 3 are padded by their edge, as a mirror lacks pixels
@torch.inference_mode()
def test_bands_give_the_whole_images_features(monkeypatch, kept, width):
    monkeypatch.setattr(bands, "BAND_BYTES", 60 * width)
    monkeypatch.setattr(bands, "MAP_BYTES", kept * width)
    model = native("gblsr_scalar")
    pixels = made.noise(61, width, 3)
    pixels[:30] //= 8  # the top is dark: no band has the whole image's statistics
    images = torch.from_numpy(pixels).permute(2, 0, 1)[None].float() / 255
    whole = model.encode(images)
    seen = []
    found = bands.encode_in_bands(model, pixels, lambda plan: seen.extend(plan) or plan)
    assert len(seen) > 20
    assert (found - whole).abs().max() / whole.abs().max() < 5e-6


@pytest.mark.parametrize("arm", ["gblsr_scalar", "gblsr_full", "liif", "global_fourier_mlp"])
@torch.inference_mode()
def test_bands_render_the_whole_image(monkeypatch, arm):
    model = native(arm)
    features = model.encode(torch.rand(1, 3, 61, 83))
    whole = model.decode(features, 61, 83)
    monkeypatch.setattr(bands, "BAND_PIXELS", 1500)
    parts = list(bands.render_in_bands(model, features, (61, 83)))
    assert len(parts) > 2
    heights = [part.shape[2] for _, part in parts]
    assert [top for top, _ in parts] == np.cumsum([0, *heights[:-1]]).tolist()
    joined = torch.cat([part for _, part in parts], dim=2)
    assert joined.shape == whole.shape
    assert (joined - whole).abs().max() / whole.abs().max() < 5e-5
