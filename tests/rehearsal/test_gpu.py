"""The same on a real GPU: numbers, kernels, and no wait within a step."""

import made
import pytest
import rehearse
import torch

from gblsr_repro import config as configuration

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU"),
]

CONFIG = configuration.merge(
    configuration.load(),
    {
        "native": {"training": {"precision": "strict"}},
        "asr": {"model": {"rdn_blocks": 3, "swinir_depths": [2]}},  # of 16 and six times 6
    },
)
SCALES = (2, 3, 3.3, 4)


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
        for image, wanted in zip(images, expected, strict=True):
            close(model(image), wanted)


@pytest.mark.parametrize("name", CONFIG["asr"]["methods"])
@pytest.mark.parametrize("scale", SCALES)
def test_a_methods_ways_agree(name, scale):
    model = made.model(name, CONFIG).cuda().eval()
    low = torch.rand(1, 3, 24, 31, device="cuda")
    size = round(24 * scale), round(31 * scale)
    with torch.no_grad():
        close(*(model.render(low, *size, 1 << 20, path) for path in (None, "plain")))


@pytest.mark.parametrize("name", [*CONFIG["native"]["arms"], *CONFIG["asr"]["methods"]])
def test_no_step_waits_for_the_device(config, arrays, tmp_path, name):
    """The trainer's own second step as it runs by default; torch raises at whatever waits."""
    with rehearse.second_step_must_not_wait():
        rehearse.train(name, config, arrays, tmp_path / "run")
