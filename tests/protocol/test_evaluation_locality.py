"""The locality diagnostic on fields made by hand, whose statistics are known, and in numpy."""

import numpy as np
import pytest

from gblsr_repro import config
from gblsr_repro.evaluation import locality

RANGE, COLLAPSED = 1.75, 0.05
SMOOTH, EDGE, TEXTURE, MIXED = range(4)


@pytest.fixture(scope="module")
def thresholds():
    return config.load()["diagnostics"]["thresholds"]


def statistics(bandwidth, region=None):
    bandwidth = np.asarray(bandwidth)
    if region is None:  # all four regions in every image
        region = np.broadcast_to(
            np.arange(bandwidth[0].size) % 4, (len(bandwidth), bandwidth[0].size)
        )
    return locality.compute_statistics(
        bandwidth, np.asarray(region).reshape(bandwidth.shape), RANGE, COLLAPSED
    )


def two_levels(mean, relative):
    """An 8x8 image of equally many patches at mean (1 - relative) and mean (1 + relative)."""
    sign = np.where(np.indices((8, 8)).sum(axis=0) % 2, 1.0, -1.0)
    return mean * (1 + relative * sign)


@pytest.mark.parametrize("levels", [[0.25] * 3, [0.7] * 3, [0.5, 0.9, 1.3]])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_field_that_is_constant_in_each_image_fails_every_test(levels, kind, thresholds):
    levels = np.array(levels, kind)
    found = statistics(np.broadcast_to(levels[:, None, None], (3, 8, 8)))
    assert [found[t] for t in ("t1", "t2", "t3", "t4", "var_within")] == [0.0, 1.0, 0.0, 0.0, 0.0]
    across = pytest.approx(levels.astype(float).var(), rel=1e-12, abs=1e-30)
    assert found["var_across"] == across
    assert found["var_total"] == across
    met = locality.apply_tests(found, thresholds)
    assert met == {"t1": False, "t2": False, "t3": False, "t4": False}
    assert locality.count_tests_met(met) == 0


def test_collapsed_images_span_strictly_less_than_the_fraction_of_the_allowed_range():
    # 1/16 of a range of 2 is 0.125, exact in binary.
    def images(*spans):
        field = np.full((len(spans), 8, 8), 0.5)
        field[:, 3, 4] += spans
        return field

    def collapsed(field):
        region = np.zeros(field.shape, dtype=int)
        return locality.compute_statistics(field, region, 2.0, 0.0625)["t2"]

    assert collapsed(images(0.125, 0.1249, 0.0, 0.2)) == 0.5
    assert collapsed(images(0.125, 0.125)) == 0.0


def test_the_papers_numbers_are_of_these_definitions():
    # Full-Linear: global std 0.0121, variance within images 1.07e-4, 0.73 of the total.
    within, share = 1.07e-4, 0.73
    across = within / share - within
    field = np.stack(
        [two_levels(m, within**0.5 / m) for m in (0.7345 - across**0.5, 0.7345 + across**0.5)]
    )
    found = statistics(field)
    assert found["t4"] == pytest.approx(share, rel=1e-9)
    assert found["global_std"] == pytest.approx(0.0121, abs=0.00005)
    assert found["global_mean"] == pytest.approx(0.7345, rel=1e-12)


def test_random_field_against_numpy():
    random = np.random.default_rng(5)
    field = random.uniform(0.25, 2.0, (7, 8, 8)).astype(np.float32)
    field[:3] = 0.7 + 0.01 * field[:3]
    region = random.integers(0, 4, field.shape)
    found = statistics(field, region)
    x = field.astype(np.float64)
    each = [image.std() / image.mean() for image in x]
    rounded = [round(value, 3) for value in each]
    expected = {
        "global_mean": x.mean(),
        "global_std": x.std(),
        "mean_smooth": x[region == SMOOTH].mean(),
        "mean_edge": x[region == EDGE].mean(),
        "mean_texture": x[region == TEXTURE].mean(),
        "mean_mixed": x[region == MIXED].mean(),
        "gap": abs(x[region == TEXTURE].mean() - x[region == SMOOTH].mean()),
        "var_within": np.mean([image.var() for image in x]),
        "var_across": np.var([image.mean() for image in x]),
        "var_total": x.var(),
        "t1": sorted(each)[3],
        "t1_peak": max(sorted(rounded), key=rounded.count),
        "t1_p99": sorted(each)[5] + 0.94 * (sorted(each)[6] - sorted(each)[5]),
        "t2": 3 / 7,
        "t3": abs(x[region == TEXTURE].mean() - x[region == SMOOTH].mean()) / x.mean(),
        "t4": np.mean([image.var() for image in x]) / x.var(),
    }
    assert found == {key: pytest.approx(value, rel=1e-11) for key, value in expected.items()}
    assert found["var_within"] + found["var_across"] == pytest.approx(found["var_total"], rel=1e-13)


@pytest.mark.parametrize("absent", [SMOOTH, TEXTURE])
def test_absent_region_leaves_the_gap_unmeasured_and_nothing_is_nan(absent, thresholds):
    field = np.random.default_rng(0).uniform(0.25, 2.0, (3, 8, 8))
    found = statistics(field, np.full(field.shape, TEXTURE if absent == SMOOTH else SMOOTH))
    assert found["gap"] is None
    assert found["t3"] is None
    assert all(v is None or np.isfinite(v) for v in found.values())
    met = locality.apply_tests(found, thresholds)
    assert met == {"t1": True, "t2": True, "t3": None, "t4": True}
    assert locality.count_tests_met(met) is None


def measured(**changes):
    """Statistics that meet every test by a hair, with changes."""
    return {"t1": 0.05, "t2": 0.4999, "t3": 0.05, "t4": 0.25, "var_within": 1e-3} | changes


@pytest.mark.parametrize(
    ("changes", "met"),
    [
        ({}, [True, True, True, True]),
        ({"t1": 0.0499}, [False, True, True, True]),
        ({"t2": 0.5}, [True, False, True, True]),
        ({"t3": 0.0499}, [True, True, False, True]),
        ({"t4": 0.2499}, [True, True, True, False]),
        ({"t4": 0.9, "var_within": 9.99e-4}, [True, True, True, False]),
    ],
)
def test_each_test_turns_at_its_threshold(changes, met, thresholds):
    found = locality.apply_tests(measured(**changes), thresholds)
    assert list(found.values()) == met
    assert locality.count_tests_met(found) == sum(met)


# --- criteria -----------------------------------------------------------------------------------

NO_GAIN = {"psnr_texture": 0.0, "psnr_mixed": 0.0, "lpips": 0.0, "psnr_edge": 0.0}


@pytest.mark.parametrize(
    ("changes", "b"),
    [
        ({}, False),
        ({"psnr_texture": 0.30}, True),
        ({"psnr_texture": 0.2999}, False),
        ({"psnr_mixed": 0.30}, True),
        ({"lpips": -0.015}, True),
        ({"lpips": -0.0149}, False),
        ({"lpips": 0.015}, False),
        ({"psnr_texture": 1.0, "psnr_edge": -0.20}, True),
        ({"psnr_texture": 1.0, "psnr_edge": -0.2001}, False),
        ({"lpips": None}, None),
        ({"lpips": None, "psnr_mixed": 0.3}, True),
        ({"lpips": None, "psnr_edge": -1.0}, False),
        ({"psnr_texture": 0.3, "psnr_edge": None}, None),
    ],
)
def test_criterion_b(changes, b):
    margins = config.load()["diagnostics"]["margins"]
    assert locality.meets_criterion_b(NO_GAIN | changes, margins) is b
