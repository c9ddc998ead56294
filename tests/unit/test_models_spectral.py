"""The spectral core: fast against plain, queries against the grid, gradients, bad ranges."""

import math

import pytest
import torch

from gblsr_repro.models import spectral

PATCH, COUNT = 8, 6


def coefficients(batch=2, h=3, w=2, count=COUNT, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    shape = (batch, 3, count, count, h, w)
    return torch.randn(shape, generator=generator, dtype=dtype)


def bandwidths(shape):
    generator = torch.Generator().manual_seed(1)
    return 0.25 + 1.75 * torch.rand(shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("shape", [(), (2, 3, 2)], ids=["shared", "per patch"])
def test_fast_rendering_is_the_plain_sum(shape):
    c, s = coefficients(), bandwidths(shape)
    basis = spectral.pixel_basis(PATCH, COUNT, s)
    fast, plain = spectral.render_grid(c, basis), spectral.render_plain(c, basis)
    assert fast.shape == (2, 3, 3 * PATCH, 2 * PATCH)
    torch.testing.assert_close(fast, plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(), (2, 3, 2)], ids=["shared", "per patch"])
def test_gradients_of_fast_rendering_are_those_of_the_plain_sum(shape):
    c, s = coefficients().requires_grad_(), bandwidths(shape).requires_grad_()
    grads = []
    for render in (spectral.render_grid, spectral.render_plain):
        image = render(c, spectral.pixel_basis(PATCH, COUNT, s))
        grads.append(torch.autograd.grad(image.pow(3).sum(), (c, s)))
    for fast, plain in zip(*grads, strict=True):
        torch.testing.assert_close(fast, plain, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shape", [(), (2, 3, 2)], ids=["shared", "per patch"])
def test_queries_at_pixel_centers_give_the_grid(shape):
    c, s = coefficients(), bandwidths(shape)
    grid = spectral.render_grid(c, spectral.pixel_basis(PATCH, COUNT, s))
    height, width = grid.shape[-2:]
    y, x = torch.arange(height, dtype=torch.float64), torch.arange(width, dtype=torch.float64)
    positions = torch.cartesian_prod(y, x).expand(2, -1, -1)
    queried = spectral.evaluate(c, s, positions, PATCH).mT.reshape(grid.shape)
    torch.testing.assert_close(queried, grid, rtol=0, atol=1e-12)


def test_a_patch_reaches_half_a_pixel_beyond_its_pixel_centers():
    c = coefficients(batch=1, h=1, w=2)
    s = torch.tensor(0.7, dtype=torch.float64)
    edge = PATCH - 0.5
    positions = torch.tensor([[[0.0, edge - 1e-9], [0.0, edge + 1e-9]]], dtype=torch.float64)
    left, right = spectral.evaluate(c, s, positions, PATCH)[0]
    beyond = torch.tensor([1 + 1 / (PATCH - 1), -1 - 1 / (PATCH - 1)], dtype=torch.float64)
    psi_y = spectral.modes(torch.tensor(-1.0, dtype=torch.float64), COUNT, s)
    psi_x = spectral.modes(beyond, COUNT, s)
    for patch, value in enumerate((left, right)):
        expected = torch.einsum("kij,i,j->k", c[0, ..., 0, patch], psi_y, psi_x[patch])
        torch.testing.assert_close(value, expected, rtol=0, atol=1e-6)


def test_an_odd_number_of_modes_ends_in_a_sine():
    v = torch.linspace(-1, 1, 5, dtype=torch.float64)
    last = spectral.modes(v, 5, 0.5)[..., -1]
    torch.testing.assert_close(last, torch.sin(math.pi * v))
    assert spectral.modes(v, 1, 0.5).tolist() == [[1.0]] * 5


@pytest.mark.parametrize("kind", [spectral.LogBandwidth, spectral.LinearBandwidth])
def test_bandwidth_stays_within_its_range(kind):
    raw = torch.tensor([-80.0, -1.0, 0.0, 1.0, 80.0], dtype=torch.float64)
    s = kind(0.25, 2.0)(raw)
    assert (s.diff() > 0).all()
    torch.testing.assert_close(s[[0, -1]], torch.tensor([0.25, 2.0], dtype=torch.float64))
