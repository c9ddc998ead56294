"""The encoders' own business: the in-place way of RDN, padding and stochastic depth of SwinIR."""

import pytest
import torch
from torch import nn

from gblsr_repro.models.asr.rdn import RDN
from gblsr_repro.models.asr.swinir import DropPath, SwinIR, join, pad_to_window, windows


def swinir(drop_path: float = 0.0) -> SwinIR:
    torch.manual_seed(0)
    return SwinIR(8, [2, 2], heads=2, window=4, mlp_ratio=2, drop_path=drop_path)


@pytest.mark.parametrize("size", [(1, 5), (7, 6)])
def test_rdn_gives_the_same_features_with_and_without_gradients(size):
    torch.manual_seed(0)
    encoder = RDN(features=6, blocks=3, layers=4, growth=5).double()
    images = torch.randn(2, 3, *size, dtype=torch.float64)
    whole = encoder(images)
    assert whole.requires_grad
    with torch.no_grad():
        in_place = encoder(images)
    assert in_place.shape == (2, 6, *size)
    torch.testing.assert_close(in_place, whole.detach(), rtol=1e-12, atol=1e-14)


def test_every_rdn_parameter_gets_a_gradient():
    encoder = RDN(features=6, blocks=2, layers=3, growth=5)
    encoder(torch.randn(1, 3, 8, 8)).square().sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in encoder.parameters())


def test_padding_continues_the_image_by_its_mirror_image():
    image = torch.arange(1.0, 4.0).view(1, 1, 3, 1)
    padded = pad_to_window(image, 8)
    assert padded.shape == (1, 1, 8, 8)
    assert padded[0, 0, :, 0].tolist() == [1, 2, 3, 3, 2, 1, 1, 2]
    whole = torch.rand(1, 3, 8, 16)
    assert torch.equal(pad_to_window(whole, 8), whole)


def test_windows_and_join_undo_each_other():
    x = torch.arange(2 * 8 * 4 * 3.0).view(2, 8, 4, 3)
    cut = windows(x, 4)
    assert cut.shape == (4, 16, 3)
    assert torch.equal(cut[1], x[0, 4:, :4].reshape(16, 3))
    assert torch.equal(join(cut, 4, 8, 4), x)


@pytest.mark.parametrize("size", [(1, 1), (3, 9), (8, 4)])
def test_swinir_keeps_any_size(size):
    features = swinir().eval()(torch.randn(2, 3, *size))
    assert features.shape == (2, 8, *size)


def test_swinir_features_of_a_padded_image_are_those_of_the_image_padded_by_hand():
    encoder = swinir().double().eval()
    images = torch.randn(1, 3, 6, 7, dtype=torch.float64)
    by_hand = torch.cat((images, images.flip(2)), 2)[:, :, :8]
    by_hand = torch.cat((by_hand, by_hand.flip(3)), 3)[..., :8]
    torch.testing.assert_close(encoder(images), encoder(by_hand)[..., :6, :7])


def test_every_swinir_parameter_gets_a_gradient():
    encoder = swinir()
    encoder(torch.randn(1, 3, 8, 8)).square().sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in encoder.parameters())


def test_swinir_linear_layers_start_narrow_and_unbiased():
    layers = [m for m in swinir().modules() if isinstance(m, nn.Linear)]
    assert torch.cat([m.weight.flatten() for m in layers]).std().item() == pytest.approx(0.02, 0.1)
    assert not any(m.bias.any() for m in layers)


def test_stochastic_depth_grows_evenly_and_only_acts_in_training():
    encoder = swinir(drop_path=0.3)
    rates = [layer.drop.rate for group in encoder.groups for layer in group.layers]
    assert rates == pytest.approx([0.0, 0.1, 0.2, 0.3])
    images = torch.randn(1, 3, 8, 8)
    encoder.eval()
    assert torch.equal(encoder(images), encoder(images))


def test_stochastic_depth_drops_whole_samples_and_keeps_the_mean():
    torch.manual_seed(0)
    dropped = DropPath(0.25).train()(torch.ones(4000, 2, 3))
    assert ((dropped == 0).all((1, 2)) | (dropped == 1 / 0.75).all((1, 2))).all()
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.05)
