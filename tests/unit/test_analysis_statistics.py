"""A number stands in bold where no other of its column is told apart from it."""

import math

import pytest

from gblsr_repro.analysis.metrics import PSNR
from gblsr_repro.analysis.statistics import Summary, mark_bold

NAN = math.nan


@pytest.mark.parametrize(
    ("cells", "strong"),
    [
        # Without a spread only what prints alike ties.
        ([(20.0004, NAN, 1), (20.0001, NAN, 1), (19.9, NAN, 1), ()], [1, 1, 0, 0]),
        ([(20.0, NAN, 1), (19.99, 5.0, 3)], [1, 0]),
        ([(2.0, 0.0, 3), (2.0, 0.0, 3), (1.0, 0.0, 3)], [1, 1, 0]),  # identical seeds
        ([(), (2.0, 0.1, 3)], [0, 0]),  # the best of one
    ],
)
def test_bold(cells, strong):
    column = [Summary(*cell) for cell in cells]
    assert mark_bold(column, PSNR, 0.05) == list(map(bool, strong))
