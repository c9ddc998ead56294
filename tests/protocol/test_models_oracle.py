"""The models against oracles written apart from them: loops in float64, numpy, grid_sample."""

import math

import made
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from gblsr_repro import config
from gblsr_repro.models import spectral


@pytest.fixture(scope="module")
def settings():
    """The paper's settings."""
    return config.load()


def noisy(arm: str, settings, scale: float = 0.05):
    """Build an arm in float64 with noise on every parameter."""
    return made.moved(made.model(arm, settings), scale).double().eval()


def mode(index: int, v: float, s: float) -> float:
    """The 1D mode list of the paper's section 3.1, one entry."""
    if index == 0:
        return 1.0
    k = (index + 1) // 2
    return math.cos(math.pi * k * s * v) if index % 2 else math.sin(math.pi * k * s * v)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_cutoff_follows_the_higher_of_the_two_modes():
    found = spectral.compute_cutoff(torch.tensor([16.0, 7.3], dtype=torch.float64), 16, 4.0).numpy()
    for order, weights in zip((16.0, 7.3), found, strict=True):
        expected = [[sigmoid(4 * (order - max(i, j))) for j in range(16)] for i in range(16)]
        np.testing.assert_allclose(weights, expected, atol=1e-14)
    assert found[0, 15, 3] == pytest.approx(0.982, abs=5e-4)  # "approximately 0.98" in the paper


