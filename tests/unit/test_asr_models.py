"""A super-resolution method is what its table row says; it starts as published."""

import pytest
import torch
from torch import nn

from gblsr_repro import config, preflight
from gblsr_repro.cli import main
from gblsr_repro.models import base
from gblsr_repro.models.asr import rdn as rdn_module
from gblsr_repro.models.asr import swinir as swinir_module
from gblsr_repro.models.asr.local_spectral import GBLSR
from gblsr_repro.models.asr.model import ASRModel
from gblsr_repro.models.asr.rdn import RDN
from gblsr_repro.models.asr.swinir import DropPath, SwinIR


def row(method: str, **changes: str):
    return config.read_methods()[method].model_copy(update=changes)


def test_one_seed_gives_one_model_and_methods_share_its_encoder(settings):
    first, again = (ASRModel.build(row("gblsr_asr"), settings, 3).state_dict() for _ in range(2))
    other = ASRModel.build(row("gblsr_asr"), settings, 4).state_dict()
    assert all(torch.equal(first[k], again[k]) for k in first)
    assert not torch.equal(first["encoder.entry.weight"], other["encoder.entry.weight"])
    liif = ASRModel.build(row("liif_rdn"), settings, 3).state_dict()
    encoder = [k for k in first if k.startswith("encoder.")]
    assert all(torch.equal(first[k], liif[k]) for k in encoder)


def test_the_start_of_the_spectral_decoder_which_alone_has_a_bandwidth(settings):
    model = ASRModel.build(row("gblsr_asr"), settings, 0)
    assert model.get_bandwidth() == 1.0
    assert model.decoder.coefficients.weight.std().item() == pytest.approx(0.01, rel=0.15)
    assert not model.decoder.coefficients.bias.any()
    assert ASRModel.build(row("lte_rdn"), settings, 0).get_bandwidth() is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"options": {"width": "3"}}, "no option 'width'; use one of nf, local_ensemble"),
        ({"options": {"nf": "-1"}}, "must be a whole number from 1 to 9999"),
        ({"options": {"local_ensemble": "maybe"}}, "must be one of yes, no"),
        ({"encoder": "gblsr_repro.models.asr.edsr:EDSR", "options": {"nf": "8"}}, "add blocks=N"),
    ],
)
def test_check_names_a_mistake_in_the_table(changes, said, monkeypatch, capsys):
    wrong = row("gblsr_asr", **changes)
    monkeypatch.setattr(preflight, "list_methods", lambda config: {wrong.method: wrong})
    assert main(["check"]) == 2
    shown = capsys.readouterr().err
    assert "config/methods.tsv, method gblsr_asr" in shown
    assert said in shown


def test_a_class_may_hand_its_options_on():
    own = type("Own", (GBLSR,), {"__init__": lambda self, section, **options: None})
    assert base.select_options({}, [own], "row") == [{}]


# --- encoders: RDN in buffers; padding, heads and stochastic depth of SwinIR ---------------------


def swinir(drop_path: float = 0.0) -> SwinIR:
    torch.manual_seed(0)
    sizes = {"embed": 8, "depths": [2, 2], "heads": 2, "window": 4, "mlp_ratio": 2}
    sizes |= {"drop_path": drop_path}
    return SwinIR({f"swinir_{name}": value for name, value in sizes.items()})


def rdn(**sizes: int) -> RDN:
    return RDN({f"rdn_{name}": value for name, value in sizes.items()})


@pytest.mark.parametrize(("batch", "size"), [(1, (7, 6)), (3, (1, 5)), (2, (6, 7))])
def test_rdn_in_buffers_gives_the_features_and_gradients_of_its_definition(
    batch, size, monkeypatch
):
    monkeypatch.setattr(
        rdn_module, "_should_use_buffers", lambda x: True
    )  # as CUDA does of a batch
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


def test_wider_heads_change_nothing(monkeypatch):
    encoder = swinir().double()
    images = torch.randn(1, 3, 8, 8, dtype=torch.float64)
    results, gradients = [], []
    for more in (0, 3):
        monkeypatch.setattr(
            swinir_module, "count_padding_channels", lambda size, device, more=more: more
        )
        results.append(encoder(images))
        encoder.zero_grad()
        results[-1].square().sum().backward()
        gradients.append([p.grad.clone() for p in encoder.parameters()])
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
