"""Which images and pixels a step sees (the order itself: protocol/test_training_draws.py)."""

import torch

from gblsr_repro.training.sampler import EpochSampler, pixels_of_step


def test_a_step_gives_the_same_images_in_any_order_of_asking():
    state = torch.Generator().manual_seed(7).get_state()
    forward = [s.tolist() for s in map(EpochSampler(10, 4, state).indices, range(12))]
    sampler = EpochSampler(10, 4, state)
    for step in (11, 3, 0, 7, 2, 11):
        assert sampler.indices(step).tolist() == forward[step]


def test_pixels_are_distinct_and_follow_from_seed_and_step():
    before = torch.get_rng_state()
    drawn = pixels_of_step(64, 3, 40, 1, 9)
    assert torch.equal(torch.get_rng_state(), before)
    assert drawn.shape == (3, 40)
    for row in drawn:
        assert len(set(row.tolist())) == 40
        assert set(row.tolist()) <= set(range(64))
    assert torch.equal(drawn, pixels_of_step(64, 3, 40, 1, 9))
    assert not torch.equal(drawn[0], drawn[1])
    for other in ((2, 9), (1, 10)):
        assert not torch.equal(drawn, pixels_of_step(64, 3, 40, *other))
