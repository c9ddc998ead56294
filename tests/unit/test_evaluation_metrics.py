"""Metrics at their limits: equal images, absent regions, sizes that do not divide."""

import math

import pytest
import torch

from gblsr_repro import config
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation import metrics, regions


@pytest.fixture(scope="module")
def settings():
    return metrics.Settings.of(config.load())


def test_equal_images_score_the_maximum(settings):
    images = torch.rand(2, 3, 64, 32, generator=torch.Generator().manual_seed(0))
    assert metrics.psnr(images, images, settings).tolist() == pytest.approx([80.0, 80.0])
    assert metrics.ssim(images, images, settings).tolist() == pytest.approx([1.0, 1.0], abs=1e-5)
    assert metrics.patch_ssim(images, images, settings).shape == (2, 2, 1)
    assert metrics.lse(images, images, settings).tolist() == [0.0, 0.0]


def test_flat_image_has_finite_metrics(settings):
    flat = torch.zeros(1, 3, 32, 32)
    for metric in (metrics.psnr, metrics.ssim, metrics.lse):
        assert math.isfinite(metric(flat, 1 - flat, settings).item())
    assert metrics.edge_mask(flat, settings).all()
    assert regions.high_frequency_share(flat, settings).item() == 0.0


def test_absent_region_is_none_and_the_others_are_means():
    values = torch.tensor([[[1.0, 2.0, 6.0]], [[4.0, 5.0, 9.0]]])
    labels = torch.tensor([[[1, 1, 3]], [[0, 0, 0]]])
    assert metrics.region_means(values, labels) == [
        {"smooth": None, "edge": 1.5, "texture": None, "mixed": 6.0},
        {"smooth": 6.0, "edge": None, "texture": None, "mixed": None},
    ]


def test_size_that_patches_do_not_divide_is_one_sentence(settings):
    with pytest.raises(UserError, match="100x64 pixels do not divide into patches of 32; set"):
        metrics.lse(torch.rand(1, 3, 100, 64), torch.rand(1, 3, 100, 64), settings)


def test_thresholds_are_read_from_no_other_file(tmp_path):
    (tmp_path / "other.json").write_text('{"hf_q1": 1}')
    with pytest.raises(UserError, match="does not hold region thresholds; delete it"):
        regions.Thresholds.read(tmp_path / "other.json")


def test_seams_tell_a_jump_at_borders_from_one_at_centers(settings):
    """A ramp with steps of 1, and 5 where the patch of 32 ends: (5, 1); nothing else: none."""
    steps = torch.ones(2, 95)
    steps[0, 31::32] = 5.0
    steps[1, 15::32] = 3.0
    ramp = torch.cat((torch.zeros(2, 1), steps.cumsum(1)), dim=1)
    images = (ramp[:, None, :, None] + ramp[:, None, None, :]).expand(2, 3, 96, 96)
    border, center = metrics.seams(images, settings)
    assert border == pytest.approx([5.0, 1.0])
    assert center == pytest.approx([1.0, 3.0])
    assert metrics.seams(torch.zeros(1, 3, 32, 32), settings) == ([None], [None])
