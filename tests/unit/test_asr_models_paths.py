"""Every fast path against the plain one in float64; tiles, queries, gradients, the kernel cache."""

import copy
from unittest import mock

import made
import pytest
import torch

from gblsr_repro import config
from gblsr_repro.models.asr.model import ASRModel, build
from gblsr_repro.models.coordinates import pixel_coordinates

METHODS = ["liif_rdn", "lte_rdn", "lte_swinir", "gblsr_asr", "gblsr_asr_nole"]
SPECTRAL = METHODS[-2:]
WHOLE = 10**9
SCALES = [1, 2, 3, 4, 6, 8, 1.5, 2.7, 3.3, 11, 0.6]


@pytest.fixture(scope="module")
def models() -> dict[str, ASRModel]:
    """The methods at small widths, with weights that give colours of amplitude 1 and more."""
    more = {"rdn_features": 12, "rdn_blocks": 1, "swinir_window": 4, "hidden": 16, "modes": 16}
    settings = config.merge(config.load(), {"asr": {"model": made.ASR | more}})
    found = {}
    for name in METHODS:
        model = build(config.methods()[name], settings, 0).eval()
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for parameter in model.decoder.parameters():
                parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
        found[name] = model
    return found


def features_of(model: ASRModel, h: int, w: int, batch: int = 2) -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    shape = (batch, model.encoder.features, h, w)
    return torch.randn(shape, generator=generator)


def images_of(h: int, w: int, batch: int = 2) -> torch.Tensor:
    return torch.rand(batch, 3, h, w, generator=torch.Generator().manual_seed(3))


def scaled(h: int, w: int, scale: float) -> tuple[int, int]:
    return max(round(h * scale), 1), max(round(w * scale), 1)


def truth(model: ASRModel, features, size, images) -> torch.Tensor:
    exact = copy.deepcopy(model).double()
    with torch.no_grad():
        return exact.decode(features.double(), *size, WHOLE, images.double(), path="plain")


def error(image: torch.Tensor, exact: torch.Tensor) -> float:
    """Return the largest error relative to the amplitude around mid-grey."""
    return ((image - exact).abs().max() / (exact - 0.5).abs().max()).item()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cells", [(7, 5), (1, 6), (4, 1)])
@pytest.mark.parametrize("scale", SCALES)
def test_all_paths_agree_with_the_plain_one_in_float64(models, method, cells, scale):
    model, size = models[method], scaled(*cells, scale)
    features, images = features_of(model, *cells), images_of(*cells)
    exact = truth(model, features, size, images)
    paths = [p for p in model.decoder.paths if p != "plain"]
    if not isinstance(scale, int):
        paths = [p for p in paths if p != "folded"]
    with torch.no_grad():
        for path in paths:
            image = model.decode(features, *size, WHOLE, images, path=path)
            assert error(image, exact) < 3e-6, path
            assert model.path == path


@pytest.mark.parametrize("method", SPECTRAL)
@pytest.mark.parametrize("size", [(14, 15), (7, 40), (21, 10), (28, 5)])
def test_axes_may_have_different_scales(models, method, size):
    model = models[method]
    features, images = features_of(model, 7, 5), images_of(7, 5)
    exact = truth(model, features, size, images)
    with torch.no_grad():
        for path in (None, "separable"):
            assert error(model.decode(features, *size, WHOLE, images, path=path), exact) < 3e-6


@pytest.mark.parametrize("method", SPECTRAL)
@pytest.mark.parametrize(("scale", "path"), [(1, "folded"), (8, "folded"), (9, "separable")])
def test_integer_scales_fold_up_to_the_largest(models, method, scale, path):
    assert models[method].decoder.fastest((5, 6), (5 * scale, 6 * scale)) == path
    assert models[method].decoder.fastest((5, 6), (5 * scale, 6 * scale + 1)) == "separable"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [3, 2.7])
@pytest.mark.parametrize("tile", [1, 50, 170])
def test_tiles_change_nothing(models, method, scale, tile):
    model, size = models[method], scaled(7, 5, scale)
    features, images = features_of(model, 7, 5), images_of(7, 5)
    with torch.no_grad():
        for path in (None, "plain"):
            whole = model.decode(features, *size, WHOLE, images, path=path)
            tiled = model.decode(features, *size, tile, images, path=path)
            assert error(tiled, whole) < 1e-6


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1.5, 3, 3.3])
def test_a_query_of_every_pixel_is_the_rendered_image(models, method, scale):
    model = copy.deepcopy(models[method]).double()
    h, w, (height, width) = 4, 6, scaled(4, 6, scale)
    images = images_of(h, w).double()
    cell = torch.tensor([2 / height, 2 / width], dtype=torch.float64)
    places = pixel_coordinates(height, width).expand(2, -1, -1)
    with torch.no_grad():
        features = model.encode(images)
        asked = model.query(features, places, cell.expand_as(places), images, chunk=31)
        image = model.render(images, height, width, WHOLE)
    assert error(asked.mT.reshape(image.shape), image) < 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_queries_take_any_order_of_coordinates_and_their_own_cells(models, method):
    model = copy.deepcopy(models[method]).double()
    images = images_of(4, 6).double()
    generator = torch.Generator().manual_seed(4)
    places = torch.rand(2, 9, 2, generator=generator, dtype=torch.float64) * 2.2 - 1.1
    cell = torch.rand(2, 9, 2, generator=generator, dtype=torch.float64) / 4 + 0.1
    order = torch.randperm(9, generator=generator)
    with torch.no_grad():
        features = model.encode(images)
        asked = model.query(features, places, cell, images)
        shuffled = model.query(features, places[:, order], cell[:, order], images, chunk=2)
    assert asked.isfinite().all()
    torch.testing.assert_close(shuffled, asked[:, order])


