"""The encoders' own business: RDN in buffers; padding, heads and stochastic depth of SwinIR."""

import pytest
import torch
from torch import nn

from gblsr_repro.models.asr import swinir as swinir_module
from gblsr_repro.models.asr.rdn import RDN
from gblsr_repro.models.asr.swinir import DropPath, SwinIR


def swinir(drop_path: float = 0.0) -> SwinIR:
    torch.manual_seed(0)
    sizes = {"embed": 8, "depths": [2, 2], "heads": 2, "window": 4, "mlp_ratio": 2}
    sizes |= {"drop_path": drop_path}
    return SwinIR({f"swinir_{name}": value for name, value in sizes.items()})


def rdn(**sizes: int) -> RDN:
    return RDN({f"rdn_{name}": value for name, value in sizes.items()})


@pytest.mark.parametrize(("batch", "size"), [(1, (7, 6)), (3, (1, 5)), (2, (6, 7))])
def test_rdn_in_buffers_gives_the_features_and_gradients_of_its_definition(batch, size):
    torch.manual_seed(0)
    encoder = rdn(features=6, blocks=3, layers=4, growth=5).double()
    images = torch.randn(batch, 3, *size, dtype=torch.float64, requires_grad=True)
    plain, buffered = encoder(images, path="plain"), encoder(images)
    torch.testing.assert_close(buffered, plain, rtol=1e-12, atol=1e-14)
    inputs, weight = [images, *encoder.parameters()], torch.randn_like(plain)
    gradients = (torch.autograd.grad((way * weight).sum(), inputs) for way in (plain, buffered))
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-10, atol=1e-12)


def test_rdn_in_buffers_under_autocast_keeps_float32_gradients():
    encoder = rdn(features=8, blocks=2, layers=2, growth=8)
    image = torch.randn(1, 3, 8, 8)
    with torch.autocast("cpu", torch.bfloat16):
        features, plain = encoder(image), encoder(image, path="plain")
    assert features.dtype == torch.bfloat16
    torch.testing.assert_close(features, plain, rtol=0.05, atol=0.05)
    features.float().square().sum().backward()
    assert all(p.grad.dtype == torch.float32 for p in encoder.parameters())


@pytest.mark.parametrize("make", [lambda: rdn(features=6, blocks=2, layers=3, growth=5), swinir])
def test_every_parameter_gets_a_gradient(make):
    encoder = make()
    encoder(torch.randn(1, 3, 8, 8)).square().sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in encoder.parameters())


def test_swinir_features_of_a_padded_image_are_those_of_the_image_padded_by_hand():
    encoder = swinir().double().eval()
    images = torch.randn(1, 3, 6, 7, dtype=torch.float64)
    by_hand = torch.cat((images, images.flip(2)), 2)[:, :, :8]
    by_hand = torch.cat((by_hand, by_hand.flip(3)), 3)[..., :8]
    torch.testing.assert_close(encoder(images), encoder(by_hand)[..., :6, :7])


def test_wider_heads_change_nothing(monkeypatch):
    encoder = swinir().double()
    images = torch.randn(1, 3, 8, 8, dtype=torch.float64)
    seen = []
    attention = torch.nn.functional.scaled_dot_product_attention

    def note(q, *others, **options):
        seen.append(q.shape[-1])
        return attention(q, *others, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", note)
    results, gradients = [], []
    for more in (0, 3):
        monkeypatch.setattr(swinir_module, "widening", lambda size, device, more=more: more)
        results.append(encoder(images))
        encoder.zero_grad()
        results[-1].square().sum().backward()
        gradients.append([p.grad.clone() for p in encoder.parameters()])
    assert set(seen) == {4, 7}
    torch.testing.assert_close(*results, rtol=1e-12, atol=1e-14)
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-10, atol=1e-12)


def test_swinir_linear_layers_start_narrow_and_unbiased():
    layers = [m for m in swinir().modules() if isinstance(m, nn.Linear)]
    assert torch.cat([m.weight.flatten() for m in layers]).std().item() == pytest.approx(0.02, 0.1)
    assert not any(m.bias.any() for m in layers)


def test_stochastic_depth_grows_evenly_drops_whole_samples_and_keeps_the_mean():
    encoder, images = swinir(drop_path=0.3), torch.randn(1, 3, 8, 8)
    rates = [layer.drop.rate for group in encoder.groups for layer in group.layers]
    assert rates == pytest.approx([0.0, 0.1, 0.2, 0.3])
    dropped = DropPath(0.25).train()(torch.ones(4000, 2, 3))
    assert ((dropped == 0).all((1, 2)) | (dropped == 1 / 0.75).all((1, 2))).all()
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.05)
    encoder.eval()
    assert torch.equal(encoder(images), encoder(images))