def test_a_patch_reaches_half_a_pixel_beyond_its_pixel_centers():
    patch, count = 8, 6
    generator = torch.Generator().manual_seed(0)
    c = torch.randn(1, 3, count, count, 1, 2, generator=generator, dtype=torch.float64)
    s = torch.tensor(0.7, dtype=torch.float64)
    edge = patch - 0.5
    positions = torch.tensor([[[0.0, edge - 1e-9], [0.0, edge + 1e-9]]], dtype=torch.float64)
    left, right = spectral.evaluate_at_positions(c, s.expand(1, 1, 2), positions, patch)[0]
    beyond = torch.tensor([1 + 1 / (patch - 1), -1 - 1 / (patch - 1)], dtype=torch.float64)
    psi_y = spectral.evaluate_modes(torch.tensor(-1.0, dtype=torch.float64), count, s)
    psi_x = spectral.evaluate_modes(beyond, count, s)
    for side, value in enumerate((left, right)):
        expected = torch.einsum("kij,i,j->k", c[0, ..., 0, side], psi_y, psi_x[side])
        torch.testing.assert_close(value, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "arm",
    ["gblsr_fixed", "gblsr_scalar", "gblsr_bandwidth", "gblsr_full", "gblsr_full_linear",
     "gblsr_fixed_order", "gblsr_scalar_order"],
)  # fmt: skip
def test_family_renders_the_defining_sum(settings, arm):
    """A handful of pixels, each summed over all modes in plain Python."""
    model = noisy(arm, settings, 0.2)
    decoder = model.decoder
    with torch.no_grad():
        features = model.encode(made.images(1, 64, 96))
        rendered = model.decode(features, 64, 96)[0].numpy()
    weight = decoder.coefficients.weight.detach().numpy().reshape(3, 16, 16, 128)
    bias = decoder.coefficients.bias.detach().numpy().reshape(3, 16, 16)
    head = decoder.head.weight.detach().numpy(), decoder.head.bias.detach().numpy()
    local = np.linspace(-1, 1, 32)
    for y, x in ((0, 0), (31, 32), (40, 95), (63, 50)):
        z = features[0, :, y // 32, x // 32].numpy()
        raw_s, raw_p = head[0] @ z + head[1]
        s, order = 1.125, 16.0
        if arm.startswith("gblsr_scalar"):
            raw_s = decoder.raw_bandwidth.item()
        if not arm.startswith("gblsr_fixed"):
            s = 0.25 * 8 ** sigmoid(raw_s)
        if arm.endswith("linear"):
            s = 0.25 + 1.75 * sigmoid(raw_s)
        if "full" in arm or "order" in arm:
            order = 1 + 15 * sigmoid(raw_p)
        for k in range(3):
            total = 0.0
            for i in range(16):
                for j in range(16):
                    c = (weight[k, i, j] @ z + bias[k, i, j]) * sigmoid(4 * (order - max(i, j)))
                    total += c * mode(i, local[y % 32], s) * mode(j, local[x % 32], s)
            assert rendered[k, y, x] == pytest.approx(total, abs=1e-10)


@pytest.mark.parametrize(("height", "width"), [(37, 70), (33, 11), (33, 12), (12, 96), (11, 64)])
def test_odd_sizes_are_padded_by_reflection_where_it_can_be_and_cropped_back(
    settings, height, width
):
    model = noisy("gblsr_scalar", settings)
    x = made.images(1, height, width)
    down, across = -height % 32, -width % 32
    sides = ((down // 2, down - down // 2), (across // 2, across - across // 2))
    mode_of_numpy = "reflect" if height > sides[0][1] and width > sides[1][1] else "edge"
    padded = np.pad(x[0].numpy(), ((0, 0), *sides), mode=mode_of_numpy)
    with torch.no_grad():
        whole = model(torch.from_numpy(padded)[None])
        found = model(x)
    top, left = sides[0][0], sides[1][0]
    torch.testing.assert_close(found, whole[..., top : top + height, left : left + width])


def dense(layers, x: torch.Tensor, activation) -> torch.Tensor:
    for number, layer in enumerate(layers):
        x = x @ layer.weight.T + layer.bias
        if number < len(layers) - 1:
            x = activation(x, number)
    return x


def relu(v: torch.Tensor, _: int) -> torch.Tensor:
    return v.clamp(min=0)


def extent_coordinates(count: int) -> torch.Tensor:
    """Centres of `count` equal cells on [-1, 1]."""
    return -1 + (2 * torch.arange(count, dtype=torch.float64) + 1) / count


def sample(field: torch.Tensor, coordinates: torch.Tensor) -> torch.Tensor:
    """Nearest values (Q, C) of `field` (1, C, h, w) at (y, x) coordinates (Q, 2)."""
    grid = coordinates.flip(-1)[None, None]
    return F.grid_sample(field, grid, mode="nearest", align_corners=False)[0, :, 0].T


def relative_input(features: torch.Tensor, coordinates: torch.Tensor, shift):
    """The published recipe: shift by half a cell, clamp, sample nearest, subtract.

    Returns features, and coordinates relative to their cell's center in those of the image.
    """
    h, w = features.shape[-2:]
    scale = torch.tensor([h, w], dtype=torch.float64)
    moved = (coordinates + shift / scale + 1e-6).clamp(-1 + 1e-6, 1 - 1e-6)
    axes = extent_coordinates(h), extent_coordinates(w)
    centers = torch.stack(torch.meshgrid(*axes, indexing="ij"))[None]
    return sample(features, moved), coordinates - sample(centers, moved)


@pytest.fixture(scope="module")
def queries():
    return torch.cartesian_prod(extent_coordinates(64), extent_coordinates(96))


def compare(model, rendered: torch.Tensor, atol: float) -> None:
    with torch.no_grad():
        found = model.decode(model.encode(made.images(1, 64, 96)), 64, 96)
    assert rendered.std() > 1e-3
    torch.testing.assert_close(found, rendered.T.reshape(1, 3, 64, 96), rtol=0, atol=atol)


def enlarge(features: torch.Tensor) -> torch.Tensor:
    """Features (Q, C) that reach the pixels of a 64 x 96 image, interpolated."""
    enlarged = F.interpolate(features, scale_factor=32, mode="bilinear", align_corners=False)
    return enlarged[0].flatten(1).T


@torch.no_grad()
def test_liif_blends_four_corners(settings, queries):
    """Each by the area of its own cell, with coordinates in those of the image."""
    model = noisy("liif", settings)
    features = model.encode(made.images(1, 64, 96))
    cell = torch.tensor([2 / 64, 2 / 96], dtype=torch.float64)
    outputs, areas = [], []
    for vy in (-1.0, 1.0):
        for vx in (-1.0, 1.0):
            shift = torch.tensor([vy, vx], dtype=torch.float64)
            near, rel = relative_input(features, queries, shift)
            x = torch.cat((near, rel, cell.expand_as(rel)), dim=1)
            outputs.append(dense(model.decoder.layers, x, relu))
            areas.append((rel[:, 0] * rel[:, 1]).abs() + 1e-9)
    blended = sum(o * w[:, None] for o, w in zip(outputs, areas, strict=True))
    compare(model, blended / sum(areas)[:, None], 1e-6)


@torch.no_grad()
def test_lte_reads_scaled_waves_of_learned_frequencies(settings, queries):
    model = noisy("lte", settings)
    decoder = model.decoder
    near = enlarge(model.encode(made.images(1, 64, 96)))
    amplitude = near @ decoder.amplitude.weight.T + decoder.amplitude.bias
    frequency = near @ decoder.frequency.weight.T + decoder.frequency.bias
    angle = frequency[:, 0::2] * queries[:, :1] + frequency[:, 1::2] * queries[:, 1:]
    cell = torch.full((len(queries), 2), 2 / 32, dtype=torch.float64)
    angle = angle + cell @ decoder.phase.weight.T
    cosines = amplitude[:, :128] * torch.cos(math.pi * angle)
    sines = amplitude[:, 128:] * torch.sin(math.pi * angle)
    x = torch.cat((cosines, sines, near), dim=1)
    assert len(decoder.layers) == 3
    compare(model, dense(decoder.layers, x, relu), 1e-10)


@torch.no_grad()
def test_wire_is_a_real_gabor_network(settings, queries):
    model = noisy("wire", settings)
    decoder = model.decoder
    near = enlarge(model.encode(made.images(1, 64, 96)))
    decoder.frequency[1].mul_(0.5)
    decoder.gabor_scale[2].mul_(2.0)

    def gabor(v, number):
        w, g = decoder.frequency[number], decoder.gabor_scale[number]
        return torch.sin(w * v) * torch.exp(-((g * v) ** 2))

    compare(model, dense(decoder.layers, torch.cat((near, queries), dim=1), gabor), 1e-10)


def test_wire_starts_from_the_frequency_and_the_spread_of_the_paper(settings):
    usual = made.model("wire", settings).state_dict()
    start = [value for name, value in usual.items() if name.startswith(("decoder.f", "decoder.g"))]
    assert torch.equal(torch.stack(start), torch.full((6, 256), 10.0))


@torch.no_grad()
def test_global_mlp_sees_the_pooled_code_and_fourier_features(settings):
    model = noisy("global_fourier_mlp", settings)
    decoder = model.decoder
    code = model.encode(made.images(1, 64, 96)).mean((2, 3))
    y = torch.linspace(-1, 1, 64, dtype=torch.float64)
    x = torch.linspace(-1, 1, 96, dtype=torch.float64)
    u = torch.cartesian_prod(y, x)
    projected = 2 * math.pi * u @ decoder.frequencies.T
    inputs = torch.cat((projected.cos(), projected.sin(), code.expand(len(u), -1)), dim=1)
    compare(model, dense(decoder.layers, inputs, lambda v, _: v * torch.sigmoid(v)), 1e-9)


@torch.no_grad()
def test_encoder_stages_are_as_described(settings):
    """Recompute the encoder layer by layer from its weights, in order."""
    encoder = noisy("gblsr_scalar", settings).encoder
    values = list(encoder.parameters())
    x = made.images(1, 64, 96)
    features = x
    for stage in range(6):
        weight, bias, gamma, beta = values[4 * stage : 4 * stage + 4]
        features = F.conv2d(features, weight, bias, stride=2 if stage else 1, padding=1)
        groups = features.reshape(1, 8, -1)
        mean, var = groups.mean(-1, keepdim=True), groups.var(-1, keepdim=True, correction=0)
        normal = ((groups - mean) / torch.sqrt(var + 1e-5)).reshape(features.shape)
        features = normal * gamma[:, None, None] + beta[:, None, None]
        features = features * torch.sigmoid(features)
    features = F.conv2d(features, values[24], values[25], padding=1)
    assert len(values) == 26
    assert features.shape == (1, 128, 2, 3)
    torch.testing.assert_close(encoder(x), features, rtol=1e-9, atol=1e-9)
