"""Samples are drawn from the packed training images as the protocol says."""

import math

import made
import numpy as np
import pytest
import torch
from PIL import Image as Picture

from gblsr_repro.data import superres
from gblsr_repro.data.superres import PackedImages, Sampler
from gblsr_repro.errors import UserError

TRAINING = {"lr_patch": 16, "queries": 200, "scale_range": [1.0, 4.0]}


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    sizes = [(70, 90), (64, 80), (101, 67), (80, 120)]
    images = [made.noise(*size, 3, seed=i) for i, size in enumerate(sizes)]
    return PackedImages.open(made.packed(tmp_path_factory.mktemp("packed") / "train.npy", images))


def image_at(packed: PackedImages, position: int) -> np.ndarray:
    start, height, width = (
        int(values[position]) for values in (packed.offsets, packed.heights, packed.widths)
    )
    return packed.pixels[start : start + height * width].reshape(height, width, 3)


def turned_crop(pixels: np.ndarray, draw: superres.SampleSpec) -> np.ndarray:
    """What a draw says, done with slices."""
    crop = pixels[draw.top : draw.top + draw.side, draw.left : draw.left + draw.side]
    crop = crop[::-1] if draw.flip else crop
    crop = crop[:, ::-1] if draw.mirror else crop
    return np.ascontiguousarray(crop.transpose(1, 0, 2) if draw.transpose else crop)


def test_a_batch_holds_the_turned_crops_pixels_and_what_pillow_makes_of_them(packed):
    sampler = Sampler(packed, TRAINING, 8, seed=3)
    for step in range(4):
        batch = sampler.build_batch(step)
        assert batch.colors.shape == (8, 200, 3)
        for place in range(8):
            draw = sampler.draw_sample(step, place)
            crop = turned_crop(image_at(packed, draw.image), draw)
            expected = Picture.fromarray(crop).resize((16, 16), Picture.Resampling.BICUBIC)
            measured = batch.low[place].permute(1, 2, 0) * 255
            np.testing.assert_allclose(measured, np.asarray(expected), rtol=0, atol=1e-4)
            assert len(set(draw.targets.tolist())) == 200
            row, column = batch.pixels[place].T.numpy()
            np.testing.assert_array_equal(row * draw.side + column, draw.targets)
            np.testing.assert_allclose(batch.colors[place] * 255, crop[row, column], atol=1e-4)
            assert batch.sides[place] == draw.side


def test_a_sample_follows_from_seed_step_and_place_alone(packed):
    one, two = (Sampler(packed, TRAINING, 8, seed=1) for _ in range(2))
    two.build_batch(0)
    two.build_batch(17)  # other steps in between change nothing
    for a, b in zip(one.build_batch(9), two.build_batch(9), strict=True):
        assert torch.equal(a, b)
    other = Sampler(packed, TRAINING, 8, seed=2).build_batch(9)
    assert not torch.equal(one.build_batch(9).low, other.low)
    assert not torch.equal(one.build_batch(9).low, one.build_batch(10).low)


def test_draws_have_the_protocols_distribution(packed):
    sampler = Sampler(packed, TRAINING, 8, seed=0)
    draws = [sampler.draw_sample(step, place) for step in range(100) for place in range(8)]
    scales = np.array([d.scale for d in draws])
    assert 1 <= scales.min() < 1.05
    assert 3.95 < scales.max() < 4
    assert abs(scales.mean() - 2.5) < 4 * math.sqrt(9 / 12 / 800)
    assert [d.side for d in draws] == [round(16 * s) for s in scales]
    for name in ("flip", "mirror", "transpose"):
        assert abs(np.mean([getattr(d, name) for d in draws]) - 0.5) < 4 * 0.5 / math.sqrt(800)
    for epoch in range(0, 800, 4):  # four images, each once per epoch
        assert sorted(d.image for d in draws[epoch : epoch + 4]) == [0, 1, 2, 3]
    before = np.array([(d.top, d.left) for d in draws])
    sizes = np.stack([packed.heights, packed.widths], axis=1)[[d.image for d in draws]]
    after = sizes - before - [[d.side] for d in draws]
    assert [*before.min(axis=0), *after.min(axis=0)] == [0, 0, 0, 0]  # up to all four borders


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"lr_patch": 17}, "image1 is only 64 pixels on a side, but crops are up to 68"),
        ({"queries": 257}, "only 256 pixels"),
    ],
)
def test_what_cannot_be_sampled_is_a_users_error(packed, setting, sentence):
    with pytest.raises(UserError, match=sentence):
        Sampler(packed, TRAINING | setting, 8, seed=0)


def test_batches_drawn_ahead_are_those_of_their_steps(packed):
    sampler = Sampler(packed, TRAINING, 8, seed=1)
    ahead = sampler.prefetch_batches()
    for step in (3, 4, 5, 9, 0):  # as it comes, resumed later, begun anew
        for part, expected in zip(ahead(step), sampler.build_batch(step), strict=True):
            assert torch.equal(part, expected)
