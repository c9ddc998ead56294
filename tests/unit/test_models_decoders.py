"""Every arm's fast path gives the images, queries and gradients of its plain one."""

import made
import pytest
import torch

from gblsr_repro import config
from gblsr_repro.errors import UserError
from gblsr_repro.models.native import NativeModel

ARMS = list(config.read_arms())


@pytest.fixture
def model(settings, arm):
    """An arm in float64, its layers of an odd width."""
    settings = config.merge(settings, {"native": {"model": {"hidden": 9}}})
    return made.moved(NativeModel.build(config.read_arms()[arm], settings, 0)).double()


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("size", [(16, 24), (8, 8), (13, 21)])
def test_fast_rendering_is_the_plain_one(model, arm, size):
    x = made.images(2, *size)
    with torch.no_grad():
        fast, plain = model(x), model(x, path="plain")
        assert torch.equal(model(x), fast)
        single, plainly = model.float()(x.float()), model(x.float(), path="plain")
    assert fast.shape == x.shape
    scale = plain.abs().max().item()
    # LIIF's plain path adds the canonical 1e-9 to every area.
    torch.testing.assert_close(fast, plain, rtol=0, atol=1e-7 * scale)
    # Each of WIRE's activations multiplies what was rounded before it by about ten.
    tolerance = (1e-4 if arm.startswith("wire") else 1e-5) * scale
    torch.testing.assert_close(single, plainly, rtol=0, atol=tolerance)


@pytest.mark.parametrize("arm", ARMS)
def test_gradients_of_all_that_is_used_are_those_of_the_plain_path(model, arm):
    x = made.images(2, 16, 24)
    grads = []
    for path in ("fast", "plain"):
        model.zero_grad()
        (model(x, path=path) - x).pow(2).mean().backward()
        grads.append({n: p.grad for n, p in model.named_parameters() if p.grad is not None})
        idle = {name for name, _ in model.named_parameters()} - grads[-1].keys()
        unused = {"decoder.head.weight", "decoder.head.bias"}
        assert idle == (unused if arm in ("gblsr_fixed", "gblsr_scalar") else set())
    for name, gradient in grads[0].items():
        scale = grads[1][name].abs().max().item()
        torch.testing.assert_close(gradient, grads[1][name], rtol=0, atol=1e-6 * scale + 1e-14)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("size", [(16, 24), (13, 21)])
def test_queries_at_pixel_centers_give_the_grid(model, size):
    x = made.images(2, *size)
    with torch.no_grad():
        features = model.encode(x)
        grid = model.decode(features, *size)
        queried = model.query(features, made.centers(*size).expand(2, -1, -1), size)
    queried = queried.mT.reshape(grid.shape)
    torch.testing.assert_close(queried, grid, rtol=0, atol=1e-7 * grid.abs().max().item())


@pytest.mark.parametrize("arm", ARMS)
def test_chosen_pixels_are_those_of_the_whole_image(model):
    x = made.images(2, 16, 24)
    chosen = torch.stack([torch.randperm(16 * 24)[:50] for _ in range(2)])
    with torch.no_grad():
        part, whole = model.reconstruct_pixels(x, chosen), model(x).flatten(2).mT
    expected = torch.stack([whole[b, chosen[b]] for b in range(2)])
    torch.testing.assert_close(part, expected, rtol=0, atol=1e-7 * whole.abs().max().item())


def test_colors_that_a_loss_would_broadcast_are_refused(settings, monkeypatch):
    model, method = made.model("lte", settings), made.model("gblsr_asr", settings)
    image, pixels = made.images(1, 8, 8, torch.float32), torch.arange(5)[None]
    monkeypatch.setattr(model.decoder, "query", lambda _, places: places)
    with pytest.raises(UserError, match=r"LTEDecoder gives colors of \(1, 2, 8, 8\) in place of"):
        model(image, path="plain")
    with pytest.raises(UserError, match=r"\(1, 5, 2\) in place of \(1, 5, 3\); correct it"):
        model.reconstruct_pixels(image, pixels)
    monkeypatch.setattr(method.decoder, "sample", lambda *_: torch.zeros(1, 5, 1))
    with pytest.raises(UserError, match=r"GBLSR gives colors of \(1, 5, 1\)"):
        method(image, torch.tensor([[8, 8]]), torch.stack((pixels, pixels), -1))


def test_colors_of_the_type_of_the_positions_are_refused(settings, monkeypatch):
    """Which no loss takes: the sum of features and float64 positions is float64."""
    model, image = made.model("lte", settings), made.images(1, 8, 8, torch.float32)
    monkeypatch.setattr(model.decoder, "query", lambda _, places: places[..., [0, 1, 1]])
    with pytest.raises(UserError, match=r"colors of torch\.float64 in place of torch\.float32"):
        model(image, path="plain")
    with pytest.raises(UserError, match=r"colors of torch\.float64 in place of torch\.float32"):
        model.reconstruct_pixels(image, torch.arange(5)[None])


def test_whole_family_starts_from_the_bandwidths_of_the_paper(settings):
    x = made.images(1, 16, 16, torch.float32)
    middle = ("gblsr_fixed", "gblsr_fixed_order", "gblsr_bandwidth_linear", "gblsr_full_linear")
    expected = dict.fromkeys(middle, 1.125)
    for arm in (a for a in ARMS if a.startswith("gblsr")):
        model = NativeModel.build(config.read_arms()[arm], settings, 0)
        bandwidth, order = model.decoder.predict_fields(model.encode(x))
        assert bandwidth.shape == order.shape == (1, 4, 4)
        start = expected.get(arm, 0.5**0.5)
        torch.testing.assert_close(bandwidth, torch.full_like(bandwidth, start))
        order_start = 8.5 if "full" in arm or "order" in arm else 4.0
        torch.testing.assert_close(order, torch.full_like(order, order_start))
