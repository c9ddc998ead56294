"""LIIF's own release of EDSR-baseline-LIIF on Set5: the anchor of the super-resolution scores.

LIIF's code scores what its network makes of the published low-resolution files: clamped, not
rounded, as the luma of the difference of the colors, with weights in 256ths.
"""

from statistics import fmean

import numpy as np
import pytest
import torch
from PIL import Image

from gblsr_repro.config import load
from gblsr_repro.data.sources import list_source_images
from gblsr_repro.evaluation import asr
from gblsr_repro.models.asr.model import ASRModel
from gblsr_repro.released.importing import import_run
from gblsr_repro.runs import load_run

# PSNR-Y in dB that LIIF's own code gives this file.
LIIF = {2: 37.9919, 3: 34.4039}
LUMA = np.array([65.738, 129.057, 25.064]) / 256


@pytest.fixture(scope="module")
def upsample(shared, tmp_path_factory):
    """What enlarges an image by the released network."""
    run = tmp_path_factory.mktemp("released") / "run"
    import_run(str(shared / "weights/released/edsr-baseline-liif.pth"), None, 0, run, load())
    return asr.build_upsampler(load_run(run, ASRModel), load())


@pytest.mark.slow
@pytest.mark.parametrize("scale", LIIF)
@torch.inference_mode()
def test_set5_scores_what_liifs_own_code_gives(scale, upsample, shared, mirrored, tmp_path):
    images = iter(list_source_images("set5", mirrored, scale))
    theirs = []

    def compared(low, height, width):
        image = next(images)
        file = image.file.with_name(image.file.name.replace("HR", "LR"))
        np.testing.assert_array_equal(low, np.asarray(Image.open(file)))
        shown = upsample(low, height, width)
        high = np.asarray(Image.open(image.file))[:height, :width]
        colors = shown.clamp(0, 1).permute(1, 2, 0).double().numpy() - high / 255
        error = (colors @ LUMA)[scale:-scale, scale:-scale]
        theirs.append(-10 * np.log10(np.mean(error**2)))
        return shown

    rows = asr.score_set(compared, "set5", scale, mirrored, tmp_path, {})
    assert len(rows) == len(theirs) == 5
    assert fmean(theirs) == pytest.approx(LIIF[scale], abs=6e-5)
    assert fmean(row["psnr_y"] for row in rows) == pytest.approx(fmean(theirs), abs=1e-5)
