"""Super-resolution methods from their table rows: counts, starts, options, mistakes."""

import dataclasses

import made
import pytest
import torch

from gblsr_repro import config
from gblsr_repro.errors import UserError
from gblsr_repro.models.asr.model import build


@pytest.fixture
def settings():
    return config.merge(config.load(), made.SMALL)


def row(method: str, **changes: str):
    return dataclasses.replace(config.methods()[method], **changes)


def test_one_seed_gives_one_model_and_methods_share_its_encoder(settings):
    first, again = (build(row("gblsr_asr"), settings, 3).state_dict() for _ in range(2))
    other = build(row("gblsr_asr"), settings, 4).state_dict()
    assert all(torch.equal(first[k], again[k]) for k in first)
    assert not torch.equal(first["encoder.entry.weight"], other["encoder.entry.weight"])
    liif = build(row("liif_rdn"), settings, 3).state_dict()
    encoder = [k for k in first if k.startswith("encoder.")]
    assert all(torch.equal(first[k], liif[k]) for k in encoder)


def test_the_start_of_the_spectral_decoder_which_alone_has_a_bandwidth(settings):
    model = build(row("gblsr_asr"), settings, 0)
    assert model.bandwidth() == 1.0
    assert model.decoder.coefficients.weight.std().item() == pytest.approx(0.01, rel=0.15)
    assert not model.decoder.coefficients.bias.any()
    assert build(row("lte_rdn"), settings, 0).bandwidth() is None
    settings["asr"]["model"]["bandwidth"] = 0.88
    assert build(row("gblsr_asr"), settings, 0).bandwidth() == pytest.approx(0.88, rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"encoder": "rdm"}, "encoder 'rdm' does not exist; did you mean 'rdn'"),
        (
            {"decoder": "x"},
            "decoder 'x' does not exist; known are",
        ),
        (
            {"options": "width=3"},
            "RDN and GBLSR have no option 'width'; known are nf, local_ensemble",
        ),
        ({"options": "nf=-1"}, "must be a whole number above 0"),
        ({"options": "local_ensemble=maybe"}, "must be one of yes, no"),
        ({"decoder": "liif", "options": "local_ensemble=no"}, "RDN and LIIF have no option"),
    ],
)
def test_a_mistake_in_the_table_is_named(changes, said, settings):
    with pytest.raises(UserError, match=r"config/methods\.tsv, method gblsr_asr") as caught:
        build(row("gblsr_asr", **changes), settings, 0)
    assert said in str(caught.value)


def test_images_are_normalized_before_and_colors_after(settings):
    model = build(row("gblsr_asr"), settings, 0).eval()
    with torch.no_grad():
        for parameter in model.decoder.coefficients.parameters():
            parameter.zero_()
        assert torch.equal(
            model.render(torch.rand(1, 3, 3, 3), 6, 6, 99), torch.full((1, 3, 6, 6), 0.5)
        )
        seen = []
        model.encoder.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
        model.encode(torch.zeros(1, 3, 3, 3))
    assert (seen[0] == -1).all()


def test_wrong_calls_say_what_is_wrong(settings):
    model = build(row("gblsr_asr"), settings, 0).eval()
    with pytest.raises(ValueError, match="images must be"):
        model.encode(torch.rand(3, 4, 4))
    image = torch.rand(1, 3, 4, 4)
    with pytest.raises(ValueError, match="has the paths folded, separable, plain, not 'hoisted'"):
        model.render(image, 8, 8, 99, path="hoisted")
    with pytest.raises(ValueError, match="no integer scale"):
        model.render(image, 9, 8, 99, path="folded")
    with pytest.raises(ValueError, match="beyond 4 times"):
        model(image, torch.tensor([[17, 16]]), torch.zeros(1, 1, 2, dtype=torch.long))
    with pytest.raises(ValueError, match="whole images only"):
        model(image, torch.tensor([[8, 8]]), torch.zeros(1, 1, 2, dtype=torch.long), path="folded")
    lte = build(row("lte_rdn"), settings, 0)
    place = torch.zeros(1, 1, 2)
    with pytest.raises(ValueError, match="give query the images"):
        lte.query(lte.encode(image), place, place)
