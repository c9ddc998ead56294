"""Which images and pixels a step sees."""

import pytest
import torch

from gblsr_repro.errors import UserError
from gblsr_repro.training.sampler import EpochSampler, pixels_of_step


def state(seed: int) -> torch.Tensor:
    return torch.Generator().manual_seed(seed).get_state()


def test_an_epoch_shows_every_image_once_and_drops_the_rest():
    sampler = EpochSampler(11, 3, state(0))
    assert sampler.per_epoch == 3
    first, second = (
        torch.cat([sampler.indices(step) for step in steps]) for steps in (range(3), range(3, 6))
    )
    for epoch in (first, second):
        assert len(set(epoch.tolist())) == 9
        assert set(epoch.tolist()) <= set(range(11))
    assert not torch.equal(first, second)


def test_a_step_gives_the_same_images_in_any_order_of_asking():
    forward = [s.tolist() for s in map(EpochSampler(10, 4, state(7)).indices, range(12))]
    sampler = EpochSampler(10, 4, state(7))
    asked = {step: sampler.indices(step).tolist() for step in (11, 3, 0, 7, 2, 11)}
    assert all(forward[step] == indices for step, indices in asked.items())


def test_the_global_generator_is_neither_read_nor_moved():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = EpochSampler(100, 10, state(0)).indices(5)
    pixels_of_step(50, 2, 10, 0, 3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert torch.equal(EpochSampler(100, 10, state(0)).indices(5), first)
    assert not torch.equal(EpochSampler(100, 10, state(1)).indices(5), first)


def test_fewer_images_than_a_batch_is_one_sentence():
    EpochSampler(8, 8, state(0))
    with pytest.raises(UserError, match="holds 7 images, fewer than one batch of 8"):
        EpochSampler(7, 8, state(0))


def test_pixels_are_distinct_and_follow_from_seed_and_step():
    drawn = pixels_of_step(64, 3, 40, 1, 9)
    assert drawn.shape == (3, 40)
    for row in drawn:
        assert len(set(row.tolist())) == 40
        assert set(row.tolist()) <= set(range(64))
    assert torch.equal(drawn, pixels_of_step(64, 3, 40, 1, 9))
    assert not torch.equal(drawn[0], drawn[1])
    for other in ((2, 9), (1, 10)):
        assert not torch.equal(drawn, pixels_of_step(64, 3, 40, *other))
