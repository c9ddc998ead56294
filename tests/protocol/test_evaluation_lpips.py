"""LPIPS: the published example, the package's own network, and where a backbone is found."""

import socket
from pathlib import Path

import lpips as package
import made
import numpy as np
import pytest
import torch
from PIL import Image

from gblsr_repro import config as configuration
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation import metrics, perceptual


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.delenv(perceptual.BACKBONE_VARIABLE, raising=False)


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return made.backbone(tmp_path_factory.mktemp("backbone") / "alexnet.pth")


@pytest.fixture(scope="module")
def images():
    return torch.rand(3, 3, 64, 64, generator=torch.Generator().manual_seed(1))


def test_published_example_pair(shared):
    measure = perceptual.PerceptualDistance(shared / "weights" / "alexnet_features.pth")

    def image(name):
        pixels = np.asarray(Image.open(shared / "weights" / "lpips_example" / name).convert("RGB"))
        return torch.from_numpy(pixels.copy()).permute(2, 0, 1).float() / 255

    reference, first, second = map(image, ("ex_ref.png", "ex_p0.png", "ex_p1.png"))
    found = measure.measure_lpips(torch.stack([first, second]), torch.stack([reference, reference]))
    assert found.numpy().round(3).tolist() == [0.722, 0.138]


@pytest.mark.filterwarnings("ignore::UserWarning:torchvision")
def test_network_is_the_packages_own_with_our_backbone(backbone, images):
    theirs = package.LPIPS(net="alex", version="0.1", pnet_rand=True, verbose=False).eval()
    state = torch.load(backbone, weights_only=True)
    with torch.no_grad():
        for number, layer in enumerate(made.ALEXNET):
            module = getattr(theirs.net, f"slice{number + 1}").get_submodule(str(layer))
            module.weight.copy_(state[f"features.{layer}.weight"])
            module.bias.copy_(state[f"features.{layer}.bias"])
        expected = theirs(2 * images - 1, 2 * images.flip(0) - 1).flatten()
    measure = perceptual.PerceptualDistance(backbone)
    found = measure.measure_lpips(images, images.flip(0))
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-6)
    assert found.dtype == torch.float64
    for i in range(5):
        mine, original = (getattr(n, f"lin{i}").model[1].weight for n in (measure.network, theirs))
        assert torch.equal(mine, original)


def test_edge_distance_sees_only_the_mask(backbone, images):
    measure = perceptual.PerceptualDistance(backbone)
    settings = metrics.MetricSettings.from_config(configuration.load())
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


@pytest.mark.parametrize("content", ["text", "list", "lacking", "misshapen"])
def test_file_that_is_no_backbone_is_one_sentence(tmp_path, backbone, content):
    path = tmp_path / "backbone.pth"
    state = torch.load(backbone, weights_only=True)
    if content == "text":
        path.write_text("not weights")
    elif content == "list":
        torch.save([1, 2], path)
    elif content == "lacking":
        torch.save({k: v for k, v in state.items() if k != "features.10.bias"}, path)
    else:
        torch.save(state | {"features.3.weight": torch.zeros(192, 64, 3, 3)}, path)
    with pytest.raises(UserError, match="does not hold the weights of torchvision's AlexNet; get"):
        perceptual.PerceptualDistance(path)


# --- where the backbone is found ----------------------------------------------------------------


@pytest.fixture
def config(tmp_path):
    return configuration.load() | {"resources": str(tmp_path), "mirror": None}


def test_config_goes_before_environment_before_download(config, tmp_path, monkeypatch):
    named, told = (str(tmp_path / name) for name in ("named.pth", "environment.pth"))
    download = tmp_path / "weights" / "alexnet-owt-7be5be79.pth"
    download.parent.mkdir()
    for path in (named, told, download):
        Path(path).touch()
    assert perceptual.find_backbone(config) == (download, None)
    mirrored = config | {"mirror": str(tmp_path), "resources": "elsewhere"}
    assert perceptual.find_backbone(mirrored) == (download, None)
    monkeypatch.setenv(perceptual.BACKBONE_VARIABLE, told)
    assert perceptual.find_backbone(config) == (Path(told), None)
    assert perceptual.find_backbone(config | {"lpips_backbone": named}) == (Path(named), None)
    for path in (named, told):  # a named file that does not exist is a mistake
        Path(path).unlink()
    lenient = config | {"require_lpips": False}
    with pytest.raises(UserError, match=r"lpips_backbone in the config names .*named\.pth, which"):
        perceptual.find_backbone(lenient | {"lpips_backbone": named})
    with pytest.raises(UserError, match="environment variable GBLSR_LPIPS_BACKBONE names"):
        perceptual.find_backbone(lenient)


FETCH = "run `gblsr-repro fetch alexnet`, name its file in"


@pytest.mark.parametrize(
    ("package", "sentence", "reason"),
    [
        (True, FETCH, "the AlexNet backbone is not at"),
        (
            False,
            "the package lpips is not installed; install it, or",
            "the package lpips is not inst",
        ),
    ],
)
def test_without_trunk_or_package_the_config_decides(
    config, monkeypatch, package, sentence, reason
):
    if not package:
        monkeypatch.setattr(perceptual, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=sentence):
        perceptual.find_backbone(config)
    path, said = perceptual.find_backbone(config | {"require_lpips": False})
    assert path is None
    assert said.startswith(reason)
