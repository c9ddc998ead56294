"""Plain bicubic upsampling against its published PSNR-Y: the whole protocol but the models.

The published values are of the luma alone: rounded to 8 bits, reduced and enlarged in floats,
rounded again. The row of the tables is measured as models are: low-resolution colors of 8 bits go
in, what comes out is not rounded. That lies up to 0.025 dB beside them.
"""

from statistics import fmean

import numpy as np
import pytest
import torch

from gblsr_repro.data.images import convert_to_tensor
from gblsr_repro.data.resize import crop_to_scale, resize_like_matlab
from gblsr_repro.data.sources import list_source_images
from gblsr_repro.evaluation import asr
from gblsr_repro.evaluation.luma import compute_luma, compute_psnr, shave_border

PUBLISHED = {
    "set5": {2: 33.66, 3: 30.39, 4: 28.42},
    "set14": {2: 30.24, 3: 27.55, 4: 26.00},
    "b100": {2: 29.56, 3: 27.21, 4: 25.96},
}
IMAGES = {"set5": 5, "set14": 14, "b100": 100}
CELLS = [(column, scale) for column, values in PUBLISHED.items() for scale in values]


@pytest.mark.parametrize(("column", "scale"), [*CELLS[:6], ("b100", 3)])
def test_the_bicubic_row_has_nearly_the_published_values(mirrored, column, scale, tmp_path):
    rows = asr.score_set(asr.enlarge_bicubically, column, scale, mirrored, tmp_path, {})
    assert len(rows) == IMAGES[column]
    assert fmean(row["psnr_y"] for row in rows) == pytest.approx(PUBLISHED[column][scale], abs=0.03)


def luma_alone(high: np.ndarray, scale: int) -> float:
    """PSNR-Y of the luma of an image after it was reduced and enlarged."""
    exact = high if high.ndim == 2 else compute_luma(convert_to_tensor(high)).numpy()
    exact = exact.round().astype(np.float64)
    height, width = exact.shape
    small = resize_like_matlab(exact, height // scale, width // scale)
    back = resize_like_matlab(small, height, width).clip(0, 255).round()
    return compute_psnr(*(shave_border(torch.from_numpy(plane), scale) for plane in (back, exact)))


@pytest.mark.parametrize(("column", "scale"), CELLS)
def test_the_luma_alone_has_the_published_values(mirrored, column, scale):
    images = list_source_images(mirrored["asr"]["evaluate"][column], mirrored, scale)
    found = fmean(luma_alone(crop_to_scale(image.load(), scale), scale) for image in images)
    assert found == pytest.approx(PUBLISHED[column][scale], abs=0.008)
