"""The same on a real GPU: numbers, kernels, real capture rules, and no wait within a step."""

from functools import partial

import made
import pytest
import rehearse
import torch

from gblsr_repro import config as configuration
from gblsr_repro.evaluation import latency
from gblsr_repro.training import asr as asr_training
from gblsr_repro.training import native as native_training

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU"),
]

CONFIG = configuration.merge(rehearse.config(), {"native": {"training": {"precision": "strict"}}})


def close(one, other):
    """Equal to rounding, relative to the amplitude."""
    assert (one - other).abs().max() <= 2e-4 * other.abs().max()


@pytest.fixture(autouse=True)
def _strict():
    torch.backends.cudnn.allow_tf32 = False
    yield
    torch.backends.cudnn.allow_tf32 = True


@pytest.mark.parametrize("name", CONFIG["native"]["arms"])
@pytest.mark.parametrize("size", [(256, 256), (250, 301)])
def test_an_arms_ways_agree(name, size):
    model = made.model(name, CONFIG).cuda().eval()
    images = torch.rand(2, 1, 3, *size, device="cuda")
    with torch.no_grad():
        expected = [model(image, path="plain") for image in images]
        replay = latency.Replay(model, images[0])
        for image, wanted in zip(images, expected, strict=True):
            close(model(image), wanted)
            close(replay(image), wanted)


@pytest.mark.parametrize("name", CONFIG["asr"]["methods"])
@pytest.mark.parametrize("scale", rehearse.SCALES)
def test_a_methods_ways_agree(name, scale):
    model = made.model(name, CONFIG).cuda().eval()
    low = torch.rand(1, 3, 24, 31, device="cuda")
    size = round(24 * scale), round(31 * scale)
    with torch.no_grad():
        close(*(model.render(low, *size, 1 << 20, path) for path in (None, "plain")))


@pytest.mark.parametrize("name", rehearse.subjects())
def test_no_step_waits_for_the_device(name):
    """The trainer's own second step as it runs by default; torch raises at whatever waits."""
    arm, method = configuration.arms().get(name), configuration.methods().get(name)
    train_run = native_training.train_run if arm else asr_training.train_run
    try:
        rehearse.steps(
            partial(train_run, rehearse.config(), arm or method, 0),
            lambda: torch.cuda.set_sync_debug_mode("error"),
        )
    finally:
        torch.cuda.set_sync_debug_mode("default")