def chosen_pixels(sizes: torch.Tensor, count: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(5)
    draws = torch.rand(len(sizes), count, 2, generator=generator)
    return (draws * sizes[:, None]).long()


@pytest.mark.parametrize("method", METHODS)
def test_training_samples_are_pixels_of_the_rendered_images(models, method):
    model = copy.deepcopy(models[method]).double()
    images = images_of(7, 5, batch=3).double()
    sizes = torch.tensor([[7, 5], [28, 20], [17, 11]])
    pixels = chosen_pixels(sizes, 40)
    pixels[:, 0] = 0
    pixels[:, 1] = sizes - 1
    with torch.no_grad():
        sampled = model(images, sizes, pixels)
        for i, (height, width) in enumerate(sizes.tolist()):
            image = model.render(images[i : i + 1], height, width, WHOLE)[0]
            expected = image[:, pixels[i, :, 0], pixels[i, :, 1]].T
            torch.testing.assert_close(sampled[i], expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("method", METHODS)
def test_training_gradients_are_those_of_the_plain_path(models, method):
    images, sizes = images_of(7, 5), torch.tensor([[28, 20], [15, 9]])
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


@pytest.mark.parametrize("method", SPECTRAL)
@pytest.mark.parametrize("path", ["folded", "separable"])
def test_rendering_is_differentiable_through_weights_and_bandwidth(models, method, path):
    model = copy.deepcopy(models[method]).double()
    features, images = features_of(model, 4, 3).double(), images_of(4, 3).double()

    def gradients(path: str):
        model.zero_grad()
        model.decode(features, 12, 9, WHOLE, images, path=path).square().sum().backward()
        return [p.grad.clone() for p in model.decoder.parameters()]

    for one, other in zip(gradients(path), gradients("plain"), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


# --- the cached kernel ---------------------------------------------------------------------------


def fused_step(model: ASRModel) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, fused=True)
    with torch.enable_grad():
        image = torch.rand(1, 3, 4, 4)
        sizes, pixels = torch.tensor([[8, 8]]), torch.zeros(1, 1, 2, dtype=torch.long)
        model.train()(image, sizes, pixels).sum().backward()
    optimizer.step()
    model.eval()


def plain_step(model: ASRModel) -> None:
    optimizer = torch.optim.SGD([model.decoder.raw_bandwidth], lr=1.0)
    model.decoder.raw_bandwidth.grad = torch.ones(())
    optimizer.step()


@pytest.mark.parametrize("change", [fused_step, plain_step])
def test_a_change_of_weights_makes_a_new_kernel(models, change):
    model = copy.deepcopy(models["gblsr_asr"])
    images = images_of(4, 3)
    with torch.no_grad():
        before = model.render(images, 8, 6, WHOLE)
    change(model)
    with torch.no_grad():
        after = model.render(images, 8, 6, WHOLE)
        plain = model.render(images, 8, 6, WHOLE, path="plain")
    assert model.decoder.fastest((4, 3), (8, 6)) == "folded"
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after, plain, rtol=0, atol=1e-4)


def test_scales_and_precisions_have_their_own_kernels(models):
    model = copy.deepcopy(models["gblsr_asr"])
    images = images_of(4, 3)
    with torch.no_grad():
        for size in ((8, 6), (16, 12), (8, 6), (8, 12)):
            image = model.render(images, *size, WHOLE)
            assert error(image, model.render(images, *size, WHOLE, path="plain")) < 2e-5
        model.double()
        exact = model.render(images.double(), 8, 6, WHOLE, path="plain")
        assert error(model.render(images.double(), 8, 6, WHOLE), exact) < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_channels_last_changes_no_value(models, method):
    model = copy.deepcopy(models[method])
    images = images_of(7, 5)
    with torch.no_grad():
        usual = model.render(images, 14, 10, WHOLE)
        model.to(memory_format=torch.channels_last)
        turned = model.render(images.contiguous(memory_format=torch.channels_last), 14, 10, WHOLE)
    assert error(turned, usual) < 1e-5


def test_a_kernel_made_in_inference_mode_does_not_enter_autograd(models):
    model = copy.deepcopy(models["gblsr_asr"])
    images = images_of(4, 3)
    with torch.inference_mode():
        shown = model.render(images, 8, 6, WHOLE)
    image = model.render(images, 8, 6, WHOLE)
    image.sum().backward()
    assert model.decoder.raw_bandwidth.grad is not None
    torch.testing.assert_close(image.detach(), shown)


def test_autocast_changes_nothing_behind_the_encoder(models):
    for method in METHODS:
        model = models[method]
        features, images = features_of(model, 4, 3), images_of(4, 3)
        with torch.no_grad():
            usual = model.decode(features, 8, 6, WHOLE, images)
            with torch.autocast("cpu", torch.bfloat16):
                under = model.decode(features, 8, 6, WHOLE, images)
        assert torch.equal(usual, under)
