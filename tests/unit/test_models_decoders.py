"""Every arm's fast path against its plain path, its queries, its gradients, its memory."""

import copy
import dataclasses

import pytest
import torch
from torch import nn

from gblsr_repro import config
from gblsr_repro.errors import UserError
from gblsr_repro.models.coordinates import pixel_coordinates
from gblsr_repro.models.native import build

ARMS = list(config.arms())


@pytest.fixture(scope="module")
def settings():
    """The paper's settings with smaller patches and fewer channels, so that tests are quick."""
    loaded = config.load()
    loaded["native"]["model"] |= {"patch": 8, "features": 16, "norm_groups": 4, "modes": 6}
    loaded["native"]["model"] |= {"hidden": 12, "fourier_frequencies": 5}
    return loaded


def moved(model: nn.Module, seed: int = 5) -> nn.Module:
    """Add noise to every parameter, so that heads and coefficients are not at their start."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return model


@pytest.fixture
def model(settings, arm):
    """An arm in float64."""
    return moved(build(config.arms()[arm], settings, 0)).double()


def images(batch: int, height: int, width: int, dtype=torch.float64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(7)
    return torch.rand(batch, 3, height, width, generator=generator, dtype=dtype)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("size", [(16, 24), (8, 8), (13, 21)])
def test_fast_rendering_is_the_plain_one(model, size):
    x = images(2, *size)
    with torch.no_grad():
        fast, plain = model(x), model(x, path="plain")
        again = model(x)
    assert fast.shape == x.shape
    # LIIF's plain path adds the canonical 1e-9 to every area.
    torch.testing.assert_close(fast, plain, rtol=0, atol=1e-7 * plain.abs().max().item())
    assert torch.equal(fast, again)


@pytest.mark.parametrize("arm", ARMS)
def test_fast_rendering_in_float32(model, arm):
    model.float()
    x = images(1, 24, 16, torch.float32)
    with torch.no_grad():
        fast, plain = model(x), model(x, path="plain")
    # Each of WIRE's activations multiplies what was rounded before it by about ten.
    tolerance = 1e-4 if arm.startswith("wire") else 1e-5
    torch.testing.assert_close(fast, plain, rtol=0, atol=tolerance * plain.abs().max().item())


@pytest.mark.parametrize("arm", ARMS)
def test_gradients_of_the_fast_path_are_those_of_the_plain_path(model):
    x = images(2, 16, 24)
    grads = []
    for path in ("fast", "plain"):
        model.zero_grad()
        (model(x, path=path) - x).pow(2).mean().backward()
        grads.append({n: p.grad for n, p in model.named_parameters() if p.grad is not None})
    assert grads[0].keys() == grads[1].keys()
    for name, gradient in grads[0].items():
        scale = grads[1][name].abs().max().item()
        torch.testing.assert_close(gradient, grads[1][name], rtol=0, atol=1e-6 * scale + 1e-14)


@pytest.mark.parametrize("arm", ARMS)
def test_every_trained_parameter_that_the_arm_uses_gets_a_gradient(model, arm):
    model(images(1, 16, 16)).pow(2).mean().backward()
    idle = {n for n, p in model.named_parameters() if p.grad is None}
    unused_head = {"decoder.head.weight", "decoder.head.bias"}
    assert idle == (unused_head if arm in ("gblsr_fixed", "gblsr_scalar") else set())


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("size", [(16, 24), (13, 21)])
def test_queries_at_pixel_centers_give_the_grid(model, size):
    x = images(2, *size)
    with torch.no_grad():
        features = model.encode(x)
        grid = model.decode(features, *size)
        queried = model.query(features, pixel_coordinates(*size).expand(2, -1, -1), size)
    queried = queried.mT.reshape(grid.shape)
    torch.testing.assert_close(queried, grid, rtol=0, atol=1e-7 * grid.abs().max().item())


@pytest.mark.parametrize("arm", ARMS)
def test_what_inference_remembers_follows_the_weights(settings, arm):
    model = moved(build(config.arms()[arm], settings, 0)).eval()
    other = moved(build(config.arms()[arm], settings, 1), 6).eval()
    x = images(1, 16, 16, torch.float32)
    with torch.no_grad():
        before = model(x)
        model.load_state_dict(other.state_dict())
        loaded = model(x)
        expected = other(x)
    assert torch.equal(loaded, expected)
    assert not torch.equal(loaded, before)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, fused=True)
    model(x).pow(2).mean().backward()
    optimizer.step()
    with torch.no_grad():
        stepped = model(x)
        assert torch.equal(stepped, copy.deepcopy(model)(x))
        assert not torch.equal(stepped, loaded)
        for change in (lambda p: p.mul_(1.1), lambda p: setattr(p, "data", 1.1 * p.data)):
            for parameter in model.parameters():
                change(parameter)
            changed = model(x)
            assert torch.equal(changed, copy.deepcopy(model)(x))
            assert not torch.equal(changed, stepped)
            stepped = changed
        torch.testing.assert_close(model.double()(x.double()).float(), stepped, atol=1e-3, rtol=0)


def test_remembered_values_do_not_leak_from_inference_into_training(settings):
    model = moved(build(config.arms()["gblsr_scalar"], settings, 0))
    x = images(1, 16, 16, torch.float32)
    with torch.inference_mode():
        model(x)
    model(x).mean().backward()
    assert model.decoder.raw_bandwidth.grad is not None


def test_arms_of_one_seed_share_the_encoder_and_seeds_differ(settings):
    states = [
        build(config.arms()[arm], settings, seed).encoder.state_dict()
        for arm, seed in (("gblsr_scalar", 0), ("liif", 0), ("gblsr_scalar", 1))
    ]
    for name, value in states[0].items():
        assert torch.equal(value, states[1][name])
    assert not torch.equal(states[0]["layers.0.weight"], states[2]["layers.0.weight"])


@pytest.mark.parametrize("arm", ARMS)
def test_chosen_pixels_are_those_of_the_whole_image(model):
    x = images(2, 16, 24)
    chosen = torch.stack([torch.randperm(16 * 24)[:50] for _ in range(2)])
    part, whole = model.pixels(x, chosen), model(x).flatten(2).mT
    expected = torch.stack([whole[b, chosen[b]] for b in range(2)])
    torch.testing.assert_close(part, expected, rtol=0, atol=1e-7 * whole.abs().max().item())


def test_options_of_a_row_are_checked(settings):
    row = config.arms()["lte"]
    for given, sentence in (
        ("features=bilinear coordinates=global", "arm lte: options lack waves; add waves="),
        (row.options + " depth=4", "LTEDecoder has no option 'depth'"),
        (row.options.replace("global", "local"), "coordinates=local must be one of global, rel"),
    ):
        with pytest.raises(UserError, match=sentence):
            build(dataclasses.replace(row, options=given), settings, 0)


def test_whole_family_starts_from_the_bandwidths_of_the_paper(settings):
    x = images(1, 16, 16, torch.float32)
    expected = {"gblsr_fixed": 1.125, "gblsr_bandwidth_linear": 1.125, "gblsr_full_linear": 1.125}
    for arm in (a for a in ARMS if a.startswith("gblsr")):
        model = build(config.arms()[arm], settings, 0)
        bandwidth, order = model.fields(model.encode(x))
        assert bandwidth.shape == order.shape == (1, 2, 2)
        start = expected.get(arm, 0.5**0.5)
        torch.testing.assert_close(bandwidth, torch.full_like(bandwidth, start))
        order_start = 8.5 if "full" in arm else 6.0
        torch.testing.assert_close(order, torch.full_like(order, order_start))
