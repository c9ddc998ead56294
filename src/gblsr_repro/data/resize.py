"""Resize images by bicubic interpolation exactly as MATLAB's imresize or Pillow does.

Both use the cubic kernel with a = -0.5, widened by the reduction factor (antialiased), and both
round to 8 bits after each of the two passes. They differ in the order of the passes, the border
and the arithmetic:

* MATLAB: rows first, weights in double precision, positions outside clamped to the border;
* Pillow: columns first, weights in 22-bit fixed point, positions outside left out.

The published low-resolution files of the super-resolution sets are MATLAB's (protocol, section 5).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from scipy import sparse

PILLOW_BITS = 22
"""Fractional bits of Pillow's fixed-point weights for 8-bit images."""


def evaluate_cubic(distance: np.ndarray) -> np.ndarray:
    """Evaluate Keys' cubic convolution kernel (a = -0.5); it is zero beyond a distance of 2."""
    x = np.abs(distance)
    inner = (1.5 * x - 2.5) * x * x + 1
    outer = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x <= 1, inner, np.where(x < 2, outer, 0.0))


@lru_cache(maxsize=256)
def compute_matlab_weights(size: int, target: int) -> sparse.csr_array:
    """Compute MATLAB's weights from `size` to `target` samples: (target, size), rows sum to 1."""
    from scipy import sparse  # here, since trainings use the other weights and do without it

    ratio = size / target
    stretch = max(ratio, 1.0)
    center = (np.arange(target) + 0.5) * ratio - 0.5
    taps = int(np.ceil(4 * stretch)) + 2
    position = np.floor(center - 2 * stretch).astype(np.int64)[:, None] + np.arange(taps)
    weight = evaluate_cubic((center[:, None] - position) / stretch)
    weight /= weight.sum(axis=1, keepdims=True)
    row = np.repeat(np.arange(target), taps)
    column = position.clip(0, size - 1).ravel()
    return sparse.csr_array((weight.ravel(), (row, column)), shape=(target, size))


def resize_like_matlab(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """Resize to height x width as MATLAB's imresize does: bicubic, antialiased.

    `image` is (H, W) or (H, W, C). An 8-bit image gives an 8-bit image, rounded (half up) after
    the rows and again after the columns; any other gives float64 and is not rounded.
    """
    has_8_bits = image.dtype == np.uint8
    channels = image.shape[2:]
    lines = image.astype(np.float64).reshape(image.shape[0], -1)
    tall = compute_matlab_weights(image.shape[0], height) @ lines
    if has_8_bits:
        tall = round_to_uint8(tall)
    # The second pass works on columns: move them to the front, and back afterwards.
    sideways = tall.reshape(height, image.shape[1], -1).transpose(1, 0, 2)
    columns = np.ascontiguousarray(sideways).reshape(image.shape[1], -1)
    wide = compute_matlab_weights(image.shape[1], width) @ columns
    if has_8_bits:
        wide = round_to_uint8(wide)
    result = wide.reshape(width, height, -1).transpose(1, 0, 2)
    dtype = np.uint8 if has_8_bits else np.float64
    return np.ascontiguousarray(result, dtype=dtype).reshape(height, width, *channels)


def round_to_uint8(values: np.ndarray) -> np.ndarray:
    """Round half up and clip to 0..255; the data type is kept."""
    return np.floor(values + 0.5).clip(0, 255)


@lru_cache(maxsize=256)
def compute_pillow_weights(size: int, target: int) -> np.ndarray:
    """Compute Pillow's fixed-point weights from `size` to `target` samples as whole numbers.

    Returns (target, size) float64; divided by 2**PILLOW_BITS they are the weights. Products with
    8-bit samples and their sums stay far below 2**53, so float64 arithmetic is exact in any order.
    """
    ratio = size / target
    stretch = max(ratio, 1.0)
    weights = np.zeros((target, size))
    for line in range(target):
        center = (line + 0.5) * ratio
        first = max(int(center - 2 * stretch + 0.5), 0)
        last = min(int(center + 2 * stretch + 0.5), size)
        weight = evaluate_cubic((np.arange(first, last) - center + 0.5) / stretch)
        weight = weight / weight.sum() * 2**PILLOW_BITS
        weights[line, first:last] = np.trunc(weight + np.copysign(0.5, weight))
    return weights


def resize_like_pillow(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """Resize an 8-bit image (H, W) or (H, W, 3) with Pillow's bicubic filter."""
    resized = Image.fromarray(image).resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(resized)


RESIZERS = {"matlab": resize_like_matlab, "pil": resize_like_pillow}
"""The functions that make low-resolution images, by their names in config asr.downsampling."""


def crop_to_scale(image: np.ndarray, scale: float) -> np.ndarray:
    """Crop (H, W, ...) at the right and the bottom to multiples of `scale`.

    For a fractional scale the sides become round(scale * floor(side / scale)).
    """
    height, width = (round(compute_low_side(side, scale) * scale) for side in image.shape[:2])
    return image[:height, :width]


def compute_low_side(side: int, scale: float) -> int:
    """Compute the low-resolution length of `side` samples: floor(side / scale)."""
    return int(side / scale + 1e-9)


def downscale(image: np.ndarray, scale: float, resizer: str = "matlab") -> np.ndarray:
    """Crop an 8-bit `image` as `crop_to_scale` does and downscale it by one of `RESIZERS`.

    The sides become floor(side / scale), of the image before it is cropped: of the cropped one this
    can be one less where the scale is no whole number.
    """
    height, width = (compute_low_side(side, scale) for side in image.shape[:2])
    return RESIZERS[resizer](crop_to_scale(image, scale), height, width)
