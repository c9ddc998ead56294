"""LPIPS: AlexNet's convolutions as they are published, the published example, the edges."""

import lpips as package
import numpy as np
import pytest
import torch
from PIL import Image

from gblsr_repro import config as configuration
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation import metrics, perceptual


@pytest.fixture(scope="module")
def measure():
    return perceptual.PerceptualDistance()


@pytest.fixture(scope="module")
def images():
    return torch.rand(3, 3, 64, 64, generator=torch.Generator().manual_seed(1))


def test_trunk_is_alexnets_to_the_bit(shared):
    path = shared / "weights" / "alexnet_features.pth"
    published = torch.load(path, weights_only=True)
    trunk = perceptual.read_trunk()
    assert trunk.keys() == published.keys()
    for name, tensor in published.items():
        assert trunk[name].dtype == torch.float32
        assert torch.equal(trunk[name], tensor)


def test_published_example_pair(shared, measure):
    def image(name):
        pixels = np.asarray(Image.open(shared / "weights" / "lpips_example" / name).convert("RGB"))
        return torch.from_numpy(pixels.copy()).permute(2, 0, 1).float() / 255

    reference, first, second = map(image, ("ex_ref.png", "ex_p0.png", "ex_p1.png"))
    found = measure.measure_lpips(torch.stack([first, second]), torch.stack([reference, reference]))
    assert found.numpy().round(3).tolist() == [0.722, 0.138]


@pytest.mark.filterwarnings("ignore::UserWarning:torchvision")
def test_network_is_the_packages_own_with_our_trunk(measure, images):
    theirs = package.LPIPS(net="alex", version="0.1", pnet_rand=True, verbose=False).eval()
    state = perceptual.read_trunk()
    with torch.no_grad():
        for number, layer in enumerate((0, 3, 6, 8, 10)):
            module = getattr(theirs.net, f"slice{number + 1}").get_submodule(str(layer))
            module.weight.copy_(state[f"features.{layer}.weight"])
            module.bias.copy_(state[f"features.{layer}.bias"])
        expected = theirs(2 * images - 1, 2 * images.flip(0) - 1).flatten()
    found = measure.measure_lpips(images, images.flip(0))
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-6)
    assert found.dtype == torch.float64
    for i in range(5):
        mine, original = (getattr(n, f"lin{i}").model[1].weight for n in (measure.network, theirs))
        assert torch.equal(mine, original)


def test_edge_distance_sees_only_the_mask(measure, images):
    settings = metrics.MetricConstants.from_config(configuration.load())
    mask = metrics.compute_edge_mask(images, settings)
    other = images.flip(3)
    gray = torch.full_like(images, 0.5)
    by_hand = [torch.where(mask.expand_as(x), x, gray) for x in (other, images)]
    assert torch.equal(
        measure.measure_edge_lpips(other, images, mask), measure.measure_lpips(*by_hand)
    )
    off_the_edges = torch.where(mask, images, other)
    assert measure.measure_edge_lpips(off_the_edges, images, mask).tolist() == [0.0] * 3
    assert (measure.measure_lpips(off_the_edges, images) > 0).all()


def test_damaged_trunk_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "alexnet.safetensors"
    path.write_bytes(perceptual.TRUNK.read_bytes()[:-100])
    monkeypatch.setattr(perceptual, "TRUNK", path)
    with pytest.raises(UserError, match=r"since .*alexnet\.safetensors is missing or"):
        perceptual.PerceptualDistance()
