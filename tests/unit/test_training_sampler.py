"""The order of training images: epochs, batches, reproducibility."""

import pytest
import torch

from gblsr_repro.errors import UserError
from gblsr_repro.training.sampler import EpochSampler


def test_an_epoch_shows_every_image_once_and_drops_the_rest():
    sampler = EpochSampler(11, 3, seed=0)
    assert sampler.per_epoch == 3
    first, second = (
        torch.cat([sampler.indices(step) for step in steps]) for steps in (range(3), range(3, 6))
    )
    for epoch in (first, second):
        assert len(set(epoch.tolist())) == 9
        assert set(epoch.tolist()) <= set(range(11))
    assert not torch.equal(first, second)


def test_a_step_gives_the_same_images_in_any_order_of_asking():
    forward = [s.tolist() for s in map(EpochSampler(10, 4, 7).indices, range(12))]
    sampler = EpochSampler(10, 4, 7)
    asked = {step: sampler.indices(step).tolist() for step in (11, 3, 0, 7, 2, 11)}
    assert all(forward[step] == indices for step, indices in asked.items())


def test_seeds_differ_and_the_global_state_plays_no_part():
    torch.manual_seed(1)
    first = EpochSampler(100, 10, 0).indices(5)
    torch.manual_seed(2)
    assert torch.equal(EpochSampler(100, 10, 0).indices(5), first)
    assert not torch.equal(EpochSampler(100, 10, 1).indices(5), first)


def test_fewer_images_than_a_batch_is_one_sentence():
    EpochSampler(8, 8, 0)
    with pytest.raises(UserError, match="holds 7 images, fewer than one batch of 8"):
        EpochSampler(7, 8, 0)
