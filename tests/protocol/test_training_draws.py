"""The draws of a run, held against the rule of the authors' trainer written with torch alone.

Seed torch's generator; make the encoder, then the decoder; read the validation images once through
a loader; train from a shuffling loader that keeps its workers.
"""

from functools import cache

import made
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from gblsr_repro import config
from gblsr_repro.training.sampler import EpochSampler, draw_pixels

IMAGES, BATCH = 2412, 8
CONTROL = "global_fourier_mlp"
FAMILY = [arm for arm, row in config.read_arms().items() if arm.startswith("gblsr")]


@pytest.fixture(scope="module")
def settings():
    return config.load()


def encoder_layers() -> nn.Sequential:
    layers = []
    for inputs in (3, 128, 128, 128, 128, 128):
        layers += [nn.Conv2d(inputs, 128, 3, padding=1), nn.GroupNorm(8, 128)]
    return nn.Sequential(*layers, nn.Conv2d(128, 128, 3, padding=1))


def spectral_layers() -> list[torch.Tensor]:
    coefficients = nn.Linear(128, 768)
    nn.Linear(128, 2)
    nn.init.normal_(coefficients.weight, std=0.01)
    return [coefficients.weight, *map(torch.zeros, (768, (2, 128), 2))]


def control_layers() -> list[torch.Tensor]:
    torch.manual_seed(0)
    frequencies = torch.randn(128, 2) * 8
    layers = [nn.Linear(a, b) for a, b in ((384, 256), (256, 256), (256, 256), (256, 3))]
    return [frequencies, *(p for layer in layers for p in layer.parameters())]


def loaded_batches(epochs: int) -> list[list[int]]:
    next(iter(DataLoader(range(10), batch_size=BATCH)))
    loader = DataLoader(
        range(IMAGES), BATCH, shuffle=True, drop_last=True, num_workers=1, persistent_workers=True
    )
    return [batch.tolist() for _ in range(epochs) for batch in loader]


@cache
def follow_rule(seed: int, control: bool) -> tuple[list[torch.Tensor], list[torch.Tensor], list]:
    """The weights of the encoder and the decoder, and the batches of two epochs."""
    torch.manual_seed(seed)
    encoder = encoder_layers()
    decoder = control_layers() if control else spectral_layers()
    return [*encoder.parameters()], decoder, loaded_batches(2)


def own_batches(steps: int) -> list[list[int]]:
    sampler = EpochSampler(IMAGES, BATCH, torch.get_rng_state())
    return [sampler.select_items(step).tolist() for step in range(steps)]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("arm", [*FAMILY, CONTROL])
def test_weights_and_batches_are_those_of_the_rule(settings, arm, seed):
    """So the family shares those of a seed, and the control has the same for every seed."""
    model = made.model(arm, settings, seed)
    found = own_batches(2 * (IMAGES // BATCH))
    encoder, decoder, batches = follow_rule(seed, arm == CONTROL)
    assert found == batches
    if arm == CONTROL:
        drawn = [model.decoder.frequencies, *model.decoder.layers.parameters()]
    else:
        drawn = [*model.decoder.coefficients.parameters(), *model.decoder.head.parameters()]
    for mine, oracle in zip([*model.encoder.parameters(), *drawn], encoder + decoder, strict=True):
        assert torch.equal(mine, oracle)


def test_a_step_gives_the_same_images_in_any_order_of_asking():
    state = torch.Generator().manual_seed(7).get_state()
    forward = [s.tolist() for s in map(EpochSampler(10, 4, state).select_items, range(12))]
    sampler = EpochSampler(10, 4, state)
    for step in (11, 3, 0, 7, 2, 11):
        assert sampler.select_items(step).tolist() == forward[step]


def test_pixels_are_distinct_and_follow_from_seed_and_step():
    before = torch.get_rng_state()
    drawn = draw_pixels(64, 3, 40, 1, 9)
    assert torch.equal(torch.get_rng_state(), before)
    assert drawn.shape == (3, 40)
    for row in drawn:
        assert len(set(row.tolist())) == 40
        assert set(row.tolist()) <= set(range(64))
    assert torch.equal(drawn, draw_pixels(64, 3, 40, 1, 9))
    assert not torch.equal(drawn[0], drawn[1])
    for other in ((2, 9), (1, 10)):
        assert not torch.equal(drawn, draw_pixels(64, 3, 40, *other))
