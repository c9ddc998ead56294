"""The spectral core beyond its grid of pixels, and its ranges."""

import math

import pytest
import torch

from gblsr_repro.models import spectral

PATCH, COUNT = 8, 6


def test_a_patch_reaches_half_a_pixel_beyond_its_pixel_centers():
    generator = torch.Generator().manual_seed(0)
    c = torch.randn(1, 3, COUNT, COUNT, 1, 2, generator=generator, dtype=torch.float64)
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


@pytest.mark.parametrize("kind", [spectral.log_bandwidth, spectral.linear_bandwidth])
def test_bandwidth_stays_within_its_range(kind):
    raw = torch.tensor([-80.0, -1.0, 0.0, 1.0, 80.0], dtype=torch.float64)
    s = kind(raw, 0.25, 2.0)
    assert (s.diff() > 0).all()
    torch.testing.assert_close(s[[0, -1]], torch.tensor([0.25, 2.0], dtype=torch.float64))
