"""Plain bicubic upsampling against its published PSNR-Y: the whole protocol but the models."""

from statistics import fmean

import pytest

from gblsr_repro.errors import UserError
from gblsr_repro.evaluation import asr

PUBLISHED = {
    "set5": {2: 33.66, 3: 30.39, 4: 28.42},
    "set14": {2: 30.24, 3: 27.55, 4: 26.00},
    "b100": {2: 29.56, 3: 27.21, 4: 25.96},
}
IMAGES = {"set5": 5, "set14": 14, "b100": 100}
CELLS = [
    pytest.param(column, scale, marks=pytest.mark.slow if column == "b100" else ())
    for column, values in PUBLISHED.items()
    for scale in values
]


@pytest.mark.parametrize(("column", "scale"), CELLS)
def test_the_bicubic_row_has_the_published_values(mirrored, column, scale):
    rows = asr.score_set(asr.bicubic, column, scale, mirrored)
    assert len(rows) == IMAGES[column]
    assert fmean(row[1] for row in rows) == pytest.approx(PUBLISHED[column][scale], abs=0.02)


def test_an_unknown_column_is_a_users_error(mirrored):
    with pytest.raises(UserError, match="set41"):
        asr.evaluate_bicubic(mirrored, "set41", "unwritten")
