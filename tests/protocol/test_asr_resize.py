"""The protocol's resize against the published low-resolution files and against Pillow."""

import math

import numpy as np
import pytest
from PIL import Image

from gblsr_repro.data.resize import (
    PILLOW_BITS,
    RESIZERS,
    compute_pillow_weights,
    crop_to_scale,
    downscale,
    resize_like_matlab,
    resize_like_pillow,
)


@pytest.mark.parametrize("scale", [2, 3, 4])
@pytest.mark.parametrize(("dataset", "images"), [("Set5", 5), ("Set14", 14)])
def test_published_low_resolution_files_are_reproduced_bit_for_bit(shared, dataset, images, scale):
    folder = shared / "data" / "selfexsr" / "data" / dataset / f"image_SRF_{scale}"
    files = sorted(folder.glob("*_HR.png"))
    assert len(files) == images
    for high in files:
        low = high.with_name(high.name.replace("_HR", "_LR"))
        reduced = downscale(np.asarray(Image.open(high)), scale)
        np.testing.assert_array_equal(reduced, np.asarray(Image.open(low)))


def plain_imresize(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """MATLAB's algorithm sample by sample, in Python numbers."""

    def kernel(x: float) -> float:
        x = abs(x)
        if x <= 1:
            return 1.5 * x**3 - 2.5 * x**2 + 1
        return -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2 if x <= 2 else 0.0

    def line(values: list[float], target: int) -> list[float]:
        scale = target / len(values)
        shrink = min(scale, 1.0)
        out = []
        for u in range(1, target + 1):
            center = u / scale + 0.5 * (1 - 1 / scale)  # positions count from 1
            left = int(np.floor(center - 2 / shrink))
            taps = range(left, left + int(np.ceil(4 / shrink)) + 2)
            weights = [shrink * kernel(shrink * (center - tap)) for tap in taps]
            samples = [values[min(max(tap, 1), len(values)) - 1] for tap in taps]
            total = sum(w * s for w, s in zip(weights, samples, strict=True)) / sum(weights)
            out.append(total)
        return out

    tall = np.array([line(list(column), height) for column in image.T]).T
    return np.array([line(list(row), width) for row in tall])


@pytest.mark.parametrize(("height", "width"), [(6, 7), (24, 40), (11, 30), (12, 20)])
def test_float_resize_is_matlabs_algorithm(height, width):
    image = np.random.default_rng(0).uniform(0, 255, (12, 20))
    expected = plain_imresize(image, height, width)
    np.testing.assert_allclose(
        resize_like_matlab(image, height, width), expected, rtol=0, atol=1e-10
    )


def test_bytes_are_rounded_after_each_pass():
    image = np.random.default_rng(1).choice(np.uint8([0, 255]), (16, 24))  # it overshoots
    rows = np.floor(plain_imresize(image.astype(float), 8, 24) + 0.5).clip(0, 255)
    both = np.floor(plain_imresize(rows, 8, 12) + 0.5).clip(0, 255)
    np.testing.assert_array_equal(resize_like_matlab(image, 8, 12), both)
    once = np.floor(plain_imresize(image.astype(float), 8, 12) + 0.5).clip(0, 255)
    assert (once != both).any()


@pytest.mark.parametrize("side", [48, 49, 77, 100, 133, 191, 192])
def test_pillow_weights_give_pillows_bytes(side):
    image = np.random.default_rng(side).integers(0, 256, (side, side, 3), dtype=np.uint8)
    weights = compute_pillow_weights(side, 48)

    def settle(sums):
        return np.floor(sums / 2**PILLOW_BITS + 0.5).clip(0, 255)

    wide = settle(np.einsum("xj,ijc->ixc", weights, image.astype(float)))
    both = settle(np.einsum("yi,ixc->yxc", weights, wide))
    np.testing.assert_array_equal(both, resize_like_pillow(image, 48, 48))


@pytest.mark.parametrize(
    ("side", "scale", "kept"), [(481, 2, 480), (481, 3, 480), (321, 8, 320), (100, 2.5, 100)]
)
def test_crop_to_a_multiple_of_the_scale(side, scale, kept):
    image = np.zeros((side, side + 1, 3), dtype=np.uint8)
    assert crop_to_scale(image, scale).shape[0] == kept


@pytest.mark.parametrize(
    ("scale", "resizer"), [(1.5, "matlab"), (2.4, "pil"), (3.3, "matlab"), (3, "pil")]
)
def test_any_scale_has_the_low_side_that_its_crop_comes_from(scale, resizer):
    """LIIF reduces to floor(side / s) what it cropped to round(floor(side / s) * s)."""
    for side in range(100, 160):
        image = np.random.default_rng(side).integers(0, 256, (side, 20), dtype=np.uint8)
        low = math.floor(side / scale + 1e-9)
        cropped = image[: round(low * scale), : round(math.floor(20 / scale + 1e-9) * scale)]
        found = downscale(image, scale, resizer)
        assert found.shape[0] == low
        np.testing.assert_array_equal(found, RESIZERS[resizer](cropped, *found.shape))
        assert crop_to_scale(image, scale).shape[0] == round(low * scale)
