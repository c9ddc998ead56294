"""Every fast path of super-resolution shows what the plain one does, also in tiles and queries."""

import copy
from unittest import mock

import made
import pytest
import torch

from gblsr_repro import config
from gblsr_repro.models.asr import decoders
from gblsr_repro.models.asr.model import ASRModel

METHODS = ["liif_rdn", "lte_rdn", "lte_swinir", "gblsr_asr", "gblsr_asr_nole"]
WHOLE = 10**9
SCALES = [1, 2, 3, 4, 6, 8, 1.5, 2.7, 3.3, 11, 0.6, (2, 3), (1, 8), (1.5, 1)]  # or y and x


@pytest.fixture(scope="module")
def models() -> dict[str, ASRModel]:
    """The methods at small widths, with weights that give colors of amplitude 1 and more."""
    more = {"rdn_features": 12, "rdn_blocks": 1, "swinir_window": 4, "hidden": 17, "modes": 16}
    settings = config.merge(config.load(), {"asr": {"model": made.ASR | more}})
    found = {}
    for name in METHODS:
        found[name] = ASRModel.build(config.read_methods()[name], settings, 0).eval()
        made.moved(found[name].decoder, 0.1)
    return found


def features_of(model: ASRModel, h: int, w: int, batch: int = 2) -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    shape = (batch, model.encoder.features, h, w)
    return torch.randn(shape, generator=generator)


def scaled(h: int, w: int, scale: float | tuple[float, float]) -> tuple[int, int]:
    y, x = scale if isinstance(scale, tuple) else (scale, scale)
    return max(round(h * y), 1), max(round(w * x), 1)


def error(image: torch.Tensor, exact: torch.Tensor) -> float:
    """Return the largest error relative to the amplitude around mid-gray."""
    return ((image - exact).abs().max() / (exact - 0.5).abs().max()).item()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cells", [(7, 5), (1, 6), (4, 1)])
@pytest.mark.parametrize("scale", SCALES)
def test_all_paths_agree_with_the_plain_one_in_float64(models, method, cells, scale):
    model, size = models[method], scaled(*cells, scale)
    features, images = features_of(model, *cells), made.images(2, *cells)
    double = copy.deepcopy(model).double()
    paths = {*model.decoder.paths} - {"plain"}
    if size[0] % cells[0] or size[0] * cells[1] != size[1] * cells[0]:
        paths -= {"folded"}
    with torch.no_grad():
        exact = double.decode(features.double(), *size, WHOLE, images, path="plain")
        for path in paths:
            image = model.decode(features, *size, WHOLE, images.float(), path=path)
            assert error(image, exact) < 3e-6, path
            assert model.path == path


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [3, 2.7])
@pytest.mark.parametrize("tile", [1, 50, 170])
def test_tiles_change_nothing(models, method, scale, tile):
    model, size = models[method], scaled(7, 5, scale)
    features, images = features_of(model, 7, 5), made.images(2, 7, 5, torch.float32)
    with torch.no_grad():
        for path in (None, "plain"):
            whole = model.decode(features, *size, WHOLE, images, path=path)
            tiled = model.decode(features, *size, tile, images, path=path)
            assert error(tiled, whole) < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_queries_of_pixels_of_many_sizes_in_any_order_are_the_decoded_images(
    models, method, monkeypatch
):
    monkeypatch.setattr(decoders, "QUERY_CHUNK", 31)
    model = copy.deepcopy(models[method]).double()
    images, sizes = made.images(2, 4, 6), [scaled(4, 6, scale) for scale in (1.5, 3, 3.3)]
    places = torch.cat([made.centers(*size) for size in sizes])
    cells = torch.cat([torch.tensor([[2 / h, 2 / w]]).expand(h * w, 2) for h, w in sizes])
    order = torch.randperm(len(places), generator=torch.Generator().manual_seed(4))
    asked = (x[order].double().expand(2, -1, -1) for x in (places, cells))
    with torch.no_grad():
        features = model.encode(images)
        colors = model.query(features, *asked, images)
        shown = [model.decode(features, *size, WHOLE, images).flatten(2) for size in sizes]
    assert error(colors.mT, torch.cat(shown, 2)[..., order]) < 1e-6


def chosen_pixels(sizes: torch.Tensor, count: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(5)
    draws = torch.rand(len(sizes), count, 2, generator=generator)
    return (draws * sizes[:, None]).long()


@pytest.mark.parametrize("method", METHODS)
def test_training_samples_are_pixels_of_the_decoded_images(models, method):
    model = copy.deepcopy(models[method]).double()
    images = made.images(3, 7, 5)
    sizes = torch.tensor([[7, 5], [28, 20], [17, 11]])
    pixels = chosen_pixels(sizes, 40)
    pixels[:, 0] = 0
    pixels[:, 1] = sizes - 1
    with torch.no_grad():
        sampled = model(images, sizes, pixels)
        for i, (height, width) in enumerate(sizes.tolist()):
            one = images[i : i + 1]
            image = model.decode(model.encode(one), height, width, WHOLE, one)[0]
            expected = image[:, pixels[i, :, 0], pixels[i, :, 1]].T
            torch.testing.assert_close(sampled[i], expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("method", METHODS)
def test_training_gradients_are_those_of_the_plain_path(models, method):
    images, sizes = made.images(2, 7, 5, torch.float32), torch.tensor([[28, 20], [15, 9]])
    pixels = chosen_pixels(sizes, 60)
    signs = torch.sign(torch.randn(2, 60, 3, generator=torch.Generator().manual_seed(6)))

    def gradients(model: ASRModel, dtype: torch.dtype, path: str | None):
        features = features_of(model, 7, 5).to(dtype).requires_grad_()
        with mock.patch.object(model, "encode", return_value=features):
            colors = model(images.to(dtype), sizes, pixels, path)
        (colors * signs).mean().backward()
        return [features.grad, *(p.grad for p in model.decoder.parameters())]

    exact = gradients(copy.deepcopy(models[method]).double(), torch.float64, "plain")
    fast = gradients(copy.deepcopy(models[method]), torch.float32, None)
    for one, other in zip(fast, exact, strict=True):
        assert (one - other).abs().max() < 2e-5 * other.abs().max()


def test_training_and_queries_take_the_first_path_of_a_class(models, monkeypatch):
    model, taken = copy.deepcopy(models["liif_rdn"]), []
    compute = model.decoder.compute_maps
    monkeypatch.setattr(type(model.decoder), "paths", ("own", "plain"))
    monkeypatch.setattr(
        model.decoder, "compute_maps", lambda maps, path: taken.append(path) or compute(maps, path)
    )
    images, place = made.images(1, 4, 6, torch.float32), torch.zeros(1, 1, 2)
    model(images, torch.tensor([[8, 12]]), place.long())
    model.query(model.encode(images), place, place + 0.1, images)
    assert taken == ["own", "own"]


@pytest.mark.parametrize("method", METHODS)
def test_channels_last_changes_no_value_and_autocast_nothing_behind_the_encoder(models, method):
    model, images = copy.deepcopy(models[method]), made.images(2, 7, 5, torch.float32)
    features = features_of(model, 7, 5)
    with torch.no_grad():
        usual = model.decode(features, 14, 10, WHOLE, images)
        with torch.autocast("cpu", torch.bfloat16):
            assert torch.equal(model.decode(features, 14, 10, WHOLE, images), usual)
        usual = model.render(images, 14, 10, WHOLE)
        model.to(memory_format=torch.channels_last)
        turned = model.render(images.contiguous(memory_format=torch.channels_last), 14, 10, WHOLE)
    assert error(turned, usual) < 1e-5
